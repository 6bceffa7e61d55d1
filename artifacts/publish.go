package artifacts

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redsi/redsi/internal/system/readers"
)

// NondeterminismName returns the name of the record that keeps a result of key whose outputs differ
// from the outputs in use; outputs is its Result.OutputsDigest.
func NondeterminismName(key, outputs Digest) string {
	return nondetPrefix + key.Hex() + "/" + outputs.Hex()
}

// Publish files r under "results/<key>". Every blob that r names must be in the store, or in another
// one, from which it is copied first; else it is an error, and nothing is filed.
//
// The first writer wins: if the store has a usable result of the key, that result is won and r is
// dropped, but if its outputs differ, r is kept under NondeterminismName and nondeterministic is true.
// A result that is damaged, lacks blobs or is not believed by the policy gives way to r; of several
// writers who replace it at once, the first wins likewise. Other stores are not asked about the key.
// r is signed if the policy has a key for that.
//
// Publish may be called again after any error, or with a result that has been filed: the outcome is
// the same.
func Publish(ctx context.Context, all *Resolver, r Result) (won *Result, nondeterministic bool, err error) {
	r.Format = cmp.Or(r.Format, ResultFormat)
	r.From, r.Signer = "", ""
	p := all.policy
	p.Elsewhere = nil // blobs at other addresses are not in the store
	w := With(all.Own, nil, p)
	err = publishable(ctx, w, r)
	if errors.Is(err, errNoBlobs) && !all.blobs.none() {
		// Copied are blobs that only others have, or that lie elsewhere; publishable names a lost one.
		if err = all.blobs.fetchAll(ctx, r.needs(), nil); err == nil || errors.Is(err, ErrNotExist) {
			err = publishable(ctx, w, r)
		}
	}
	if err != nil {
		return nil, false, fmt.Errorf("publish %s: %w", r.Key, err)
	}
	b, err := recordOf(ctx, w.Own.Blobs, r)
	if err != nil {
		return nil, false, err
	}
	return fileRecord(ctx, w, r, b)
}

// errNoBlobs says that a result lacks blobs.
var errNoBlobs = errors.New("store them before the result")

// file is Publish by the bytes of r's record, in a store without others.
func file(ctx context.Context, w *Resolver, r Result, b []byte) (won *Result, nondeterministic bool, err error) {
	if err := publishable(ctx, w, r); err != nil {
		return nil, false, fmt.Errorf("publish %s: %w", r.Key, err)
	}
	return fileRecord(ctx, w, r, b)
}

func fileRecord(ctx context.Context, w *Resolver, r Result, b []byte) (won *Result, nondeterministic bool, err error) {
	// The record may be deleted or replaced between any two of these calls; then the next round
	// looks at it anew.
	var wait unsigned
	for range publishRounds {
		err = w.Own.Records.Create(ctx, ResultName(r.Key), b)
		if err == nil {
			won, err = &r, w.signNew(ctx, r.Key, b)
		} else if errors.Is(err, ErrExist) {
			if won, nondeterministic, err = contend(ctx, w, r, b, &wait); err == nil { // its bytes are there
				err = w.Own.Records.Delete(ctx, ReleasedName(r.Key))
			}
		} else {
			err = fmt.Errorf("publish %s: %w", r.Key, err)
		}
		if err == nil {
			return won, nondeterministic, nil
		}
		if !errors.Is(err, errChanged) {
			return nil, false, err
		}
	}
	return nil, false, fmt.Errorf("publish %s: the record keeps appearing and disappearing", r.Key)
}

const publishRounds = 50

var errChanged = errors.New("the record is gone, or was replaced")

// unsigned is a record that nobody has signed: whoever has filed it may be about to sign it.
type unsigned struct {
	record Digest
	found  int // times in turn
}

// Bounds of how long such a record is left to be signed.
const (
	unsignedPause  = 50 * time.Millisecond
	unsignedPauses = 10
)

// wait pauses and returns errChanged, unless the record has been found often enough.
func (u *unsigned) wait(ctx context.Context, record []byte) error {
	if d := Sum(record); u.record != d {
		*u = unsigned{record: d}
	}
	if u.found++; u.found > unsignedPauses {
		return nil
	}
	if err := readers.Pause(ctx, unsignedPause); err != nil {
		return err
	}
	return errChanged
}

