package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/readers"
)

// Open returns the store whose files lie under address, https://host/path. Plain http is
// taken for hosts of this machine only, unless the address ends with ?insecure=true: whoever
// is on the way can read what is fetched and hide results, and with untrusted = "use" can
// plant some. Nothing is asked yet.
func Open(address string) (artifacts.Reader, error) {
	u, err := parse(address)
	if err != nil {
		return artifacts.Reader{}, err
	}
	return artifacts.ReadOn(&host{u, usual()}, u.String()), nil
}

// Files reads files under an address, which Open would take, as long as their bytes come.
func Files(address string) (func(ctx context.Context, path string) (io.ReadCloser, error), error) {
	u, err := parse(address)
	h := &host{u, usual()}
	return func(ctx context.Context, path string) (io.ReadCloser, error) { return h.openBody(ctx, h.Where(path)) }, err
}

// parse reads an address as Open takes it.
func parse(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("the address of a store cannot be parsed; want https://host/path")
	}
	if u.User != nil {
		return nil, fmt.Errorf("the address of the store at %s holds a password, which would be printed and stored; a static host is read without one", u.Host)
	}
	if u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Fragment != "" {
		return nil, fmt.Errorf("store %q: want https://host/path", u.Redacted())
	}
	insecure := false
	for name, values := range u.Query() {
		if name != "insecure" || len(values) != 1 || values[0] != "true" {
			return nil, fmt.Errorf("store %s: no option %q; there is insecure=true", u.Host, name)
		}
		insecure = true
	}
	if u.Scheme == "http" && !insecure && !isLoopback(u) {
		return nil, fmt.Errorf("store %s: over http anybody on the network can change the data; give https://, or add ?insecure=true", u.Host)
	}
	if u.Scheme == "https" {
		u.RawQuery = ""
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	return u, nil
}

// host is the driver of a store on a static host.
type host struct {
	base *url.URL
	limits
}

// Where is the file's address.
func (h *host) Where(path string) string {
	u := *h.base
	u.RawQuery = ""
	path = strings.ReplaceAll(path, "%", "%25") // which JoinPath would read as an escape
	return u.JoinPath(strings.Split(path, "/")...).String()
}

// Open asks for the whole file and continues where a connection breaks. What is small, all
// but a blob, comes within the time of a look-up.
func (h *host) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	done := context.CancelFunc(func() {})
	if !strings.HasPrefix(path, "blobs/") {
		ctx, done = readers.Within(ctx, h.lookup)
	}
	b, err := h.openBody(ctx, h.Where(path))
	if err != nil {
		done()
		return nil, err
	}
	b.Done = done
	return b, nil
}

// Has sends a HEAD request for each file.
func (h *host) Has(ctx context.Context, paths []string) ([]bool, error) {
	return artifacts.HasEach(ctx, paths, atOnce, func(ctx context.Context, path string) (bool, error) {
		ctx, cancel := readers.Within(ctx, h.lookup)
		defer cancel()
		res, err := h.send(ctx, http.MethodHead, h.Where(path), 0, "")
		if noHead(err) {
			res, err = h.send(ctx, http.MethodGet, h.Where(path), 0, "")
		}
		if errors.Is(err, artifacts.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		return true, res.Body.Close()
	})
}

// List fails: a static host lists nothing.
func (h *host) List(context.Context, string) iter.Seq2[artifacts.FileInfo, error] {
	return func(yield func(artifacts.FileInfo, error) bool) {
		yield(artifacts.FileInfo{}, fmt.Errorf("%s: %w: copy the files, or give the folder or the bucket itself", h.base, artifacts.ErrNoList))
	}
}

// Elsewhere fetches what a record says is at a URL. It is artifacts.Policy's. The
// caller verifies the bytes. Only https is taken, so that no store makes us ask programs of
// this machine; but one that is served by this machine may.
func Elsewhere(ctx context.Context, e artifacts.Elsewhere) (io.ReadCloser, error) {
	u, err := url.Parse(e.URL)
	from, ferr := url.Parse(e.From)
	local := err == nil && ferr == nil && isLoopback(u) && from.Scheme == "http" && isLoopback(from)
	if err != nil || u.Scheme != "https" && !local {
		return nil, fmt.Errorf("%q is not an https address: %w", e.URL, artifacts.ErrNotExist)
	}
	return usual().openBody(ctx, e.URL)
}
