package artifacts

import (
	"context"
	"errors"
	"io"
	"iter"
	"sync"
	"time"
)

// layers is what With puts behind a store: the tiers in which results are looked up, own
// first, and whom they are believed.
type layers struct {
	own    Store
	policy Policy
	tiers  []*tier

	mu     sync.Mutex
	coming map[Digest]chan struct{} // blobs that are being copied into own
	sizes  map[Digest]int64         // of blobs that foreign results name
	wrong  map[Elsewhere]bool       // records that say where a blob is, and it is not there
	memo   memo
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
	l := &layers{own: own, policy: p, coming: map[Digest]chan struct{}{}, sizes: map[Digest]int64{}, wrong: map[Elsewhere]bool{}}
	l.tiers = []*tier{ownTier(own)}
	for _, o := range others {
		s := o.Store.bare()
		l.tiers = append(l.tiers, &tier{name: o.Name, url: s.URL, blobs: s.Blobs, records: s.Records, lister: s.Records, bad: map[Digest]error{}})
	}
	return l
}

func (l *layers) others() []*tier { return l.tiers[1:] }

// none reports that there is nobody to fetch blobs from.
func (l *layers) none() bool { return len(l.others()) == 0 && l.policy.Elsewhere == nil }

func (l *layers) states() (all []OtherState) {
	for _, t := range l.others() {
		t.mu.Lock()
		all = append(all, OtherState{t.name, t.url, t.err, t.asked, t.found, t.denied})
		t.mu.Unlock()
	}
	return all
}

// tier is a store as it is looked through: own, or one of the others. What goes wrong with
// one of the others is no error of a look-up, but a reason why a result is not used.
type tier struct {
	own       bool
	name, url string // of one of the others
	blobs     blobReader
	records   recordReader
	lister    recordLister

	mu                   sync.Mutex
	err                  error // why it did not answer the last time
	until                time.Time
	asked, found, denied int
	bad                  map[Digest]error // blobs of it that have other bytes
}

// ownTier is s as the first tier.
func ownTier(s Store) *tier {
	return &tier{own: true, blobs: s.Blobs, records: s.Records, lister: s.Records}
}

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

func (t *tier) count(n *int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	*n++
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
