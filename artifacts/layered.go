package artifacts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// layered is the blobs of a store with others behind it. What is written, listed and
// deleted is the store's own.
type layered struct {
	Blobs // own
	l     *layers
}

// Open returns a blob of own, which is copied from one of the others first if need be.
func (b *layered) Open(ctx context.Context, d Digest) (io.ReadCloser, error) {
	rc, err := b.Blobs.Open(ctx, d)
	if !errors.Is(err, ErrNotExist) {
		return rc, err
	}
	if err := b.l.fetch(ctx, d, nil); err != nil {
		return nil, err
	}
	return b.Blobs.Open(ctx, d)
}

// Missing names what neither own nor any of the others has. Those that do not answer
// count as having nothing; Others names them.
func (b *layered) Missing(ctx context.Context, ds []Digest) ([]Digest, error) {
	missing, err := b.Blobs.Missing(ctx, ds)
	if err != nil || len(missing) == 0 {
		return missing, err
	}
	if missing, err = b.l.unlinked(ctx, nil, b.l.own.Records, missing); err != nil {
		return nil, err
	}
	for _, o := range b.l.sources {
		if len(missing) == 0 {
			break
		}
		if missing, err = b.l.missingIn(ctx, o, missing); err != nil {
			return nil, err
		}
	}
	return missing, nil
}

// missingIn returns those of ds that one of the others does not have either.
func (l *layers) missingIn(ctx context.Context, o *source, ds []Digest) ([]Digest, error) {
	var spoilt, ask []Digest
	for _, d := range ds {
		if o.spoilt(d) != nil {
			spoilt = append(spoilt, d)
		} else {
			ask = append(ask, d)
		}
	}
	if len(ask) == 0 {
		return ds, nil
	}
	var gone []Digest
	err := o.ask(ctx, "blobs", func() (err error) {
		if gone, err = o.blobs.Missing(ctx, ask); err == nil && len(gone) > 0 {
			gone, err = l.unlinked(ctx, o, o.records, gone)
		}
		return err
	})
	var down *DownError
	if errors.As(err, &down) {
		return ds, nil
	}
	if err != nil {
		return nil, err
	}
	return append(gone, spoilt...), nil
}

// unlinked returns those of ds of which no record says that they are elsewhere.
func (l *layers) unlinked(ctx context.Context, o *source, records recordReader, ds []Digest) ([]Digest, error) {
	if l.policy.Elsewhere == nil {
		return ds, nil
	}
	gone := make([]bool, len(ds))
	err := each(ctx, len(ds), parallel, func(ctx context.Context, i int) error {
		e, ok, err := elsewhereOf(ctx, o, records, ds[i])
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
		if missing, err := l.own.Blobs.Missing(ctx, []Digest{d}); err != nil || len(missing) == 0 {
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
	var gone *AwayError
	var other error
	err := l.follow(ctx, nil, l.own.Records, d, read)
	for _, o := range l.sources {
		if !failed(err, &down, &bad, &gone, &other) {
			return context.Cause(ctx)
		}
		if err = o.spoilt(d); err == nil {
			err = l.copyFrom(ctx, o, d, read)
		}
	}
	switch {
	case !failed(err, &down, &bad, &gone, &other):
		return nil
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case other != nil: // of own: its disk is full, say
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

// failed sorts an error of one of several places where a blob may be; nil is none.
func failed(err error, down **DownError, bad **IntegrityError, gone **AwayError, other *error) bool {
	var isDown *DownError
	var isBad *IntegrityError
	var isGone *AwayError
	switch {
	case err == nil:
		return false
	case errors.As(err, &isDown):
		*down = isDown
	case errors.As(err, &isBad):
		*bad = isBad
	case errors.As(err, &isGone):
		*gone = isGone
	case !errors.Is(err, ErrNotExist) && *other == nil:
		*other = err
	}
	return true
}

// copyFrom copies a blob from one of the others, or from where that says that it is. Bytes
// that are wrong once may have been changed on the way.
func (l *layers) copyFrom(ctx context.Context, o *source, d Digest, read func(n int64)) error {
	err := l.copyOnce(ctx, o, d, read)
	var bad *IntegrityError
	if errors.As(err, &bad) && !bad.Got.IsZero() {
		err = l.copyOnce(ctx, o, d, read)
	}
	if errors.As(err, &bad) {
		theirs := *bad
		theirs.Other = true
		if !strings.Contains(theirs.Where, o.name) {
			theirs.Where = o.name + " (" + theirs.Where + ")"
		}
		o.spoil(d, &theirs)
		l.known.forget()
		return &theirs
	}
	if errors.Is(err, ErrNotExist) {
		return l.follow(ctx, o, o, d, read)
	}
	return err
}

func (l *layers) copyOnce(ctx context.Context, o *source, d Digest, read func(n int64)) error {
	var local error // of own, which is not the other store's fault
	err := o.ask(ctx, "blob "+d.String(), func() error {
		rc, err := o.blobs.Open(ctx, d)
		if err != nil {
			return err
		}
		defer rc.Close()
		seen := &failing{r: l.sized(rc, d, o.name)}
		got, n, err := l.own.Blobs.Put(ctx, told(seen, read))
		if err != nil && seen.err == nil {
			local = err
			return nil
		}
		if err != nil {
			return seen.err
		}
		if got != d {
			return &IntegrityError{Want: d, Got: got, Size: n, Where: o.name}
		}
		return nil
	})
	if local != nil {
		return local
	}
	return err
}

// failing keeps the error of a reader, so that it can be told from the writer's.
type failing struct {
	r   io.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}

// sized bounds what is read of a foreign blob by the size that the result says, if one
// does: nobody fills a disk with what is known to be wrong.
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
	missing, err := l.own.Blobs.Missing(ctx, ds)
	if err != nil {
		return err
	}
	slices.SortFunc(missing, Digest.Compare)
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(transfers)
	for _, d := range missing {
		g.Go(func() error { return l.fetch(gctx, d, read) })
	}
	return g.Wait()
}
