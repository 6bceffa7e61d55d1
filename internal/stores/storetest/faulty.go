package storetest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing/iotest"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/readers"
)

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

// Pending returns the methods that still have faults queued: a test that breaks
// a call wants to know that the call came.
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
