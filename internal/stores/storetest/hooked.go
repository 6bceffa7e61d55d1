package storetest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"
	"testing/iotest"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/readers"
)

// Method names a method of a store.
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

// Methods lists them, for tests that break each in turn.
var Methods = []Method{
	BlobsPut, BlobsOpen, BlobsMissing, BlobsList, BlobsDelete,
	RecordsGet, RecordsCreate, RecordsPut, RecordsReplace, RecordsList, RecordsDelete,
}

// Call is a call of a store's method. A hook may change its arguments before it lets the call through, and its results
// after that.
type Call struct {
	Method Method
	Name   string           // of a record, or the prefix of a list
	Digest artifacts.Digest // of a blob; of Put, after it

	Read io.Reader          // that Put stores
	Body io.ReadCloser      // that Open returned
	Data []byte             // that Get returned
	Gone []artifacts.Digest // that Missing is asked for, and then returned

	Listed func() error // of a list: called before any of it is given
}

// Hook is given each call of a store, and next, which does it, and returns the error of the call.
type Hook func(ctx context.Context, c *Call, next func() error) error

// Hooked returns base with each call of its blobs and records given to hook, several at a time.
func Hooked(base artifacts.Store, hook Hook) artifacts.Store {
	return artifacts.Store{Blobs: hookedBlobs{base.Blobs, hook}, Records: hookedRecords{base.Records, hook}, Leases: base.Leases, URL: base.URL}
}

// Before returns the hook that lets a call through unless f returns an error.
func Before(f func(ctx context.Context, c *Call) error) Hook {
	return func(ctx context.Context, c *Call, next func() error) error {
		if err := f(ctx, c); err != nil {
			return err
		}
		return next()
	}
}

// hooked does a call that fills in a part of c.
func hooked[T any](ctx context.Context, hook Hook, c *Call, part *T, do func() (T, error)) (T, error) {
	err := hook(ctx, c, func() (err error) {
		*part, err = do()
		return err
	})
	return *part, err
}

type hookedBlobs struct {
	base artifacts.Blobs
	hook Hook
}

func (b hookedBlobs) Put(ctx context.Context, r io.Reader) (d artifacts.Digest, n int64, err error) {
	c := &Call{Method: BlobsPut, Read: r}
	err = b.hook(ctx, c, func() (err error) {
		c.Digest, n, err = b.base.Put(ctx, c.Read)
		return err
	})
	if err != nil {
		return artifacts.Digest{}, 0, err
	}
	return c.Digest, n, nil
}

func (b hookedBlobs) Open(ctx context.Context, d artifacts.Digest) (io.ReadCloser, error) {
	c := &Call{Method: BlobsOpen, Digest: d}
	return hooked(ctx, b.hook, c, &c.Body, func() (io.ReadCloser, error) { return b.base.Open(ctx, d) })
}

func (b hookedBlobs) Missing(ctx context.Context, ds []artifacts.Digest) ([]artifacts.Digest, error) {
	c := &Call{Method: BlobsMissing, Gone: ds}
	return hooked(ctx, b.hook, c, &c.Gone, func() ([]artifacts.Digest, error) { return b.base.Missing(ctx, ds) })
}

func (b hookedBlobs) List(ctx context.Context) iter.Seq2[artifacts.BlobInfo, error] {
	return hookedList(ctx, b.hook, &Call{Method: BlobsList}, b.base.List(ctx))
}

func (b hookedBlobs) Delete(ctx context.Context, d artifacts.Digest) error {
	return b.hook(ctx, &Call{Method: BlobsDelete, Digest: d}, func() error { return b.base.Delete(ctx, d) })
}

// hookedList reads all of the list first, and ends with the hook's error, if there is one.
func hookedList[T any](ctx context.Context, hook Hook, c *Call, base iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		ended := false
		err := hook(ctx, c, func() error {
			var all []T
			for v, err := range base {
				if err != nil {
					return err
				}
				all = append(all, v)
			}
			if c.Listed != nil {
				if err := c.Listed(); err != nil {
					return err
				}
			}
			for _, v := range all {
				if ended = !yield(v, nil); ended {
					return nil
				}
			}
			return nil
		})
		if err != nil && !ended {
			var none T
			yield(none, err)
		}
	}
}

type hookedRecords struct {
	base artifacts.Records
	hook Hook
}

func (r hookedRecords) Get(ctx context.Context, name string) ([]byte, error) {
	c := &Call{Method: RecordsGet, Name: name}
	return hooked(ctx, r.hook, c, &c.Data, func() ([]byte, error) { return r.base.Get(ctx, name) })
}

