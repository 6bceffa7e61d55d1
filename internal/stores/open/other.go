package open

import (
	"context"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/s3"
	"github.com/redsi/redsi/internal/stores/web"
)

// Other opens a store of somebody else, to be read only:
//
//	https://host/path, http://localhost:port/path    a static host, see web.Open
//	s3://bucket/prefix?anonymous=true&endpoint=…     a bucket; where no credentials are found, without any
//	path/to/dir or file:///path/to/dir               a directory, on which nothing is made
//
// An address that is none is an error. Whether somebody answers there is not asked: what is
// looked up there says so.
func Other(address string) (artifacts.Other, error) {
	scheme, folder, err := parse(address)
	if err != nil {
		return artifacts.Other{}, err
	}
	switch scheme {
	case "https", "http":
		s, err := web.Open(address)
		return named(s, err, "")
	case "s3":
		c, err := s3.ParseURL(address, os.Getenv)
		if err != nil {
			return artifacts.Other{}, err
		}
		s, err := s3.OpenReader(c)
		return named(s, err, "s3://")
	case "mem":
		return artifacts.Other{}, errors.New("a store in memory is nobody else's")
	}
	s, err := dir.OpenReader(folder)
	return artifacts.Other{Reader: s, Name: folder}, err
}

// Files reads files of an address as Other takes it, by their paths there, whether or not it is a store. What is not
// there is artifacts.ErrNotExist, in a folder fs.ErrNotExist.
func Files(address string) (func(ctx context.Context, path string) (io.ReadCloser, error), error) {
	scheme, folder, err := parse(address)
	if err != nil {
		return nil, err
	}
	switch scheme {
	case "https", "http":
		return web.Files(address)
	case "s3":
		c, err := s3.ParseURL(address, os.Getenv)
		if err != nil {
			return nil, err
		}
		return s3.Files(c)
	case "mem":
		return nil, errors.New("a store in memory has no files")
	}
	return func(_ context.Context, path string) (io.ReadCloser, error) {
		return os.Open(filepath.Join(folder, filepath.FromSlash(path)))
	}, nil
}

// named calls a store by its host, or bucket, and path.
func named(s artifacts.Reader, err error, scheme string) (artifacts.Other, error) {
	if err != nil {
		return artifacts.Other{}, err
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return artifacts.Other{}, err
	}
	return artifacts.Other{Reader: s, Name: scheme + u.Host + u.Path}, nil
}

// Elsewhere fetches blobs that a store says lie under an address of their own; it is for
// artifacts.Policy.
func Elsewhere(ctx context.Context, e artifacts.Elsewhere) (io.ReadCloser, error) {
	return web.Elsewhere(ctx, e)
}
