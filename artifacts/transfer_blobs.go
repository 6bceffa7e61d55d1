package artifacts

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/redsi/redsi/internal/system/readers"
)

// settled reports whether the other store has a result whole, or without blobs that lie
// elsewhere and are not here either: what is here it gets.
func (t *Transfer) settled(ctx context.Context, theirs Entry, round int) (bool, error) {
	if theirs.Result == nil || theirs.Hit() {
		return theirs.Hit(), nil
	}
	away := map[Digest]Elsewhere{}
	gone, err := lostForGood(ctx, t.to().Records, theirs.Lost, away)
	if err != nil || len(gone) > 0 {
		return false, err
	}
	if round > 0 {
		return true, nil
	}
	missing, err := t.from().Blobs.Missing(ctx, slices.Collect(maps.Keys(away)))
	return len(missing) == len(away), err
}

// present removes from ds what is not in this store: the loss of a log loses no result.
func (t *Transfer) present(ctx context.Context, ds map[Digest]int64) error {
	gone, err := t.from().Blobs.Missing(ctx, slices.Collect(maps.Keys(ds)))
	for _, d := range gone {
		delete(ds, d)
	}
	return err
}

// blobs sends those of ds, with their sizes, that the other store does not have.
func (t *Transfer) blobs(ctx context.Context, ds map[Digest]int64) error {
	missing, err := t.to().Blobs.Missing(ctx, slices.SortedFunc(maps.Keys(ds), Digest.Compare))
	if err != nil {
		return err
	}
	if t.DryRun {
		return t.wouldSend(ctx, missing, ds)
	}
	return each(ctx, len(missing), transfers, func(ctx context.Context, i int) error {
		d := missing[i]
		n, err := t.blob(ctx, d)
		if errors.Is(err, ErrNotExist) {
			return t.link(ctx, d, ds[d], err)
		}
		if err == nil {
			t.note(func(done *Transferred) { done.Blobs, done.Bytes = done.Blobs+1, done.Bytes+n })
		}
		return err
	})
}

// wouldSend counts missing as sent, each once.
func (t *Transfer) wouldSend(ctx context.Context, missing []Digest, ds map[Digest]int64) error {
	gone, err := t.from().Blobs.Missing(ctx, missing)
	if err != nil {
		return err
	}
	away := setOf(gone)
	t.note(func(done *Transferred) {
		if t.seen == nil {
			t.seen = map[Digest]bool{}
		}
		for _, d := range missing {
			switch {
			case t.seen[d]:
			case away[d]:
				done.Elsewhere++
			default:
				done.Blobs++
				done.Bytes += ds[d]
			}
			t.seen[d] = true
		}
	})
	return nil
}

// link says in the other store where a blob is that this one lacks; gone is the error if
// nothing says so here. What is said there stays, if it can be read. size is what results,
// which have seals, say of it, and 0 if none does.
func (t *Transfer) link(ctx context.Context, d Digest, size int64, gone error) error {
	e, ok, err := ownElsewhere(ctx, t.from().Records, d)
	if err != nil {
		return err
	}
	if !ok {
		return gone
	}
	if _, ok, err = ownElsewhere(ctx, t.to().Records, d); err != nil || ok {
		return err
	}
	if size > 0 {
		e.Size = size
	}
	if err := PutElsewhere(ctx, t.to(), e); err != nil {
		return err
	}
	t.note(func(done *Transferred) { done.Elsewhere++ })
	return nil
}

func (t *Transfer) blob(ctx context.Context, d Digest) (int64, error) {
	r, err := t.from().Blobs.Open(ctx, d)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	got, n, err := t.to().Blobs.Put(ctx, readers.Pieces(r, t.Sent))
	if err == nil && got != d {
		err = &IntegrityError{Want: d, Got: got, Size: n, Where: t.To.URL}
	}
	return n, err
}