func (r hookedRecords) Create(ctx context.Context, name string, data []byte) error {
	return r.hook(ctx, &Call{Method: RecordsCreate, Name: name}, func() error { return r.base.Create(ctx, name, data) })
}

func (r hookedRecords) Put(ctx context.Context, name string, data []byte) error {
	return r.hook(ctx, &Call{Method: RecordsPut, Name: name}, func() error { return r.base.Put(ctx, name, data) })
}

func (r hookedRecords) Replace(ctx context.Context, name string, old, data []byte) error {
	return r.hook(ctx, &Call{Method: RecordsReplace, Name: name}, func() error { return r.base.Replace(ctx, name, old, data) })
}

func (r hookedRecords) List(ctx context.Context, prefix string) iter.Seq2[artifacts.RecordInfo, error] {
	return hookedList(ctx, r.hook, &Call{Method: RecordsList, Name: prefix}, r.base.List(ctx, prefix))
}

func (r hookedRecords) Delete(ctx context.Context, name string) error {
	return r.hook(ctx, &Call{Method: RecordsDelete, Name: name}, func() error { return r.base.Delete(ctx, name) })
}

// Fault is what goes wrong in one call. The zero Fault does nothing.
type Fault struct {
	// Before runs first; cancel a context here to have the call see it.
	Before func()
	// Err is returned in place of doing the work, or, with Done, after doing it, however that went: a server acted,
	// and its answer was lost.
	Err  error
	Done bool
	// Torn, if positive, breaks the data after that many bytes: Put reads no more and fails, with Err if it is set; a
	// blob ends there, as if it were cut short.
	Torn int64
	// Flip inverts the lowest bit of the byte at offset FlipAt of what Open or Get returns.
	Flip   bool
	FlipAt int64
	// Lost has Open and Get answer ErrNotExist, and Missing return every blob that it is asked for.
	Lost bool
}

// Faults queues what goes wrong in a store that Faulty returned. It is safe for concurrent use.
type Faults struct {
	mu    sync.Mutex
	queue map[Method][]Fault
	calls map[Method]int
}

// Faulty returns base with queued faults, each of which hits one call of its method, in order.
func Faulty(base artifacts.Store) (artifacts.Store, *Faults) {
	f := &Faults{queue: map[Method][]Fault{}, calls: map[Method]int{}}
	return Hooked(base, f.call), f
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

// Pending returns the methods that still have faults queued, for tests that want to know whether the call came.
func (f *Faults) Pending() []Method {
	f.mu.Lock()
	defer f.mu.Unlock()
	return lists.Filter(Methods, func(m Method) bool { return len(f.queue[m]) > 0 })
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

// call is the Hook.
func (f *Faults) call(_ context.Context, c *Call, next func() error) error {
	x := f.next(c.Method)
	switch {
	case x.Lost && c.Method == BlobsOpen:
		return fmt.Errorf("blob %s: %w", c.Digest, artifacts.ErrNotExist)
	case x.Lost && c.Method == RecordsGet:
		return fmt.Errorf("record %s: %w", c.Name, artifacts.ErrNotExist)
	case x.Torn > 0 && c.Method == BlobsPut:
		c.Read = io.MultiReader(io.LimitReader(c.Read, x.Torn), iotest.ErrReader(cmp.Or(x.Err, io.ErrUnexpectedEOF)))
		return next()
	case x.Err != nil && !x.Done:
		return x.Err
	}
	asked := c.Gone
	err := next()
	if x.Err != nil {
		err = x.Err
	}
	if err == nil {
		x.spoil(c, asked)
	}
	return err
}

// spoil changes what a call has returned; asked are the blobs that Missing was asked for.
func (x Fault) spoil(c *Call, asked []artifacts.Digest) {
	switch {
	case c.Method == BlobsMissing && x.Lost:
		c.Gone = slices.Clone(asked)
	case c.Method == BlobsOpen && (x.Torn > 0 || x.Flip):
		var r io.Reader = c.Body
		if x.Torn > 0 {
			r = io.LimitReader(r, x.Torn)
		}
		if x.Flip {
			r = &flipReader{r: r, at: x.FlipAt}
		}
		c.Body = artifacts.VerifyReader(readers.Closing(r, c.Body), c.Digest, "faulty store")
	case c.Method == RecordsGet:
		c.Data = bytes.Clone(c.Data)
		if x.Flip && x.FlipAt < int64(len(c.Data)) {
			c.Data[x.FlipAt] ^= 1
		}
		if x.Torn > 0 && x.Torn < int64(len(c.Data)) {
			c.Data = c.Data[:x.Torn]
		}
	}
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
