package wikipedia

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/redsi/redsi/internal/corpora/unpack"
)

// StubError names the place where a dump cannot be read.
type StubError struct {
	File   string
	Offset int64 // in the decompressed text
	Detail string
	Err    error // cause, or nil
}

func (e *StubError) Error() string {
	s := fmt.Sprintf("%s: at byte %d of the text: %s", e.File, e.Offset, e.Detail)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return strings.ToValidUTF8(s, "\uFFFD") // a cause may quote the dump
}

func (e *StubError) Unwrap() error { return e.Err }

// ErrTruncated is wrapped by errors about dumps that end early.
var ErrTruncated = errors.New("the dump is truncated")

// Wanted is a set of revision ids: about 20 bytes each, 5 MB for all of NQ.
type Wanted = map[uint64]bool

// ScanStub reads one stub-meta-history dump (or any MediaWiki export of schema 0.3 to 0.11), plain or compressed, and
// returns its wanted revisions with their pages. Decompression runs beside the scan; memory is a few MiB, the wanted set
// and the result, whatever the dump's size.
//
// A page without <ns>, as in schemas up to 0.5, gets the namespace of its title's prefix by the header's list, or NSUnknown
// without such a list. Input that ends early or is not a dump gives a *StubError and no result. progress, if not nil, is
// called about once per MiB of text.
func ScanStub(ctx context.Context, r io.Reader, name string, wanted Wanted, progress func(storedIn int64)) (*Table, Stats, error) {
	return scanStub(ctx, r, name, wanted, progress, chunkBytes)
}

func scanStub(ctx context.Context, r io.Reader, name string, wanted Wanted, progress func(storedIn int64), chunk int) (*Table, Stats, error) {
	taken := unpack.NewCounter(r)
	src, err := unpack.Open(taken)
	if err != nil {
		return nil, Stats{}, &StubError{name, 0, "the input cannot be opened", err}
	}
	defer src.Close()
	w := newWindow(ctx, src, chunk)
	defer w.stop()
	s := &stub{w: w, taken: taken, wanted: wanted, progress: progress, stats: Stats{ByNS: map[int32]*NSCount{}}}
	if err := s.documents(); err != nil {
		return nil, s.stats, s.explain(name, err)
	}
	s.account()
	t, err := NewTable(s.entries)
	if err != nil {
		return nil, s.stats, &StubError{name, w.offset(), "contradiction", err}
	}
	s.stats.Found = int64(t.Len())
	return t, s.stats, nil
}
