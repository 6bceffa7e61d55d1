package s3

import (
	"strings"
	"testing"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestParseURL(t *testing.T) {
	for _, c := range []struct {
		url  string
		env  func(string) string
		want Config
		back string
	}{
		{"s3://bucket", env(), Config{Bucket: "bucket", Endpoint: defaultEndpoint}, "s3://bucket"},
		{"s3://bucket/a/b/?region=eu-west-1", env("AWS_REGION", "us-east-1"),
			Config{Bucket: "bucket", Prefix: "a/b", Endpoint: defaultEndpoint, Region: "eu-west-1"}, "s3://bucket/a/b?region=eu-west-1"},
		{"s3://bucket/p?endpoint=127.0.0.1:9000&insecure=true", env("AWS_ENDPOINT_URL", "https://other"),
			Config{Bucket: "bucket", Prefix: "p", Endpoint: "127.0.0.1:9000", Insecure: true}, "s3://bucket/p?endpoint=127.0.0.1%3A9000&insecure=true"},
		{"s3://bucket?endpoint=http://minio:9000", env(),
			Config{Bucket: "bucket", Endpoint: "minio:9000", Insecure: true}, "s3://bucket?endpoint=minio%3A9000&insecure=true"},
		{"s3://bucket", env("AWS_ENDPOINT_URL_S3", "https://r2.example", "AWS_ENDPOINT_URL", "http://no", "AWS_DEFAULT_REGION", "auto"),
			Config{Bucket: "bucket", Endpoint: "r2.example", Region: "auto"}, "s3://bucket?endpoint=r2.example&region=auto"},
		{"s3://bucket?anonymous=true", env(),
			Config{Bucket: "bucket", Endpoint: defaultEndpoint, Anonymous: true}, "s3://bucket?anonymous=true"},
		{"s3://bucket?path_style=1", env(),
			Config{Bucket: "bucket", Endpoint: defaultEndpoint, PathStyle: true}, "s3://bucket?path_style=true"},
	} {
		got, err := ParseURL(c.url, c.env)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v\nwant %+v", c.url, got, err, c.want)
			continue
		}
		if got.URL() != c.back {
			t.Errorf("%s: URL %s, want %s", c.url, got.URL(), c.back)
		}
		if again, err := ParseURL(got.URL(), env()); err != nil || again != got {
			t.Errorf("%s does not read back: %+v, %v", got.URL(), again, err)
		}
	}
}

func TestParseURLRejects(t *testing.T) {
	for url, want := range map[string]string{
		"s3://AKIA:hunter2@bucket/x":              "holds credentials",
		"s3://bucket?endpont=x":                   `no option "endpont"; there are anonymous, endpoint`,
		"s3://bucket?insecure=maybe":              "option insecure",
		"s3://":                                   "ucket name",
		"s3://B_D":                                "ucket name",
		"http://bucket":                           "scheme",
		"s3://bucket?endpoint=ftp://x":            "http(s)://",
		"s3://bucket?endpoint=http://a:hunter2@x": "holds credentials",
		"s3://bucket?endpoint=a:hunter2@x:9000":   "holds credentials",
		"s3://B_D?endpoint=a:hunter2@x":           "ucket name",
		"http://bucket?endpoint=a:hunter2@x":      "scheme",
		"s3://bucket?endpoint=x/hunter2":          "host:port",
		"s3://bucket?endpoint=http://x/path":      "http(s)://",
		"s3://bucket/%zz:hunter2@":                "cannot be parsed",
		"s3://bucket?a;b=hunter2":                 "the part after",
	} {
		_, err := ParseURL(url, env())
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v; want %q", url, err, want)
		}
	}
}
