package open

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/artifacts/dir"
	"github.com/redsi/redsi/artifacts/mem"
	"github.com/redsi/redsi/artifacts/s3"
)

// Options are for callers that know more than the URL and the environment say.
type Options struct {
	// SpoolDir is where large blobs on their way to a bucket are hashed; empty is
	// the system's temporary directory.
	SpoolDir string
}

// Store opens the store that rawURL names:
//
//	path/to/dir or file:///path/to/dir           a directory, made if need be
//	s3://bucket/prefix?endpoint=host:port&…      a bucket, see s3.ParseURL
//	mem:                                         memory, gone with the process
//
// Credentials for a bucket come from the environment or AWS's shared files,
// never from the URL.
func Store(ctx context.Context, rawURL string, o Options) (artifacts.Store, error) {
	scheme, _, hasScheme := strings.Cut(rawURL, ":")
	switch {
	case rawURL == "":
		return artifacts.Store{}, fmt.Errorf("the store's address is empty; want a directory or s3://bucket/prefix")
	case rawURL == "mem:":
		return mem.New(), nil
	case scheme == "s3" && hasScheme:
		c, err := s3.ParseURL(rawURL, os.Getenv)
		if err != nil {
			return artifacts.Store{}, err
		}
		c.SpoolDir = o.SpoolDir
		return s3.Open(ctx, c)
	case scheme == "file" && hasScheme:
		path, err := filePath(rawURL)
		if err != nil {
			return artifacts.Store{}, err
		}
		return dir.Open(path)
	case hasScheme && (scheme == "https" || scheme == "http"):
		return artifacts.Store{}, fmt.Errorf("%s is a static host, which can only be read: pass it to --from", Shown(rawURL))
	case strings.Contains(rawURL, "://"):
		return artifacts.Store{}, fmt.Errorf("no store has the scheme %q; there are s3://, file:// and plain directories", scheme)
	}
	return dir.Open(rawURL)
}

// Shown is a store's address as it may be printed, before anybody has checked that
// it holds no password.
func Shown(rawURL string) string {
	scheme, _, hasScheme := strings.Cut(rawURL, "://")
	if !hasScheme {
		return rawURL
	}
	u, err := url.Parse(rawURL)
	if err != nil {
		return scheme + "://…"
	}
	u.User = nil
	if query, err := url.QueryUnescape(u.RawQuery); err != nil || strings.Contains(query, "@") {
		u.RawQuery = "…"
	}
	return u.String()
}

func filePath(rawURL string) (string, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "", fmt.Errorf("store %s: want file:///absolute/path", Shown(rawURL))
	}
	if u.Host != "" && u.Host != "localhost" || !strings.HasPrefix(u.Path, "/") || u.RawQuery != "" {
		return "", fmt.Errorf("store %s: want file:///absolute/path", Shown(rawURL))
	}
	return filepath.FromSlash(u.Path), nil
}
