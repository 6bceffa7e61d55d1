package artifacts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/redsi/redsi/internal/system/readers"
)

// layered is the blobs of a store with others behind it. What is written, listed and
// deleted is the store's own.
type layered struct {
	Blobs // own
	l     *layers
}

// localLayered is layered where own's blobs are files on this machine.
type localLayered struct {
	*layered
	Local
}

// behind is own's blobs with the others behind them.
func (l *layers) behind() Blobs {
	b := &layered{Blobs: l.own.Blobs, l: l}
	if local, ok := l.own.Blobs.(Local); ok {
		return localLayered{b, local}
	}
	return b
}

// own is own's blobs without the others.
func (b *layered) own() Blobs { return b.Blobs }

func (b *layered) Open(ctx context.Context, d Digest) (io.ReadCloser, error) { return b.l.Open(ctx, d) }

func (b *layered) Missing(ctx context.Context, ds []Digest) ([]Digest, error) {
	return b.l.Missing(ctx, ds)
}

// Open returns a blob of own, which is copied from one of the others first if need be.
func (l *layers) Open(ctx context.Context, d Digest) (io.ReadCloser, error) {
	own := l.tiers[0].blobs
	rc, err := own.Open(ctx, d)
	if !errors.Is(err, ErrNotExist) || l.none() {
		return rc, err
	}
	if err := l.fetch(ctx, d, nil); err != nil {
		return nil, err
	}
	return own.Open(ctx, d)
}

// Missing names what neither own nor any of the others has. Those that do not answer
// count as having nothing; Others names them.
func (l *layers) Missing(ctx context.Context, ds []Digest) ([]Digest, error) {
	missing, err := l.tiers[0].blobs.Missing(ctx, ds)
	if err != nil || len(missing) == 0 {
		return missing, err
	}
	for _, t := range l.tiers {
		if len(missing) == 0 {
			break
		}
		if missing, err = l.missingIn(ctx, t, missing); err != nil {
			return nil, err
		}
	}
	return missing, nil
}

// missingIn returns those of ds that a tier does not have, nor says where they are. Own is
// known not to have them.
func (l *layers) missingIn(ctx context.Context, t *tier, ds []Digest) ([]Digest, error) {
	var spoilt, ask []Digest
	for _, d := range ds {
		if t.spoilt(d) != nil {
			spoilt = append(spoilt, d)
		} else {
			ask = append(ask, d)
		}
	}
	if len(ask) == 0 {
		return ds, nil
	}
	gone := ask
	err := t.ask(ctx, "blobs", func() (err error) {
		if !t.own {
			gone, err = t.blobs.Missing(ctx, ask)
		}
		if err == nil && len(gone) > 0 && l.policy.Elsewhere != nil {
			gone, err = l.unlinked(ctx, t, gone)
		}
		return err
	})
	if is[*DownError](err) {
		return ds, nil
	}
	if err != nil {
		return nil, err
	}
	return append(gone, spoilt...), nil
}

// unlinked returns those of ds of which no record of a tier says that they are elsewhere.
func (l *layers) unlinked(ctx context.Context, t *tier, ds []Digest) ([]Digest, error) {
	gone := make([]bool, len(ds))
	err := each(ctx, len(ds), parallel, func(ctx context.Context, i int) error {
		e, ok, err := t.elsewhere(ctx, ds[i])
		gone[i] = !ok || l.isWrong(e)
		return err
	})
	var left []Digest
	for i, d := range ds {
		if gone[i] {
			left = append(left, d)
		}
	}
	return left, err
}

// fetch copies a blob into own, verified, from the first of the others that has it with
// its right bytes. Of several calls for one blob one works and the others wait. read,
// which may be nil, is called with bytes as they come.
func (l *layers) fetch(ctx context.Context, d Digest, read func(n int64)) error {
	for {
		l.mu.Lock()
		wait := l.coming[d]
		if wait == nil {
			l.coming[d] = make(chan struct{})
		}
		l.mu.Unlock()
		if wait == nil {
			break
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if missing, err := l.tiers[0].blobs.Missing(ctx, []Digest{d}); err != nil || len(missing) == 0 {
			return err
		}
	}
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		close(l.coming[d])
		delete(l.coming, d)
	}()
	return l.fetchAlone(ctx, d, read)
}

