package fetch

import (
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/redsi/redsi/internal/system/lists"
)

type Source struct {
	Raw  string // as written; printed by Redact only
	URL  string // http(s) URL; "" for a local file
	Path string // local file; "" for a URL
}

// ParseSource understands http://, https://, gs://bucket/object, file:///path and plain paths.
func ParseSource(raw string) (Source, error) {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		if raw == "" {
			return Source{}, fmt.Errorf("an empty source")
		}
		return Source{Raw: raw, Path: raw}, nil
	}
	switch scheme {
	case "http", "https":
		u, err := url.Parse(raw)
		if err != nil || u.Host == "" {
			return Source{}, fmt.Errorf("%q is not a URL with a host", Redact(raw))
		}
		if u.User != nil {
			return Source{}, fmt.Errorf("the URL for host %s carries a password, and sources are written into results: fetch the file yourself and give its path", u.Host)
		}
		return Source{Raw: raw, URL: raw}, nil
	case "gs":
		bucket, object, ok := strings.Cut(rest, "/")
		if !ok || bucket == "" || object == "" {
			return Source{}, fmt.Errorf("%q is not gs://bucket/object", Redact(raw))
		}
		path := strings.Join(lists.Map(strings.Split(object, "/"), url.PathEscape), "/")
		return Source{Raw: raw, URL: gsHost() + bucket + "/" + path}, nil
	case "file":
		p, err := url.PathUnescape(rest)
		if err != nil || p == "" {
			return Source{}, fmt.Errorf("%q is not file:// and a path", raw)
		}
		return Source{Raw: raw, Path: filepath.FromSlash(p)}, nil
	}
	hint := ""
	if scheme == "s3" {
		hint = "; objects of other buckets have https:// addresses, or are copied to a folder that a source block takes"
	}
	return Source{}, fmt.Errorf("%q: sources are http://, https://, gs://, file:// or a path%s", Redact(raw), hint)
}

// OfFile returns the source of a local file, which is no pattern whatever characters its path has.
func OfFile(path string) string {
	if !IsPattern(path) {
		return path
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}

func (s Source) Name() string {
	if s.Path != "" {
		return filepath.Base(s.Path)
	}
	u, err := url.Parse(s.URL)
	if err != nil || path.Base(u.Path) == "/" || path.Base(u.Path) == "." {
		return "file"
	}
	return path.Base(u.Path)
}
