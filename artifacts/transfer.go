package artifacts

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/readers"
)

// Transfer copies results and records from a store to another one, of any sort. Blobs go
// before the record that names them, so the other store never has a record whose blobs it
// lacks; of a blob that is elsewhere goes the record that says where. What is there is
// not sent again, so a transfer that was ended continues where it was. What arrives is
// verified: blobs by their digests, results by their seals and keys.
type Transfer struct {
	From   Reader
	To     Store
	DryRun bool          // write nothing, count what would be sent
	Sent   func(n int64) // told of bytes as they are read, from several goroutines; may be nil

	mu   sync.Mutex
	done Transferred
	seen map[Digest]bool     // blobs that a dry run has counted
	said map[Digest][]string // names of records about results
}

// Transferred is what has come of a Transfer.
type Transferred struct {
	Results int   `json:"results"` // that were sent
	There   int   `json:"there"`   // results that were there
	Blobs   int   `json:"blobs"`   // that were sent
	Bytes   int64 `json:"bytes"`   // of those
	Records int   `json:"records"` // of runs, failures and pins, and about results, that were sent

	// Elsewhere are blobs that stay where they are, of which the other store was told that.
	Elsewhere int `json:"elsewhere"`

	// Released are results without their outputs, of which the other store was told that:
	// those that were sent, and those that were there in any form.
	Released int `json:"released,omitempty"`

	// Differs are keys under which the other store has other outputs. Those stay: the
	// first writer wins.
	Differs []Digest `json:"differs"`

	// Lost are keys that have no usable result here, and why.
	Lost map[Digest]string `json:"lost"`
}

// Done returns what has come of the transfer so far.
func (t *Transfer) Done() Transferred {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.done
}

// note writes into what has come of the transfer.
func (t *Transfer) note(what func(done *Transferred)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	what(&t.done)
}

// present removes from ds what is not in this store: the loss of a log loses no result.
func (t *Transfer) present(ctx context.Context, ds map[Digest]int64) error {
	gone, err := t.From.Blobs.Missing(ctx, slices.Collect(maps.Keys(ds)))
	for _, d := range gone {
		delete(ds, d)
	}
	return err
}

// blobs sends those of ds, with their sizes, that the other store does not have.
func (t *Transfer) blobs(ctx context.Context, ds map[Digest]int64) error {
	missing, err := t.To.Blobs.Missing(ctx, slices.SortedFunc(maps.Keys(ds), Digest.Compare))
	if err != nil {
		return err
	}
	if t.DryRun {
		return t.wouldSend(ctx, missing, ds)
	}
	return each(ctx, len(missing), transfers, func(ctx context.Context, i int) error {
		d := missing[i]
		n, err := t.blob(ctx, d)
		if errors.Is(err, ErrNotExist) {
			return t.link(ctx, d, ds[d], err)
		}
		if err == nil {
			t.note(func(done *Transferred) { done.Blobs, done.Bytes = done.Blobs+1, done.Bytes+n })
		}
		return err
	})
}

// wouldSend counts missing as sent, each once.
func (t *Transfer) wouldSend(ctx context.Context, missing []Digest, ds map[Digest]int64) error {
	gone, err := t.From.Blobs.Missing(ctx, missing)
	if err != nil {
		return err
	}
	away := lists.Set(gone)
	t.note(func(done *Transferred) {
		if t.seen == nil {
			t.seen = map[Digest]bool{}
		}
		for _, d := range missing {
			switch {
			case t.seen[d]:
			case away[d]:
				done.Elsewhere++
			default:
				done.Blobs++
				done.Bytes += ds[d]
			}
			t.seen[d] = true
		}
	})
	return nil
}

// link says in the other store where a blob is that this one lacks; gone is the error if
// nothing says so here. What is said there stays, if it can be read. size is what results,
// which have seals, say of it, and 0 if none does.
func (t *Transfer) link(ctx context.Context, d Digest, size int64, gone error) error {
	e, ok, err := elsewhere(ctx, t.From.Records, d, true)
	if err != nil {
		return err
	}
	if !ok {
		return gone
	}
	if _, ok, err = elsewhere(ctx, t.To.Records, d, true); err != nil || ok {
		return err
	}
	if size > 0 {
		e.Size = size
	}
	if err := PutElsewhere(ctx, t.To, e); err != nil {
		return err
	}
	t.note(func(done *Transferred) { done.Elsewhere++ })
	return nil
}

func (t *Transfer) blob(ctx context.Context, d Digest) (int64, error) {
	r, err := t.From.Blobs.Open(ctx, d)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	got, n, err := t.To.Blobs.Put(ctx, readers.Pieces(r, t.Sent))
	if err == nil && got != d {
		err = &IntegrityError{Want: d, Got: got, Size: n, Where: t.To.URL}
	}
	return n, err
}