func (l *layers) fetchAlone(ctx context.Context, d Digest, read func(n int64)) error {
	var down *DownError
	var bad *IntegrityError
	var gone *awayError
	var other error // of own: its disk is full, say
	for _, t := range l.tiers {
		err := t.spoilt(d)
		if err == nil {
			err = l.copyFrom(ctx, t, d, read)
		}
		switch {
		case err == nil:
			return nil
		case errors.As(err, &down), errors.As(err, &bad), errors.As(err, &gone):
		case !errors.Is(err, ErrNotExist) && other == nil:
			other = err
		}
	}
	switch {
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case other != nil:
		return other
	case down != nil && bad != nil:
		return fmt.Errorf("%w (and %v)", down, bad)
	case down != nil: // no miss: nobody knows
		return down
	case bad != nil:
		return bad
	case gone != nil:
		return gone
	}
	return fmt.Errorf("blob %s: %w", d, ErrNotExist)
}

// copyFrom copies a blob from a tier that is not own, or from where a record of the tier
// says that it is. Bytes that are wrong once may have been changed on the way.
func (l *layers) copyFrom(ctx context.Context, t *tier, d Digest, read func(n int64)) error {
	if t.own {
		return l.follow(ctx, t, d, read)
	}
	err := l.copyOnce(ctx, t, d, read)
	var bad *IntegrityError
	if errors.As(err, &bad) && !bad.Got.IsZero() {
		err = l.copyOnce(ctx, t, d, read)
	}
	if errors.As(err, &bad) {
		theirs := *bad
		theirs.Other = true
		if !strings.Contains(theirs.Where, t.name) {
			theirs.Where = t.name + " (" + theirs.Where + ")"
		}
		t.spoil(d, &theirs)
		l.memo.forget()
		return &theirs
	}
	if errors.Is(err, ErrNotExist) {
		return l.follow(ctx, t, d, read)
	}
	return err
}

func (l *layers) copyOnce(ctx context.Context, t *tier, d Digest, read func(n int64)) error {
	var ours error
	err := t.ask(ctx, "blob "+d.String(), func() error {
		rc, err := t.blobs.Open(ctx, d)
		if err == nil {
			err, ours = l.keep(ctx, rc, d, t.name, read)
		}
		return err
	})
	if ours != nil {
		return ours
	}
	return err
}

// keep copies a blob into own, as far as a result says how long it is: nobody fills a disk
// with what is known to be wrong. What fails is rc, or the writing into own.
func (l *layers) keep(ctx context.Context, rc io.ReadCloser, d Digest, where string, read func(n int64)) (theirs, ours error) {
	defer rc.Close()
	seen := &readers.Failing{R: l.sized(rc, d, where)}
	got, n, err := l.own.Blobs.Put(ctx, readers.Pieces(seen, read))
	switch {
	case err != nil && seen.Err == nil:
		return nil, err
	case err != nil:
		return seen.Err, nil
	case got != d:
		return &IntegrityError{Want: d, Got: got, Size: n, Where: where}, nil
	}
	return nil, nil
}

// sized bounds what is read of a foreign blob by the size that the result says, if one does.
func (l *layers) sized(rc io.ReadCloser, d Digest, where string) io.ReadCloser {
	l.mu.Lock()
	size, ok := l.sizes[d]
	l.mu.Unlock()
	if !ok {
		return rc
	}
	return bounded(rc, d, size, where)
}

// bounded ends rc with an *IntegrityError where it has more than size bytes.
func bounded(rc io.ReadCloser, d Digest, size int64, where string) io.ReadCloser {
	return &boundedReader{ReadCloser: rc, left: size, d: d, size: size, where: where}
}

type boundedReader struct {
	io.ReadCloser
	left, size int64
	d          Digest
	where      string
}

func (b *boundedReader) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, &IntegrityError{Want: b.d, Size: b.size, Where: b.where, Other: true}
	}
	return n, err
}

