package artifacts

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// downFor is how long nothing is asked of a store that did not answer.
const downFor = time.Minute

// tier is a store in the order of look-ups: the own store, or one of the others, whose failures
// are no errors of a look-up, but reasons why a result is not used.
type tier struct {
	own       bool
	name, url string // of one of the others
	blobs     BlobReader
	records   RecordReader

	mu     sync.Mutex
	err    error // why it did not answer the last time
	until  time.Time
	denied int
	bad    map[Digest]error // blobs of it that have other bytes
}

// ownTier returns s as the first tier.
func ownTier(s Reader) *tier { return &tier{own: true, blobs: s.Blobs, records: s.Records} }

// ask asks the store something. Where one of the others does not answer, the error is a
// *DownError, and nothing is asked of it for downFor. What is not there is ErrNotExist.
func (t *tier) ask(ctx context.Context, what string, do func() error) error {
	if t.own {
		return do()
	}
	if err := t.away(what); err != nil {
		return err
	}
	err := do()
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if is[*DeniedError](err) {
		t.denied++
	}
	switch {
	case err == nil, errors.Is(err, ErrNotExist), is[*IntegrityError](err), is[*DamageError](err):
		t.err = nil
		return err
	}
	if is[*DownError](err) {
		return err
	}
	t.err, t.until = err, time.Now().Add(downFor)
	return &DownError{Name: t.name, What: what, Err: err}
}

// away returns the error of a store that did not answer a moment ago; nil if it did.
func (t *tier) away(what string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil && time.Now().Before(t.until) {
		return &DownError{Name: t.name, What: what, Err: t.err}
	}
	return nil
}

// Get reads a record.
func (t *tier) Get(ctx context.Context, name string) (b []byte, err error) {
	err = t.ask(ctx, "record "+name, func() error {
		b, err = t.records.Get(ctx, name)
		if err == nil && len(b) > MaxRecord {
			err = &DamageError{Name: name, Err: errTooLong}
		}
		return err
	})
	return b, err
}

// spoil notes that the store has wrong bytes for a blob; spoilt tells.
func (t *tier) spoil(d Digest, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bad[d] = err
}

func (t *tier) spoilt(d Digest) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bad[d]
}

var errTooLong = fmt.Errorf("it is larger than any that redsi writes, %d bytes", MaxRecord)

// Other is a store of somebody else. It is only read: by name, never listed.
type Other struct {
	Reader
	Name string // its host or folder, for people: Result.From
}

// state says how the store has answered so far.
func (t *tier) state() OtherState {
	t.mu.Lock()
	defer t.mu.Unlock()
	return OtherState{t.name, t.url, t.err, t.denied}
}

// OtherState is how another store has answered so far.
type OtherState struct {
	Name   string
	URL    string
	Err    error // why it did not answer the last time; nil: it did, or was not asked
	Denied int   // requests that it refused (403), which count as misses
}

// DownError says that a blob or record may be in a store that does not answer.
type DownError struct {
	Name string // of the other store
	What string // that was asked for, or empty
	Cause
}

func (e *DownError) Error() string {
	if e.What == "" {
		return fmt.Sprintf("%s does not answer: %v", e.Name, e.Err)
	}
	return fmt.Sprintf("%s: %s does not answer: %v", e.What, e.Name, e.Err)
}

// markReleased marks the results of entries that lack blobs because they were released.
func (t *tier) markReleased(ctx context.Context, entries []Entry) error {
	return each(ctx, len(entries), parallel, func(ctx context.Context, i int) error {
		r := entries[i].Result
		if r == nil || len(entries[i].Lost) == 0 {
			return nil
		}
		_, err := t.Get(ctx, ReleasedName(r.Key))
		if r.Released = err == nil; t.own && err != nil && !errors.Is(err, ErrNotExist) {
			return err
		}
		return nil
	})
}

// memo remembers for memoFor what others have under keys, misses too, so that a run does not ask
// for each of them at every level of its graph.
type memo struct {
	mu      sync.Mutex
	entries map[Digest]memoized
	bytes   int
}

type memoized struct {
	e     Entry
	until time.Time
}

const (
	memoFor  = time.Minute
	memoMost = 64 << 20 // bytes of records, roughly
	memoEach = 256      // bytes of an entry without one
)

func (m *memo) get(key Digest) (Entry, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.entries[key]
	return k.e, ok && time.Now().Before(k.until)
}

func (m *memo) put(key Digest, e Entry) {
	size := memoEach
	for _, r := range []*Result{e.Result, e.Foreign} {
		if r == nil {
			continue
		}
		size += len(r.Preimage)
		for _, a := range r.Outputs {
			size += memoEach * (1 + len(a.Files))
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entries == nil || m.bytes+size > memoMost {
		m.entries, m.bytes = map[Digest]memoized{}, 0
	}
	m.entries[key] = memoized{e, time.Now().Add(memoFor)}
	m.bytes += size
}

// forget drops every entry: a blob that was there turned out to be wrong.
func (m *memo) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries, m.bytes = nil, 0
}
