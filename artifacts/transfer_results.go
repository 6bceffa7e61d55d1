package artifacts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// transferMost bounds the results that are in memory; transferRounds is how often one is
// sent that the other store's garbage collection takes away again.
const (
	transferMost   = 256
	transferRounds = 3
)

// Results sends the results of keys.
func (t *Transfer) Results(ctx context.Context, keys []Digest) (err error) {
	keys = sorted(keys)
	if !t.DryRun {
		if t.said, err = aboutOf(ctx, t.From.Records, keys); errors.Is(err, ErrNoList) {
			err = nil
		}
	}
	for some := range slices.Chunk(keys, transferMost) {
		if err == nil {
			err = t.some(ctx, some)
		}
	}
	if err != nil {
		return fmt.Errorf("send results to %s: %w", t.To.URL, err)
	}
	return nil
}

func (t *Transfer) some(ctx context.Context, keys []Digest) error {
	here, err := Inspect(ctx, linked(t.From), keys)
	if err != nil {
		return err
	}
	to := Alone(t.To)
	for key, mine := range here {
		if r := mine.Known(); r != nil { // nothing comes back that was withdrawn there
			if p, err := to.standsFor(ctx, t.To.URL, r); err != nil {
				return err
			} else if p != nil {
				here[key] = passedOver(p)
			}
		}
	}
	for round := range transferRounds + 1 {
		there, err := Inspect(ctx, Alone(t.To), keys)
		if err != nil {
			return err
		}
		var todo []*Result
		for _, key := range keys {
			mine, theirs := here[key], there[key]
			settled, err := t.settled(ctx, theirs, round)
			if err != nil {
				return err
			}
			switch {
			case !mine.Hit() && mine.Known() != nil:
				if round == 0 {
					err = t.released(ctx, mine.Result, theirs)
				}
				if err != nil {
					return err
				}
			case !mine.Hit():
				t.note(func(done *Transferred) {
					if done.Lost == nil {
						done.Lost = map[Digest]string{}
					}
					done.Lost[key] = mine.Miss()
				})
			case theirs.unknown() != nil:
				return theirs.unknown()
			case !settled:
				todo = append(todo, mine.Result)
			case round == 0:
				t.note(func(done *Transferred) {
					if done.There++; mine.Result.OutputsDigest() != theirs.Result.OutputsDigest() {
						done.Differs = append(done.Differs, key)
					}
				})
			}
		}
		if len(todo) == 0 {
			return t.about(ctx, here)
		}
		if round == transferRounds {
			return fmt.Errorf("%d of %d results were gone again after they had arrived, such as that of %s: is garbage being collected there?", len(todo), len(keys), todo[0].Origin.Step)
		}
		if err := t.send(ctx, todo, round == 0); err != nil || t.DryRun {
			return err
		}
	}
	return nil
}

// send sends results that the other store does not have: the blobs of all, then their
// records.
func (t *Transfer) send(ctx context.Context, rs []*Result, first bool) error {
	blobs := map[Digest]int64{}
	logs := map[Digest]int64{}
	for _, r := range rs {
		maps.Copy(blobs, r.Sizes())
		for _, f := range r.aside() {
			logs[f.Digest] = f.Size
		}
	}
	if err := t.present(ctx, logs); err != nil {
		return err
	}
	maps.Copy(blobs, logs)
	if err := t.blobs(ctx, blobs); err != nil {
		return err
	}
	return each(ctx, len(rs), transfers, func(ctx context.Context, i int) error {
		differs := false
		if !t.DryRun {
			var err error
			if differs, err = t.result(ctx, rs[i]); err != nil {
				return err
			}
		}
		t.note(func(done *Transferred) {
			if first {
				done.Results++
			}
			if differs { // it came to be meanwhile
				done.Differs = append(done.Differs, rs[i].Key)
			}
		})
		return nil
	})
}

// result sends the record of a result, byte by byte, so that its signatures stay right.
func (t *Transfer) result(ctx context.Context, r *Result) (differs bool, err error) {
	record, err := t.From.Records.Get(ctx, ResultName(r.Key))
	if err != nil {
		return false, err
	}
	now, damage, err := readRecord(ctx, t.From.Blobs, r.Key, record)
	if err = errors.Join(damage, err); err != nil {
		return false, err
	}
	if !now.body.IsZero() {
		if _, err := t.blob(ctx, now.body); err != nil {
			return false, err
		}
	}
	_, differs, err = file(ctx, With(t.To, nil, noted), *now, record)
	return differs, err
}