// contend decides between r and the result that is there. It replaces only the record that it looked at.
func contend(ctx context.Context, w *Resolver, r Result, encoded []byte, wait *unsigned) (*Result, bool, error) {
	there, err := w.Own.Records.Get(ctx, ResultName(r.Key))
	if errors.Is(err, ErrNotExist) {
		return nil, false, errChanged
	}
	if err != nil {
		return nil, false, fmt.Errorf("publish %s: %w", r.Key, err)
	}
	entries, err := Inspect(ctx, w, []Digest{r.Key})
	if err != nil {
		return nil, false, err
	}
	have := entries[r.Key]
	switch {
	case have.unknown() != nil:
		return nil, false, fmt.Errorf("publish %s: %w", r.Key, have.Damage)
	case have.Result == nil && have.Damage == nil && len(have.Passed) == 0:
		return nil, false, errChanged
	case len(have.Passed) > 0 && slices.Contains([]Reason{Unsigned, NotSigned}, have.Passed[0].Reason) && !bytes.Equal(there, encoded):
		// nobody may have signed it yet: a signature of another record may be left from the record before it
		if err := wait.wait(ctx, there); err != nil {
			return nil, false, err
		}
	}
	won, lost := have.Result, &r
	if !have.Hit() { // the result that is there has lost, also if it is not believed
		won = &r
		if lost, _, err = readRecord(ctx, w, r.Key, there); err != nil {
			return nil, false, fmt.Errorf("publish %s: %w", r.Key, err)
		}
	}
	nondeterministic := lost != nil && lost.OutputsDigest() != won.OutputsDigest()
	if nondeterministic { // first, since a kill after Put would leave no trace of it
		if err := recordNondeterminism(ctx, w.Own, *lost); err != nil {
			return nil, false, err
		}
	}
	if !have.Hit() {
		err := w.Own.Records.Replace(ctx, ResultName(r.Key), there, encoded)
		if errors.Is(err, ErrExist) || errors.Is(err, ErrNotExist) {
			return nil, false, errChanged
		}
		if err != nil {
			return nil, false, fmt.Errorf("replace the result of %s: %w", r.Key, err)
		}
		if err := dropStale(ctx, w.Own, r.Key, encoded); err != nil {
			return nil, false, fmt.Errorf("replace the result of %s: its signatures: %w", r.Key, err)
		}
		return won, nondeterministic, w.signNew(ctx, r.Key, encoded)
	}
	if bytes.Equal(there, encoded) { // an attempt before this one may have filed it, and not signed it
		err = w.signNew(ctx, r.Key, encoded)
	}
	return won, nondeterministic, err
}

// signNew signs a record that was just filed, if the policy has a key for that. If the record was
// replaced before it was signed, it has lost: errChanged.
func (w *Resolver) signNew(ctx context.Context, key Digest, record []byte) error {
	by := w.policy.Signer
	if by == nil {
		return nil
	}
	if err := w.isFiled(ctx, key, record); err != nil { // the signature of another record stays
		return err
	}
	name := SignatureName(key, by.Public())
	doc, err := sign(key, record, by)
	if err == nil {
		err = w.Own.Records.Create(ctx, name, doc)
	}
	stale := false
	if errors.Is(err, ErrExist) { // of this record by another publisher, or of an earlier record
		if doc, err = w.Own.Records.Get(ctx, name); err == nil {
			_, other := signerOf(key, record, name, doc)
			stale = other != nil
		} else if errors.Is(err, ErrNotExist) {
			return errChanged
		}
	}
	if err != nil {
		return fmt.Errorf("sign the result of %s: %w", key, err)
	}
	if err := w.isFiled(ctx, key, record); err != nil || !stale {
		return err
	}
	if err := dropStale(ctx, w.Own, key, record); err != nil {
		return fmt.Errorf("sign the result of %s: %w", key, err)
	}
	return errChanged // the next round signs it
}

// isFiled returns errChanged if a key's record is gone, or was replaced.
func (w *Resolver) isFiled(ctx context.Context, key Digest, record []byte) error {
	there, err := w.Own.Records.Get(ctx, ResultName(key))
	if err == nil && !bytes.Equal(there, record) || errors.Is(err, ErrNotExist) {
		return errChanged
	}
	if err != nil {
		return fmt.Errorf("sign the result of %s: %w", key, err)
	}
	return nil
}

func recordNondeterminism(ctx context.Context, s Store, lost Result) error {
	doc, err := recordOf(ctx, s.Blobs, lost)
	if err != nil {
		return err
	}
	err = s.Records.Create(ctx, NondeterminismName(lost.Key, lost.OutputsDigest()), doc)
	if err != nil && !errors.Is(err, ErrExist) {
		return fmt.Errorf("record that %s is not deterministic: %w", lost.Key, err)
	}
	return nil
}

// publishable checks that r is well formed and all of its blobs are stored.
func publishable(ctx context.Context, w *Resolver, r Result) error {
	if r.Format != ResultFormat {
		return fmt.Errorf("format %q is not %q", r.Format, ResultFormat)
	}
	if err := r.Validate(); err != nil {
		return err
	}
	entries := []Entry{{Result: &r}}
	if err := markLost(ctx, w, entries); err != nil {
		return err
	}
	if lost := entries[0].Lost; len(lost) > 0 {
		return fmt.Errorf("%d blobs are not in the store, first %s: %w", len(lost), lost[0], errNoBlobs)
	}
	return nil
}