// fetchAll copies those of ds into own that it lacks, and that others have.
func (l *layers) fetchAll(ctx context.Context, ds []Digest, read func(n int64)) error {
	missing, err := l.tiers[0].blobs.Missing(ctx, ds)
	if err != nil {
		return err
	}
	slices.SortFunc(missing, Digest.Compare)
	return each(ctx, len(missing), transfers, func(ctx context.Context, i int) error { return l.fetch(ctx, missing[i], read) })
}

// follow copies a blob into own from where a record of a tier says it is; ErrNotExist if none
// does.
func (l *layers) follow(ctx context.Context, t *tier, d Digest, read func(n int64)) error {
	if l.policy.Elsewhere == nil {
		return ErrNotExist
	}
	e, ok, err := t.elsewhere(ctx, d)
	if err != nil {
		return err
	}
	if !ok {
		return ErrNotExist
	}
	if l.isWrong(e) {
		return &awayError{Digest: d, URL: e.URL}
	}
	down := func(err error) error {
		return &DownError{Name: e.URL, What: "blob " + d.String(), Err: err}
	}
	rc, err := l.policy.Elsewhere(ctx, e)
	if errors.Is(err, ErrNotExist) {
		l.setWrong(e)
		return &awayError{Digest: d, URL: e.URL}
	}
	if err != nil {
		return down(err)
	}
	theirs, ours := l.keep(ctx, bounded(VerifyReader(rc, d, e.URL), d, e.Size, e.URL), d, e.URL, read)
	var bad *IntegrityError
	switch {
	case ours != nil:
		return ours
	case theirs == nil || context.Cause(ctx) != nil:
		return theirs
	case errors.As(theirs, &bad):
		l.setWrong(e)
		wrong := *bad
		wrong.Other = true
		return &wrong
	}
	return down(theirs)
}

func (l *layers) isWrong(e Elsewhere) bool {
	e.From = ""
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.wrong[e]
}

// setWrong notes that what is at a URL is not what the record says: another
// record may be right about it.
func (l *layers) setWrong(e Elsewhere) {
	e.From = ""
	l.mu.Lock()
	l.wrong[e] = true
	l.mu.Unlock()
	l.memo.forget()
}

// expect remembers how long the blobs of a result are.
func (l *layers) expect(r *Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.sizes) > sizesMost {
		clear(l.sizes)
	}
	maps.Copy(l.sizes, r.Sizes())
}

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

// sizesMost bounds the sizes of blobs that are remembered.
const sizesMost = 1 << 20

func newLayers(own Store, others []Other, p Policy) *layers {
	l := reading(own.Reader(), p)
	l.own = own
	for _, o := range others {
		l.tiers = append(l.tiers, &tier{name: o.Name, url: o.URL, blobs: o.Blobs, records: o.Records, bad: map[Digest]error{}})
	}
	return l
}

// reading is a place alone, of which nothing is copied anywhere.
func reading(place Reader, p Policy) *layers {
	return &layers{policy: p, tiers: []*tier{ownTier(place)}, coming: map[Digest]chan struct{}{}, sizes: map[Digest]int64{}, wrong: map[Elsewhere]bool{}}
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

func readThrough(ctx context.Context, blobs Blobs, d Digest, read func(n int64)) error {
	rc, err := blobs.Open(ctx, d)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, readers.Pieces(rc, read))
	return errors.Join(err, rc.Close())
}

// DropCorrupt reads d and deletes it if its bytes are wrong, which turns every
// result that names it into a miss, so that its producer runs again. It is what
// to call after an IntegrityError. A blob whose bytes are changed on the way stays.
func DropCorrupt(ctx context.Context, blobs Blobs, d Digest) (dropped bool, err error) {
	if b, ok := blobs.(interface{ own() Blobs }); ok { // what others have is not ours to delete
		blobs = b.own()
	}
	switch bad, err := corruptThere(ctx, blobs, d, nil); {
	case errors.Is(err, ErrNotExist), err == nil && bad == nil, is[*changedError](err):
		return false, nil
	case err != nil:
		return false, err
	}
	if err := blobs.Delete(ctx, d); err != nil {
		return false, fmt.Errorf("delete corrupt blob %s: %w", d, err)
	}
	return true, nil
}
