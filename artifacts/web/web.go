package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/readers"
)

// Open returns the store whose files lie under address, https://host/path. Plain http is
// taken for hosts of this machine only, unless the address ends with ?insecure=true: whoever
// is on the way can read what is fetched and hide results, and with untrusted = "use" can
// plant some. Nothing is asked yet.
func Open(address string) (artifacts.Store, error) {
	u, err := Parse(address)
	if err != nil {
		return artifacts.Store{}, err
	}
	h := &host{u, usual()}
	return artifacts.Store{Blobs: &blobs{h}, Records: &records{h, "records/"}, Leases: &records{h, "leases/"}, URL: u.String()}, nil
}

// Parse reads an address as Open takes it.
func Parse(address string) (*url.URL, error) {
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

// host is what blobs and records share.
type host struct {
	base *url.URL
	limits
}

func (h *host) address(rel string) string {
	u := *h.base
	u.RawQuery = ""
	return u.JoinPath(strings.Split(escaped(rel), "/")...).String()
}

// escaped keeps what JoinPath would read as an escape: names of records have '%'.
func escaped(rel string) string { return strings.ReplaceAll(rel, "%", "%25") }

// errReadOnly refuses every write.
var errReadOnly = &artifacts.RefusedError{Err: errors.New("a store on a static host can only be read")}

func (h *host) noList(what string) error {
	return fmt.Errorf("list %s at %s: %w: copy the files, or give the folder or the bucket itself", what, h.base, artifacts.ErrNoList)
}

type blobs struct{ *host }

func (b *blobs) blobAddress(d artifacts.Digest) string {
	return b.address("blobs/" + artifacts.BlobPath(d))
}

// Open asks for the whole file and continues where a connection breaks.
func (b *blobs) Open(ctx context.Context, d artifacts.Digest) (io.ReadCloser, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	address := b.blobAddress(d)
	r, err := b.openBody(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("blob %s: %w", d, err)
	}
	return artifacts.VerifyReader(r, d, address), nil
}

// Missing sends a HEAD request for each blob, atOnce at a time.
func (b *blobs) Missing(ctx context.Context, ds []artifacts.Digest) ([]artifacts.Digest, error) {
	return artifacts.Absent(ctx, ds, atOnce, func(ctx context.Context, d artifacts.Digest) (bool, error) {
		ctx, cancel := readers.Within(ctx, b.lookup)
		defer cancel()
		res, err := b.send(ctx, http.MethodHead, b.blobAddress(d), 0, "")
		if noHead(err) {
			res, err = b.send(ctx, http.MethodGet, b.blobAddress(d), 0, "")
		}
		if errors.Is(err, artifacts.ErrNotExist) {
			return true, nil
		}
		if err != nil {
			return false, fmt.Errorf("blob %s: %w", d, err)
		}
		return false, res.Body.Close()
	})
}

func (b *blobs) Put(context.Context, io.Reader) (artifacts.Digest, int64, error) {
	return artifacts.Digest{}, 0, errReadOnly
}

func (b *blobs) List(context.Context) iter.Seq2[artifacts.BlobInfo, error] {
	return func(yield func(artifacts.BlobInfo, error) bool) {
		yield(artifacts.BlobInfo{}, b.noList("blobs"))
	}
}

func (b *blobs) Delete(context.Context, artifacts.Digest) error { return errReadOnly }

type records struct {
	*host
	top string
}

// Get reads a whole record.
func (r *records) Get(ctx context.Context, name string) ([]byte, error) {
	if err := artifacts.CheckRecord(name, nil); err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := readers.Within(ctx, r.lookup)
	defer cancel()
	f, err := r.openBody(ctx, r.address(path.Join(r.top, artifacts.RecordPath(name))))
	if err != nil {
		return nil, fmt.Errorf("record %s: %w", name, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, artifacts.MaxRecord+1))
	if err != nil {
		return nil, fmt.Errorf("record %s: %w", name, err)
	}
	if len(b) > artifacts.MaxRecord {
		return nil, &artifacts.DamageError{Name: name, Err: fmt.Errorf("it has more than %d bytes", artifacts.MaxRecord)}
	}
	return b, nil
}

func (r *records) Create(context.Context, string, []byte) error { return errReadOnly }

func (r *records) Put(context.Context, string, []byte) error { return errReadOnly }

func (r *records) Replace(context.Context, string, []byte, []byte) error { return errReadOnly }

func (r *records) List(context.Context, string) iter.Seq2[artifacts.RecordInfo, error] {
	return func(yield func(artifacts.RecordInfo, error) bool) {
		yield(artifacts.RecordInfo{}, r.noList("records"))
	}
}

func (r *records) Delete(context.Context, string) error { return errReadOnly }

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
