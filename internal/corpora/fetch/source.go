package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

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

// Look asks whether a source is available, without fetching it, and returns its size in bytes, -1 if the server gives none.
func Look(ctx context.Context, s Source) (size int64, err error) {
	if s.Path != "" {
		info, err := os.Stat(s.Path)
		if err != nil {
			return 0, err
		}
		if !info.Mode().IsRegular() {
			return 0, fmt.Errorf("%s is not a file", s.Path)
		}
		return info.Size(), nil
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, s.URL, nil)
	if err != nil {
		return 0, redacted{err}
	}
	res, err := httpClient.Do(req)
	if err != nil {
		return 0, redacted{err}
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return 0, errors.New(res.Status)
	}
	return res.ContentLength, nil
}
