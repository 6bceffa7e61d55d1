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

// borrower copies blobs, verified, into the own store: from other tiers, or from addresses that
// records of a tier name.
type borrower struct {
	own       Blobs                                                         // nil if neither others nor elsewhere ever have anything
	tiers     []*tier                                                       // own first
	elsewhere func(ctx context.Context, e Elsewhere) (io.ReadCloser, error) // Policy.Elsewhere
	changed   func()                                                        // called when a blob that was there turns out to be wrong

	mu     sync.Mutex
	coming map[Digest]chan struct{} // blobs that are being copied into own
	sizes  map[Digest]int64         // of blobs that foreign results name
	wrong  map[Elsewhere]bool       // records with addresses at which the blob is not
}

// sizesMost bounds the sizes of blobs that are remembered.
const sizesMost = 1 << 20

// none reports that there is nobody to fetch blobs from.
func (b *borrower) none() bool { return len(b.tiers) == 1 && b.elsewhere == nil }

// missingIn returns the blobs among ds, which own lacks, that a tier neither has nor names an
// address of.
func (b *borrower) missingIn(ctx context.Context, t *tier, ds []Digest) ([]Digest, error) {
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
		if err == nil && len(gone) > 0 && b.elsewhere != nil {
			gone, err = b.unlinked(ctx, t, gone)
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

// unlinked returns the blobs among ds of which no record of a tier names an address.
func (b *borrower) unlinked(ctx context.Context, t *tier, ds []Digest) ([]Digest, error) {
	gone := make([]bool, len(ds))
	err := each(ctx, len(ds), parallel, func(ctx context.Context, i int) error {
		e, ok, err := t.elsewhere(ctx, ds[i])
		gone[i] = !ok || b.isWrong(e)
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

// fetch copies a blob into own, verified, from the first tier that has the right bytes. Of several
// calls for one blob one works and the others wait for it. read, which may be nil, is told how many
// bytes come, as they do.
func (b *borrower) fetch(ctx context.Context, d Digest, read func(n int64)) error {
	for {
		b.mu.Lock()
		wait := b.coming[d]
		if wait == nil {
			b.coming[d] = make(chan struct{})
		}
		b.mu.Unlock()
		if wait == nil {
			break
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if missing, err := b.tiers[0].blobs.Missing(ctx, []Digest{d}); err != nil || len(missing) == 0 {
			return err
		}
	}
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		close(b.coming[d])
		delete(b.coming, d)
	}()
	return b.fetchOnce(ctx, d, read)
}

func (b *borrower) fetchOnce(ctx context.Context, d Digest, read func(n int64)) error {
	var down *DownError
	var bad *IntegrityError
	var gone *awayError
	var other error // own's: its disk is full, say
	for _, t := range b.tiers {
		err := t.spoilt(d)
		if err == nil {
			err = b.copyFrom(ctx, t, d, read)
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

// copyFrom copies a blob from a tier that is not own, or from the address that a record of the tier
// names. Wrong bytes may have been changed on the way, so they are read twice.
func (b *borrower) copyFrom(ctx context.Context, t *tier, d Digest, read func(n int64)) error {
	if t.own {
		return b.follow(ctx, t, d, read)
	}
	err := b.copyOnce(ctx, t, d, read)
	var bad *IntegrityError
	if errors.As(err, &bad) && !bad.Got.IsZero() {
		err = b.copyOnce(ctx, t, d, read)
	}
	if errors.As(err, &bad) {
		theirs := *bad
		theirs.Other = true
		if !strings.Contains(theirs.Where, t.name) {
			theirs.Where = t.name + " (" + theirs.Where + ")"
		}
		t.spoil(d, &theirs)
		b.changed()
		return &theirs
	}
	if errors.Is(err, ErrNotExist) {
		return b.follow(ctx, t, d, read)
	}
	return err
}

func (b *borrower) copyOnce(ctx context.Context, t *tier, d Digest, read func(n int64)) error {
	var ours error
	err := t.ask(ctx, "blob "+d.String(), func() error {
		rc, err := t.blobs.Open(ctx, d)
		if err == nil {
			err, ours = b.keep(ctx, rc, d, t.name, read)
		}
		return err
	})
	if ours != nil {
		return ours
	}
	return err
}

// keep copies a blob from rc into own, up to the size that a result gives it: wrong bytes fill no
// disk. theirs is an error of rc, ours an error of own.
func (b *borrower) keep(ctx context.Context, rc io.ReadCloser, d Digest, where string, read func(n int64)) (theirs, ours error) {
	defer rc.Close()
	seen := &readers.Failing{R: b.sized(rc, d, where)}
	got, n, err := b.own.Put(ctx, readers.Pieces(seen, read))
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

// sized bounds a foreign blob by the size that its result gives it, if one was read.
func (b *borrower) sized(rc io.ReadCloser, d Digest, where string) io.ReadCloser {
	b.mu.Lock()
	size, ok := b.sizes[d]
	b.mu.Unlock()
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

// fetchAll copies the blobs among ds into own that own lacks.
func (b *borrower) fetchAll(ctx context.Context, ds []Digest, read func(n int64)) error {
	missing, err := b.tiers[0].blobs.Missing(ctx, ds)
	if err != nil {
		return err
	}
	slices.SortFunc(missing, Digest.Compare)
	return each(ctx, len(missing), transfers, func(ctx context.Context, i int) error { return b.fetch(ctx, missing[i], read) })
}

// follow copies a blob into own from the address that a record of a tier names; ErrNotExist if none
// names one.
func (b *borrower) follow(ctx context.Context, t *tier, d Digest, read func(n int64)) error {
	if b.elsewhere == nil {
		return ErrNotExist
	}
	e, ok, err := t.elsewhere(ctx, d)
	if err != nil {
		return err
	}
	if !ok {
		return ErrNotExist
	}
	if b.isWrong(e) {
		return &awayError{Digest: d, URL: e.URL}
	}
	down := func(err error) error {
		return &DownError{Name: e.URL, What: "blob " + d.String(), Err: err}
	}
	rc, err := b.elsewhere(ctx, e)
	if errors.Is(err, ErrNotExist) {
		b.setWrong(e)
		return &awayError{Digest: d, URL: e.URL}
	}
	if err != nil {
		return down(err)
	}
	theirs, ours := b.keep(ctx, bounded(VerifyReader(rc, d, e.URL), d, e.Size, e.URL), d, e.URL, read)
	var bad *IntegrityError
	switch {
	case ours != nil:
		return ours
	case theirs == nil || context.Cause(ctx) != nil:
		return theirs
	case errors.As(theirs, &bad):
		b.setWrong(e)
		wrong := *bad
		wrong.Other = true
		return &wrong
	}
	return down(theirs)
}

func (b *borrower) isWrong(e Elsewhere) bool {
	e.From = ""
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.wrong[e]
}

// setWrong notes that the blob of a record is not at its URL. Another record with that URL may be right.
func (b *borrower) setWrong(e Elsewhere) {
	e.From = ""
	b.mu.Lock()
	b.wrong[e] = true
	b.mu.Unlock()
	b.changed()
}

// expect remembers the sizes of a result's blobs.
func (b *borrower) expect(r *Result) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.sizes) > sizesMost {
		clear(b.sizes)
	}
	maps.Copy(b.sizes, r.Sizes())
}

// Bring copies a result from another store, its From, into the own store: its blobs and its log, then
// its record, byte by byte, then the records about it. It does nothing for a result of the own store.
// read, which may be nil, is told how many bytes come, as they do, from several goroutines.
func Bring(ctx context.Context, w *Resolver, r *Result, read func(n int64)) error {
	if r.From == "" {
		return nil
	}
	i := slices.IndexFunc(w.others(), func(t *tier) bool { return t.name == r.From })
	if i < 0 {
		return fmt.Errorf("bring the result of %s: there is no store named %q", r.Key, r.From)
	}
	if err := w.bring(ctx, w.others()[i], r, read); err != nil {
		return fmt.Errorf("bring the result of %s: %w", r.Key, err)
	}
	return nil
}

func (w *Resolver) bring(ctx context.Context, t *tier, r *Result, read func(n int64)) error {
	// Read again, as it is now: the policy must believe the record that is filed.
	record, e, err := w.read(ctx, t, r.Key)
	switch {
	case err != nil:
		return err
	case e.Result == nil:
		return errors.New(e.Miss())
	}
	now := e.Result
	w.blobs.expect(now)
	if err := w.blobs.fetchAll(ctx, now.needs(), read); err != nil {
		return err
	}
	for _, f := range now.aside() {
		if err := w.blobs.fetchAll(ctx, []Digest{f.Digest}, read); is[*DownError](err) {
			return err // without its log, or with a corrupt one, a result still counts
		}
	}
	if err := w.fileAs(ctx, now, record); err != nil {
		return err
	}
	return w.bringAbout(ctx, t, r.Key)
}

// fileAs files a result by the bytes of its record.
func (w *Resolver) fileAs(ctx context.Context, r *Result, record []byte) error {
	p := w.policy
	p.Signer, p.Elsewhere = nil, nil // it has its signatures
	if w.policy.Signer != nil {
		p.Ring.Trusted = append(slices.Clone(p.Ring.Trusted), w.policy.Signer.Public())
	}
	_, _, err := file(ctx, With(w.Own, nil, p), *r, record)
	return err
}

// bringAbout copies the records about a result.
func (w *Resolver) bringAbout(ctx context.Context, t *tier, key Digest) error {
	names := t.about(ctx, key)
	for _, by := range w.policy.Ring.Trusted { // they need no listing
		if name := SignatureName(key, by); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	_, err := copyAbout(ctx, t, w.Own.Records, key, names)
	return err
}

// copyAbout copies the named records about a key, whose result must be filed in to, and returns how
// many were filed.
func copyAbout(ctx context.Context, from getter, to Records, key Digest, names []string) (filed int, err error) {
	record, err := to.Get(ctx, ResultName(key))
	if err != nil {
		return 0, err
	}
	for doc, err := range Documents(ctx, from, names) {
		put := false
		if err == nil {
			put, err = putAbout(ctx, to, key, record, doc.Name, doc.Text)
		}
		if err != nil {
			return filed, err
		}
		if put {
			filed++
		}
	}
	return filed, nil
}

// putAbout files a record about a key, and reports whether it did. It does not file a signature of
// another result record than the given one, nor replace a record of that name, except for a signature
// of another result record.
func putAbout(ctx context.Context, to Records, key Digest, record []byte, name string, text []byte) (put bool, err error) {
	if !strings.HasPrefix(name, SignaturesPrefix) {
		err := to.Create(ctx, name, text)
		if errors.Is(err, ErrExist) {
			return false, nil
		}
		return err == nil, err
	}
	if _, err := signerOf(key, record, name, text); err != nil {
		return false, nil
	}
	have, err := to.Get(ctx, name)
	if err == nil {
		if _, err := signerOf(key, record, name, have); err == nil {
			return false, nil
		}
	} else if !errors.Is(err, ErrNotExist) {
		return false, err
	}
	err = to.Put(ctx, name, text)
	return err == nil, err
}

// Have copies blobs that the own store lacks into it, for processes that read only that store.
func Have(ctx context.Context, w *Resolver, ds []Digest) error {
	if w.blobs.none() {
		return nil
	}
	return w.blobs.fetchAll(ctx, ds, nil)
}
