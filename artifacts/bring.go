package artifacts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Bring copies a result that another store has, as its From says, into the own one: its blobs
// and its log, then its record, byte by byte, then what is said about it. It does nothing
// for a result of the own store. read, which may be nil, is called with bytes as they come, from
// several goroutines.
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
	// Once more, as it is now: what is filed must be what the policy believes.
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
			return err // a log that is lost, or wrong, loses no result
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

// bringAbout copies what is said about a result.
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

// copyAbout copies the records of these names that are said about a key, once its result is
// there, and says how many were filed.
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

// putAbout files a record about a key, unless it is a signature of another record than the
// one that is there. What is there under its name stays, but for a signature that is of
// another record. put says that it was filed.
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

// Have copies blobs into the own store that it lacks and others have, for readers of that
// store alone.
func Have(ctx context.Context, w *Resolver, ds []Digest) error {
	if w.blobs.none() {
		return nil
	}
	return w.blobs.fetchAll(ctx, ds, nil)
}
