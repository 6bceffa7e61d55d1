package storetest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"

	"github.com/redsi/redsi/artifacts"
)

// Method names a method of a store for Faults.
type Method string

// The methods of a store.
const (
	BlobsPut       Method = "Blobs.Put"
	BlobsOpen      Method = "Blobs.Open"
	BlobsMissing   Method = "Blobs.Missing"
	BlobsList      Method = "Blobs.List"
	BlobsDelete    Method = "Blobs.Delete"
	RecordsGet     Method = "Records.Get"
	RecordsCreate  Method = "Records.Create"
	RecordsPut     Method = "Records.Put"
	RecordsReplace Method = "Records.Replace"
	RecordsList    Method = "Records.List"
	RecordsDelete  Method = "Records.Delete"
)

// Methods lists all of them, for tests that break each in turn.
var Methods = []Method{
	BlobsPut, BlobsOpen, BlobsMissing, BlobsList, BlobsDelete,
	RecordsGet, RecordsCreate, RecordsPut, RecordsReplace, RecordsList, RecordsDelete,
}

// Fault is what goes wrong in one call. The zero Fault does nothing.
type Fault struct {
	// Before runs first; cancel a context here to have the call see it.
	Before func()
	// Err is returned in place of doing the work, or, with Done, after doing it,
	// however that went: a server that acted and whose answer was lost.
	Err  error
	Done bool
	// Torn breaks the data after that many bytes, if positive: Put reads no more
	// and fails, with Err if it is set; what Open returns ends there, as if the
	// blob were cut short.
	Torn int64
	// Flip inverts the lowest bit of the byte at offset FlipAt of what Open or
	// Get returns.
	Flip   bool
	FlipAt int64
	// Lost has Open and Get answer ErrNotExist, and Missing name every blob that
	// it is asked for.
	Lost bool
}

// Faults queues what goes wrong in a store that Faulty returned. It is safe for
// concurrent use.
type Faults struct {
	mu    sync.Mutex
	queue map[Method][]Fault
	calls map[Method]int
}

// Faulty returns a store that does what base does, save for the faults that are
// queued: each is taken by one call of its method, in order.
func Faulty(base artifacts.Store) (artifacts.Store, *Faults) {
	f := &Faults{queue: map[Method][]Fault{}, calls: map[Method]int{}}
	return artifacts.Store{
		Blobs:   &faultyBlobs{base.Blobs, f},
		Records: &faultyRecords{base.Records, f},
		Leases:  base.Leases,
		URL:     base.URL,
	}, f
}

// Add queues faults for the next calls of m; a zero Fault lets one call pass.
func (f *Faults) Add(m Method, faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queue[m] = append(f.queue[m], faults...)
}

// Calls returns how often m has been called, faults included.
func (f *Faults) Calls(m Method) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[m]
}

// Pending returns the methods that still have faults queued: a test that breaks
// a call wants to know that the call came.
func (f *Faults) Pending() []Method {
	f.mu.Lock()
	defer f.mu.Unlock()
	var pending []Method
	for _, m := range Methods {
		if len(f.queue[m]) > 0 {
			pending = append(pending, m)
		}
	}
	return pending
}

func (f *Faults) next(m Method) Fault {
	f.mu.Lock()
	f.calls[m]++
	var fault Fault
	if q := f.queue[m]; len(q) > 0 {
		fault, f.queue[m] = q[0], slices.Clone(q[1:])
	}
	f.mu.Unlock()
	if fault.Before != nil {
		fault.Before()
	}
	return fault
}

// do runs one call that only has an error to return.
func (f Fault) do(call func() error) error {
	if f.Err != nil && !f.Done {
		return f.Err
	}
	err := call()
	if f.Err != nil {
		return f.Err
	}
	return err
}

type faultyBlobs struct {
	base   artifacts.Blobs
	faults *Faults
}

