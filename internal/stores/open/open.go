package open

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/s3"
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

// Folder is the folder that a store's address names; "": none.
func Folder(address string) string {
	_, folder, _ := parse(address)
	return folder
}

// Place is where an opened store is, by its URL, without how it is reached: a folder with no links in its path, or a bucket
// of an endpoint and a prefix.
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

// Beside is a store's address, of which a relative folder starts from another folder.
func Beside(folder, address string) string {
	if at := Folder(address); at != "" && !filepath.IsAbs(at) {
		return filepath.Join(folder, at)
	}
	return address
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
