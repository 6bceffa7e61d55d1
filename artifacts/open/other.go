package open

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/artifacts/dir"
	"github.com/redsi/redsi/artifacts/s3"
	"github.com/redsi/redsi/artifacts/web"
)

// Other opens a store of somebody else, to be read only:
//
//	https://host/path, http://localhost:port/path    a static host, see web.Open
//	s3://bucket/prefix?anonymous=true&endpoint=…     a bucket; where no credentials are found, without any
//	path/to/dir or file:///path/to/dir               a directory, on which nothing is made
//
// An address that is none is an error. Whether somebody answers there is not asked: what is
// looked up there says so.
func Other(ctx context.Context, address string, o Options) (artifacts.Other, error) {
	scheme, _, hasScheme := strings.Cut(address, ":")
	if address == "" {
		return artifacts.Other{}, fmt.Errorf("the address of a store is empty; want https://host/path, s3://bucket/prefix or a directory")
	}
	switch {
	case hasScheme && (scheme == "https" || scheme == "http"):
		s, err := web.Open(address)
		return named(s, err, func(u *url.URL) string { return u.Host + u.Path })
	case hasScheme && scheme == "s3":
		c, err := s3.ParseURL(address, os.Getenv)
		if err != nil {
			return artifacts.Other{}, err
		}
		c.SpoolDir, c.ReadOnly = o.SpoolDir, true
		s, err := s3.Open(ctx, c)
		return named(s, err, func(u *url.URL) string { return "s3://" + u.Host + u.Path })
	case hasScheme && scheme == "file":
		path, err := filePath(address)
		if err != nil {
			return artifacts.Other{}, err
		}
		s, err := dir.OpenReader(path)
		return artifacts.Other{Store: s, Name: path}, err
	case strings.Contains(address, "://"):
		return artifacts.Other{}, fmt.Errorf("no store has the scheme %q; there are https://, s3://, file:// and plain directories", scheme)
	}
	s, err := dir.OpenReader(address)
	return artifacts.Other{Store: s, Name: address}, err
}

func named(s artifacts.Store, err error, name func(*url.URL) string) (artifacts.Other, error) {
	if err != nil {
		return artifacts.Other{}, err
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return artifacts.Other{}, err
	}
	return artifacts.Other{Store: s, Name: name(u)}, nil
}

// Elsewhere fetches blobs that a store says lie under an address of their own; it is for
// artifacts.Policy.
func Elsewhere(ctx context.Context, e artifacts.Elsewhere) (io.ReadCloser, error) {
	return web.Elsewhere(ctx, e)
}
