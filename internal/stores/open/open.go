package open

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/s3"
	"github.com/redsi/redsi/internal/stores/web"
)

// Store opens the store that rawURL names:
//
//	path/to/dir or file:///path/to/dir           a directory, made if need be
//	s3://bucket/prefix?endpoint=host:port&…      a bucket, see s3.ParseURL
//	mem:                                         memory, gone with the process
//
// Credentials for a bucket come from the environment or AWS's shared files,
// never from the URL.
func Store(ctx context.Context, rawURL string) (artifacts.Store, error) {
	scheme, folder, err := parse(rawURL)
	if err != nil {
		return artifacts.Store{}, err
	}
	switch scheme {
	case "mem":
		return mem.New(), nil
	case "s3":
		c, err := s3.ParseURL(rawURL, os.Getenv)
		if err != nil {
			return artifacts.Store{}, err
		}
		return s3.Open(ctx, c)
	case "https", "http":
		return artifacts.Store{}, fmt.Errorf("%s is a static host, which can only be read: pass it to --from", Shown(rawURL))
	}
	return dir.Open(folder)
}

// parse returns the scheme of a store's address, or the directory that it names.
func parse(address string) (scheme, folder string, err error) {
	scheme, _, has := strings.Cut(address, ":")
	switch {
	case address == "":
		return "", "", errors.New("the store's address is empty; want a directory, s3://bucket/prefix or, to read only, https://host/path")
	case has && scheme == "file":
		folder, err = filePath(address)
		return "", folder, err
	case has && (scheme == "s3" || scheme == "https" || scheme == "http") || address == "mem:":
		return scheme, "", nil
	case strings.Contains(address, "://"):
		return "", "", fmt.Errorf("no store has the scheme %q; there are s3://, file://, plain directories and, to read only, https://", scheme)
	}
	return "", address, nil
}

// Folder returns the folder that a store's address names; "" if it names none.
func Folder(address string) string {
	_, folder, _ := parse(address)
	return folder
}

// Place returns where an opened store is, by its URL, however it is reached: a folder without links in its path, or a
// bucket of an endpoint and a prefix.
func Place(address string) string {
	scheme, folder, err := parse(address)
	if err == nil && folder != "" {
		if abs, err := filepath.Abs(folder); err == nil {
			folder = abs
		}
		if real, err := filepath.EvalSymlinks(folder); err == nil {
			folder = real
		}
		return folder
	}
	u, err := url.Parse(address)
	if scheme != "s3" || err != nil {
		return address
	}
	u.RawQuery = url.Values{"endpoint": {u.Query().Get("endpoint")}}.Encode()
	return u.String()
}

// Beside returns a store's address, with a relative folder joined to another folder.
func Beside(folder, address string) string {
	if at := Folder(address); at != "" && !filepath.IsAbs(at) {
		return filepath.Join(folder, at)
	}
	return address
}

// Shown returns a store's address as it may be printed before it was checked for passwords.
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
	if err != nil || u.Host != "" && u.Host != "localhost" || !strings.HasPrefix(u.Path, "/") || u.RawQuery != "" {
		return "", fmt.Errorf("store %s: want file:///absolute/path", Shown(rawURL))
	}
	return filepath.FromSlash(u.Path), nil
}

// Other opens a store of somebody else, to be read only:
//
//	https://host/path, http://localhost:port/path    a static host, see web.Open
//	s3://bucket/prefix?anonymous=true&endpoint=…     a bucket; where no credentials are found, without any
//	path/to/dir or file:///path/to/dir               a directory, on which nothing is made
//
// A malformed address is an error. Whether somebody answers there shows in the look-ups.
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

// Files returns a function that reads files of an address as Other takes it, by their paths there, whether or not it
// is a store. A file that is not there is artifacts.ErrNotExist, in a folder fs.ErrNotExist.
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

// named names a store by its host, or bucket, and path.
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

// Elsewhere fetches a blob from the address that a record names, for artifacts.Policy.
func Elsewhere(ctx context.Context, e artifacts.Elsewhere) (io.ReadCloser, error) {
	return web.Elsewhere(ctx, e)
}
