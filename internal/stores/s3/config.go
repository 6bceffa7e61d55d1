package s3

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
)

// Config says which bucket, where, and as whom.
type Config struct {
	Bucket   string
	Prefix   string // within the bucket; empty or without slashes at its ends
	Endpoint string // host or host:port
	Insecure bool   // http in place of https
	Region   string // empty: the server is asked
	// PathStyle puts the bucket into the path, never into the host's name.
	// Without it the client chooses by the kind of server.
	PathStyle bool
	// Anonymous asks without credentials, as those without an account do.
	Anonymous bool
	// OneWriter says that one process at a time writes there, so that a server on which
	// several writers at once could be the first will do.
	OneWriter bool
	// Credentials is nil for the usual places: AWS_ACCESS_KEY_ID and its
	// companions, MINIO_ROOT_USER, the AWS shared files with AWS_PROFILE, and the
	// role of the machine or container.
	Credentials *credentials.Credentials
}

const defaultEndpoint = "s3.amazonaws.com"

// ParseURL reads s3://bucket/prefix?endpoint=H:P&insecure=true&region=R
// &path_style=true&anonymous=true&writers=one. Endpoint and region default to those of
// AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, AWS_REGION and AWS_DEFAULT_REGION, which
// getenv looks up. Credentials have no place in a URL: it is printed and stored.
func ParseURL(raw string, getenv func(string) string) (Config, error) {
	u, err := url.Parse(raw)
	if err != nil {
		// url.Parse quotes its whole input, which may hold a password.
		return Config{}, fmt.Errorf("the store's URL cannot be parsed; want s3://bucket/prefix?endpoint=host:port")
	}
	if u.User != nil {
		return Config{}, fmt.Errorf("the URL of bucket %q holds credentials; put them into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile, and not into the URL", u.Host)
	}
	c := Config{
		Bucket:   u.Host,
		Prefix:   strings.Trim(u.Path, "/"),
		Endpoint: cmp.Or(getenv("AWS_ENDPOINT_URL_S3"), getenv("AWS_ENDPOINT_URL")),
		Region:   cmp.Or(getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION")),
	}
	if u.Scheme != "s3" {
		return Config{}, fmt.Errorf("the scheme of the store is %q, not s3", u.Scheme)
	}
	if err := s3utils.CheckValidBucketNameStrict(c.Bucket); err != nil {
		return Config{}, fmt.Errorf("the store's bucket %q: %w", c.Bucket, err)
	}
	options := map[string]func(string) error{
		"endpoint":   func(v string) error { c.Endpoint = v; return nil },
		"region":     func(v string) error { c.Region = v; return nil },
		"insecure":   boolInto(&c.Insecure),
		"path_style": boolInto(&c.PathStyle),
		"anonymous":  boolInto(&c.Anonymous),
		"writers": func(v string) error {
			if c.OneWriter = v == "one"; !c.OneWriter {
				return fmt.Errorf("%q is not one", v)
			}
			return nil
		},
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Config{}, fmt.Errorf("store s3://%s: the part after '?': %w", c.Bucket, err)
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		set, ok := options[name]
		if !ok {
			return Config{}, fmt.Errorf("store s3://%s: no option %q; there are %s", c.Bucket, name,
				strings.Join(slices.Sorted(maps.Keys(options)), ", "))
		}
		if err := set(query.Get(name)); err != nil {
			return Config{}, fmt.Errorf("store s3://%s: option %s: %w", c.Bucket, name, err)
		}
	}
	if err := c.normalize(); err != nil {
		return Config{}, err
	}
	return c, nil
}

// normalize takes apart an endpoint that is given as a URL, as AWS_ENDPOINT_URL
// is, and fills in the default.
func (c *Config) normalize() error {
	c.Endpoint = cmp.Or(c.Endpoint, defaultEndpoint)
	if strings.Contains(c.Endpoint, "@") { // not quoted: it holds a password, most likely
		return fmt.Errorf("the endpoint of bucket %q holds credentials; put them into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile, and give the endpoint as host:port", c.Bucket)
	}
	if !strings.Contains(c.Endpoint, "://") {
		if strings.ContainsAny(c.Endpoint, "/?# ") {
			return fmt.Errorf("the endpoint of bucket %q is not host:port", c.Bucket)
		}
		return nil
	}
	u, err := url.Parse(c.Endpoint)
	if err != nil || u.User != nil || strings.Trim(u.Path, "/") != "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("the endpoint of bucket %q is not http(s)://host:port", c.Bucket)
	}
	c.Endpoint, c.Insecure = u.Host, u.Scheme == "http"
	return nil
}

func boolInto(to *bool) func(string) error {
	return func(v string) error {
		b, err := strconv.ParseBool(v)
		if err != nil {
			return fmt.Errorf("%q is not true or false", v)
		}
		*to = b
		return nil
	}
}

// URL is the address that ParseURL reads; it holds no secret.
func (c Config) URL() string {
	q := url.Values{}
	if c.Endpoint != defaultEndpoint {
		q.Set("endpoint", c.Endpoint)
	}
	if c.Region != "" {
		q.Set("region", c.Region)
	}
	for name, on := range map[string]bool{"insecure": c.Insecure, "path_style": c.PathStyle, "anonymous": c.Anonymous} {
		if on {
			q.Set(name, "true")
		}
	}
	if c.OneWriter {
		q.Set("writers", "one")
	}
	u := url.URL{Scheme: "s3", Host: c.Bucket, RawQuery: q.Encode()}
	if c.Prefix != "" {
		u.Path = "/" + c.Prefix
	}
	return u.String()
}