// released sends the record of a released result, and before it that it is one.
func (t *Transfer) released(ctx context.Context, r *Result, theirs Entry) error {
	t.note(func(done *Transferred) { done.Released++ })
	if t.DryRun || theirs.Result != nil || theirs.Damage != nil {
		return nil
	}
	if !r.body.IsZero() {
		if _, err := t.blob(ctx, r.body); err != nil {
			return err
		}
	}
	for _, name := range []string{ReleasedName(r.Key), ResultName(r.Key)} {
		text, err := t.From.Records.Get(ctx, name)
		if err == nil {
			err = t.To.Records.Create(ctx, name, text)
		}
		if err != nil && !errors.Is(err, ErrExist) {
			return err
		}
	}
	return nil
}

// about sends what is said about results that are here, once they are there. Signatures go
// only with the record that was signed.
func (t *Transfer) about(ctx context.Context, here map[Digest]Entry) error {
	var keys []Digest
	for key, mine := range here {
		if mine.Known() != nil && len(t.said[key]) > 0 {
			keys = append(keys, key)
		}
	}
	return each(ctx, len(keys), transfers, func(ctx context.Context, i int) error {
		filed, err := copyAbout(ctx, t.From.Records, t.To.Records, keys[i], t.said[keys[i]])
		t.note(func(done *Transferred) { done.Records += filed })
		return err
	})
}

// Record sends a record of another kind than a result, with the blobs that its text or its
// body names. One of that name stays as it is.
func (t *Transfer) Record(ctx context.Context, name string) error {
	if err := t.record(ctx, name); err != nil {
		return fmt.Errorf("send %s to %s: %w", name, t.To.URL, err)
	}
	return nil
}

func (t *Transfer) record(ctx context.Context, name string) error {
	text, err := t.From.Records.Get(ctx, name)
	if err != nil {
		return err
	}
	said, err := saidBy(ctx, t.From.Blobs, name, text)
	if err := cmp.Or(err, said.lost); err != nil {
		return err
	}
	blobs := make(map[Digest]int64, len(said.names))
	for d := range said.names {
		blobs[d] = 0 // not known
	}
	if err := t.present(ctx, blobs); err != nil {
		return err
	}
	if err := t.blobs(ctx, blobs); err != nil {
		return err
	}
	if _, err := t.To.Records.Get(ctx, name); !errors.Is(err, ErrNotExist) {
		return err
	}
	if !t.DryRun {
		if err := t.To.Records.Create(ctx, name, text); err != nil && !errors.Is(err, ErrExist) {
			return err
		}
	}
	t.note(func(done *Transferred) { done.Records++ })
	return nil
}

// Hold says in the other store that something is being sent there, as an open run does:
// whatever its grace, garbage collection keeps what has arrived since. release ends that, also
// after an error; what has arrived then has gc's grace. A transfer that is killed leaves it, for
// the next one of that name to end.
func (t *Transfer) Hold(ctx context.Context, name string) (release func() error, err error) {
	if t.DryRun {
		return func() error { return nil }, nil
	}
	b, err := json.Marshal(map[string]any{"format": "redsi-open-run/1", "run_id": name, "from": t.From.URL, "started": time.Now().UTC()})
	if err != nil {
		return nil, err
	}
	err = t.To.Records.Create(ctx, OpenRunPrefix+name, b)
	if err != nil && !errors.Is(err, ErrExist) {
		return nil, err
	}
	return func() error { return t.To.Records.Delete(context.WithoutCancel(ctx), OpenRunPrefix+name) }, nil
}

// settled reports whether the other store has a result whole, or without blobs that lie
// elsewhere and are not here either: what is here it gets.
func (t *Transfer) settled(ctx context.Context, theirs Entry, round int) (bool, error) {
	if theirs.Result == nil || theirs.Hit() {
		return theirs.Hit(), nil
	}
	away := map[Digest]Elsewhere{}
	gone, err := lostForGood(ctx, t.To.Records, theirs.Lost, away)
	if err != nil || len(gone) > 0 {
		return false, err
	}
	if round > 0 {
		return true, nil
	}
	missing, err := t.From.Blobs.Missing(ctx, slices.Collect(maps.Keys(away)))
	return len(missing) == len(away), err
}
