package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/readers"
)

// Open returns the store whose files lie under address, https://host/path. It asks nothing yet. Plain http is only for
// hosts of this machine, unless the address ends with ?insecure=true: whoever is on the way can read what is fetched and
// hide results, and with untrusted = "use" can plant some.
func Open(address string) (artifacts.Reader, error) {
	u, err := parse(address)
	if err != nil {
		return artifacts.Reader{}, err
	}
	return artifacts.ReadOn(&host{u, usual()}, u.String()), nil
}

// Files returns a function that reads files under an address as Open takes it.
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

// Where returns the file's address.
func (h *host) Where(path string) string {
	u := *h.base
	u.RawQuery = ""
	path = strings.ReplaceAll(path, "%", "%25") // which JoinPath would read as an escape
	return u.JoinPath(strings.Split(path, "/")...).String()
}

// Open asks for the file and continues where a connection breaks. Anything but a blob is small, and must come within the
// time of a look-up.
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

// Elsewhere fetches a blob from the URL that a record names, for artifacts.Policy. The caller verifies the bytes. Only
// https is taken, so that no store makes redsi ask programs of this machine, unless this machine serves the store.
func Elsewhere(ctx context.Context, e artifacts.Elsewhere) (io.ReadCloser, error) {
	u, err := url.Parse(e.URL)
	from, ferr := url.Parse(e.From)
	local := err == nil && ferr == nil && isLoopback(u) && from.Scheme == "http" && isLoopback(from)
	if err != nil || u.Scheme != "https" && !local {
		return nil, fmt.Errorf("%q is not an https address: %w", e.URL, artifacts.ErrNotExist)
	}
	return usual().openBody(ctx, e.URL)
}

// Bounds of a conversation with a host.
const (
	tries        = 4 // of a request
	mostRedirect = 5
	atOnce       = 16 // requests of one call
)

// limits are the times that a host has.
type limits struct {
	pace   readers.Pace  // of a blob
	lookup time.Duration // of a record, or of whether a blob is there, with all tries
	pause  time.Duration // after the first try; it doubles after each further one
}

func usual() limits { return limits{readers.Usual(), readers.LookUp, 250 * time.Millisecond} }

// client is shared by all hosts: it keeps connections.
var client = &http.Client{
	Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: usual().pace.Idle,
		IdleConnTimeout:       90 * time.Second,
		MaxIdleConnsPerHost:   2 * atOnce,
		ForceAttemptHTTP2:     true,
		DisableCompression:    true, // bytes come as they are stored
	},
	CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) > mostRedirect {
			return final(fmt.Errorf("it redirects more than %d times", mostRedirect))
		}
		from := via[len(via)-1].URL
		near := from.Hostname() == req.URL.Hostname() || isLoopback(from) && isLoopback(req.URL)
		if req.URL.Scheme != "https" && (from.Scheme == "https" || !near) {
			return final(fmt.Errorf("it redirects from %s to %s, where anybody on the network can read and change the data", from.Scheme+"://"+from.Host, req.URL.Scheme+"://"+req.URL.Host))
		}
		return nil
	},
}

// finalError is an error that a retry cannot mend.
type finalError struct{ error }

func final(err error) error { return finalError{err} }

func (e finalError) Unwrap() error { return e.error }

// isLoopback reports whether a URL names this machine.
func isLoopback(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// send sends a request until it is answered, up to tries times. A file that is not there is artifacts.ErrNotExist; the
// caller closes the body of an answer. from and tag ask for the rest of a file; tag is "" for all of it.
func (l limits) send(ctx context.Context, method, address string, from int64, tag string) (*http.Response, error) {
	pause := l.pause
	for n := 1; ; n++ {
		res, err := l.sendOnce(ctx, method, address, from, tag)
		var slow net.Error
		late := errors.As(err, &slow) && slow.Timeout() && n >= 2 // it has taken its time already
		if cause := context.Cause(ctx); err != nil && cause != nil {
			err = cause
		}
		if err == nil || !isTransient(ctx, err) || late || n == tries {
			return res, err
		}
		if err := readers.Pause(ctx, pause); err != nil {
			return nil, err
		}
		pause *= 2
	}
}

// isTransient reports whether an error may be gone at the next try.
func isTransient(ctx context.Context, err error) bool {
	var cert *tls.CertificateVerificationError
	var dns *net.DNSError
	var done finalError
	var slow *readers.SlowError
	switch {
	case ctx.Err() != nil, errors.Is(err, artifacts.ErrNotExist), errors.As(err, &done), errors.As(err, &slow), errors.As(err, &cert),
		errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &dns) && dns.IsNotFound:
		return false
	}
	return true
}

func (l limits) sendOnce(ctx context.Context, method, address string, from int64, tag string) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	req, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		cancel(nil)
		return nil, final(err)
	}
	req.Header.Set("User-Agent", "redsi")
	if tag != "" {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
		req.Header.Set("If-Range", tag)
	}
	res, err := client.Do(req)
	if err != nil {
		cancel(nil)
		var u *url.Error
		if errors.As(err, &u) { // its text has the whole address again
			err = u.Err
		}
		return nil, err
	}
	if err := status(res, address); err != nil {
		res.Body.Close()
		cancel(nil)
		return nil, err
	}
	res.Body = l.pace.Watch(ctx, cancel, res.Body)
	return res, nil
}

// status returns the error of an answer without the file.
func status(res *http.Response, address string) error {
	switch c := res.StatusCode; {
	case c == http.StatusOK, c == http.StatusPartialContent:
		return nil
	case c == http.StatusNotFound, c == http.StatusGone:
		return fmt.Errorf("%s: %w", address, artifacts.ErrNotExist)
	case c == http.StatusForbidden:
		return &artifacts.DeniedError{What: address}
	case c >= 500 && c != http.StatusNotImplemented, c == http.StatusTooManyRequests, c == http.StatusRequestTimeout:
		return errors.New(res.Status)
	}
	return final(&statusError{res.StatusCode, res.Status})
}

type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string { return e.text }

// noHead reports that a host does not answer HEAD requests.
func noHead(err error) bool {
	var s *statusError
	return errors.As(err, &s) && (s.code == http.StatusMethodNotAllowed || s.code == http.StatusNotImplemented)
}

// resumes is how many breaks in a row, without readers.Progress between them, a read survives.
const resumes = 5

// openBody reads a file from start to end. Where the connection breaks it asks for the rest of the same version, if the
// host names versions; else it starts over and skips what was read.
func (l limits) openBody(ctx context.Context, address string) (*readers.Resuming, error) {
	res, err := l.send(ctx, http.MethodGet, address, 0, "")
	if err != nil {
		return nil, err
	}
	tag, size := readers.Validator(res), res.ContentLength
	rest := func(from int64) (io.ReadCloser, bool, error) {
		res, err := l.sendOnce(ctx, http.MethodGet, address, from, tag)
		if err != nil {
			return nil, isTransient(ctx, err), err
		}
		if res.StatusCode == http.StatusPartialContent {
			if err := readers.CheckRest(res, from, size); err != nil {
				res.Body.Close()
				return nil, false, err
			}
		} else if n, err := io.CopyN(io.Discard, res.Body, from); err != nil {
			res.Body.Close()
			return nil, isTransient(ctx, err), fmt.Errorf("once more, after %d: %w", n, err)
		}
		return res.Body, false, nil
	}
	return &readers.Resuming{Ctx: ctx, Body: res.Body, Size: size, Done: func() {}, Rest: rest, Breaks: resumes,
		Wait: func(n int) time.Duration { return l.pause << n / 4 }}, nil
}
