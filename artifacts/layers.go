package artifacts

import (
	"context"
	"errors"
	"io"
	"iter"
	"sync"
	"time"
)

// layers is what With puts behind a store.
type layers struct {
	own     Store
	policy  Policy
	sources []*source
	now     func() time.Time

	mu     sync.Mutex
	coming map[Digest]chan struct{} // blobs that are being copied into own
	sizes  map[Digest]int64         // of blobs that foreign results name
	wrong  map[Elsewhere]bool       // records that say where a blob is, and it is not there
	known  memo
}

// The others are read through these alone, so that nothing can be written to them.
type (
	blobReader interface {
		Open(ctx context.Context, d Digest) (io.ReadCloser, error)
		Missing(ctx context.Context, ds []Digest) ([]Digest, error)
	}
	recordReader interface {
		Get(ctx context.Context, name string) ([]byte, error)
	}
	recordLister interface {
		List(ctx context.Context, prefix string) iter.Seq2[RecordInfo, error]
	}
)

// downFor is how long a store that did not answer is not asked again.
const downFor = time.Minute

// sizesMost bounds the sizes of blobs that are remembered.
const sizesMost = 1 << 20

func newLayers(own Store, others []Other, p Policy) *layers {
	l := &layers{own: own, policy: p, now: time.Now, coming: map[Digest]chan struct{}{}, sizes: map[Digest]int64{}, wrong: map[Elsewhere]bool{}}
	l.known.now = func() time.Time { return l.now() }
	for _, o := range others {
		s := o.Store.bare()
		l.sources = append(l.sources, &source{name: o.Name, url: s.URL, blobs: s.Blobs, records: s.Records, lister: s.Records,
			now: l.known.now, bad: map[Digest]error{}})
	}
	return l
}

// none reports that there is nobody to fetch blobs from.
func (l *layers) none() bool { return len(l.sources) == 0 && l.policy.Elsewhere == nil }

func (l *layers) states() (all []OtherState) {
	for _, o := range l.sources {
		o.mu.Lock()
		all = append(all, OtherState{o.name, o.url, o.err, o.asked, o.found, o.denied})
		o.mu.Unlock()
	}
	return all
}

// source is one of the others.
type source struct {
	name, url string
	blobs     blobReader
	records   recordReader
	lister    recordLister
	now       func() time.Time

	mu                   sync.Mutex
	err                  error // why it did not answer the last time
	until                time.Time
	asked, found, denied int
	bad                  map[Digest]error // blobs of it that have other bytes
}

// ask asks the store something. Where it does not answer, the error is a *DownError, and
// it is not asked again for a while. What is not there is ErrNotExist.
func (o *source) ask(ctx context.Context, what string, do func() error) error {
	if err := o.away(what); err != nil {
		return err
	}
	err := do()
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	var denied *DeniedError
	var bad *IntegrityError
	var damage *DamageError
	o.mu.Lock()
	defer o.mu.Unlock()
	if errors.As(err, &denied) {
		o.denied++
	}
	switch {
	case err == nil, errors.Is(err, ErrNotExist), errors.As(err, &bad), errors.As(err, &damage):
		o.err = nil
		return err
	}
	var down *DownError
	if errors.As(err, &down) {
		return err
	}
	o.err, o.until = err, o.now().Add(downFor)
	return &DownError{Name: o.name, What: what, Err: err}
}

// away is the error of a store that did not answer a moment ago.
func (o *source) away(what string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil && o.now().Before(o.until) {
		return &DownError{Name: o.name, What: what, Err: o.err}
	}
	return nil
}

// Get reads a record of the other store.
func (o *source) Get(ctx context.Context, name string) (b []byte, err error) {
	err = o.ask(ctx, "record "+name, func() error {
		b, err = o.records.Get(ctx, name)
		if err == nil && len(b) > MaxRecord {
			err = &DamageError{Name: name, Err: errTooLong}
		}
		return err
	})
	return b, err
}

// spoil notes that the other store has wrong bytes for a blob.
func (o *source) spoil(d Digest, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bad[d] = err
}

func (o *source) spoilt(d Digest) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bad[d]
}
