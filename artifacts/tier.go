package artifacts

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// downFor is how long a store that did not answer is not asked again.
const downFor = time.Minute

// tier is a store as it is looked through: own, or one of the others. What goes wrong with
// one of the others is no error of a look-up, but a reason why a result is not used.
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

// ownTier is s as the first tier.
func ownTier(s Reader) *tier { return &tier{own: true, blobs: s.Blobs, records: s.Records} }

// ask asks the store something. Where one of the others does not answer, the error is a
// *DownError, and it is not asked again for a while. What is not there is ErrNotExist.
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

// away is the error of a store that did not answer a moment ago.
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

// spoil notes that the store has wrong bytes for a blob.
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
	Name string // its host or folder, for people; Results say it as From
}

// state is what is known of the store.
func (t *tier) state() OtherState {
	t.mu.Lock()
	defer t.mu.Unlock()
	return OtherState{t.name, t.url, t.err, t.denied}
}

// OtherState is what is known of one of the others of a store, so far.
type OtherState struct {
	Name   string
	URL    string
	Err    error // why it did not answer the last time; nil: it did, or was not asked
	Denied int   // refused (403); they count as misses
}

// DownError says that a blob or record may be in a store that does not answer.
type DownError struct {
	Name string // of the other store
	What string // that was asked for, or empty
	Err  error
}

func (e *DownError) Error() string {
	if e.What == "" {
		return fmt.Sprintf("%s does not answer: %v", e.Name, e.Err)
	}
	return fmt.Sprintf("%s: %s does not answer: %v", e.What, e.Name, e.Err)
}

func (e *DownError) Unwrap() error { return e.Err }

// markReleased marks those of entries that lack blobs because their result was released.
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

// memo remembers for a while what others know of keys, so that a run does not ask for
// each of them at every level of its graph. Misses are remembered for a minute as well.
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

// forget drops all: a blob that was there turned out to be wrong.
func (m *memo) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries, m.bytes = nil, 0
}