func (b *faultyBlobs) Put(ctx context.Context, r io.Reader) (d artifacts.Digest, n int64, err error) {
	f := b.faults.next(BlobsPut)
	if f.Torn > 0 {
		broken := f.Err
		if broken == nil {
			broken = io.ErrUnexpectedEOF
		}
		return b.base.Put(ctx, io.MultiReader(io.LimitReader(r, f.Torn), errReader{broken}))
	}
	err = f.do(func() (err error) {
		d, n, err = b.base.Put(ctx, r)
		return err
	})
	if err != nil {
		return artifacts.Digest{}, 0, err
	}
	return d, n, nil
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

func (b *faultyBlobs) Open(ctx context.Context, d artifacts.Digest) (rc io.ReadCloser, err error) {
	f := b.faults.next(BlobsOpen)
	if f.Lost {
		return nil, fmt.Errorf("blob %s: %w", d, artifacts.ErrNotExist)
	}
	err = f.do(func() (err error) {
		rc, err = b.base.Open(ctx, d)
		return err
	})
	if err != nil || f.Torn == 0 && !f.Flip {
		return rc, err
	}
	var r io.Reader = rc
	if f.Torn > 0 {
		r = io.LimitReader(r, f.Torn)
	}
	if f.Flip {
		r = &flipReader{r: r, at: f.FlipAt}
	}
	return artifacts.VerifyReader(struct {
		io.Reader
		io.Closer
	}{r, rc}, d, "faulty store"), nil
}

// flipReader inverts a bit of the byte at offset at.
type flipReader struct {
	r  io.Reader
	at int64
}

func (r *flipReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if r.at >= 0 && r.at < int64(n) {
		p[r.at] ^= 1
	}
	r.at -= int64(n)
	return n, err
}

func (b *faultyBlobs) Missing(ctx context.Context, ds []artifacts.Digest) (missing []artifacts.Digest, err error) {
	f := b.faults.next(BlobsMissing)
	err = f.do(func() (err error) {
		missing, err = b.base.Missing(ctx, ds)
		return err
	})
	if f.Lost && err == nil {
		missing = slices.Clone(ds)
	}
	return missing, err
}

func (b *faultyBlobs) List(ctx context.Context) iter.Seq2[artifacts.BlobInfo, error] {
	return faultyList(b.faults.next(BlobsList), b.base.List(ctx))
}

func (b *faultyBlobs) Delete(ctx context.Context, d artifacts.Digest) error {
	return b.faults.next(BlobsDelete).do(func() error { return b.base.Delete(ctx, d) })
}

// faultyList fails before the first entry, or with Done after the last one.
func faultyList[T any](f Fault, base iter.Seq2[T, error]) iter.Seq2[T, error] {
	if f.Err == nil {
		return base
	}
	return func(yield func(T, error) bool) {
		if f.Done {
			for v, err := range base {
				if !yield(v, err) || err != nil {
					return
				}
			}
		}
		var none T
		yield(none, f.Err)
	}
}

type faultyRecords struct {
	base   artifacts.Records
	faults *Faults
}

func (r *faultyRecords) Get(ctx context.Context, name string) (data []byte, err error) {
	f := r.faults.next(RecordsGet)
	if f.Lost {
		return nil, fmt.Errorf("record %s: %w", name, artifacts.ErrNotExist)
	}
	err = f.do(func() (err error) {
		data, err = r.base.Get(ctx, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	data = bytes.Clone(data)
	if f.Flip && f.FlipAt < int64(len(data)) {
		data[f.FlipAt] ^= 1
	}
	if f.Torn > 0 && f.Torn < int64(len(data)) {
		data = data[:f.Torn]
	}
	return data, nil
}

func (r *faultyRecords) Create(ctx context.Context, name string, data []byte) error {
	return r.faults.next(RecordsCreate).do(func() error { return r.base.Create(ctx, name, data) })
}

func (r *faultyRecords) Put(ctx context.Context, name string, data []byte) error {
	return r.faults.next(RecordsPut).do(func() error { return r.base.Put(ctx, name, data) })
}

func (r *faultyRecords) Replace(ctx context.Context, name string, old, data []byte) error {
	return r.faults.next(RecordsReplace).do(func() error { return r.base.Replace(ctx, name, old, data) })
}

func (r *faultyRecords) List(ctx context.Context, prefix string) iter.Seq2[artifacts.RecordInfo, error] {
	return faultyList(r.faults.next(RecordsList), r.base.List(ctx, prefix))
}

func (r *faultyRecords) Delete(ctx context.Context, name string) error {
	return r.faults.next(RecordsDelete).do(func() error { return r.base.Delete(ctx, name) })
}
