package artifacts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/readers"
)

// Transfer copies results and records from one store to another, of any sort. Blobs go before the record
// that names them, so that the other store never has a record whose blobs it lacks; instead of a blob
// that lies elsewhere goes the record with its address. What the other store has is not sent, so that a
// transfer that was interrupted continues where it was. What arrives is verified: blobs by their digests,
// results by their seals and keys.
type Transfer struct {
	From   Reader
	To     Store
	DryRun bool          // write nothing, count what would be sent
	Sent   func(n int64) // is told how many bytes are read, as they are, from several goroutines; may be nil

	mu   sync.Mutex
	done Transferred
	seen map[Digest]bool     // blobs that a dry run has counted
	said map[Digest][]string // names of records about results
}

// Transferred counts what a Transfer did.
type Transferred struct {
	Results   int   `json:"results"`            // that were sent
	There     int   `json:"there"`              // results that the other store had
	Blobs     int   `json:"blobs"`              // that were sent
	Bytes     int64 `json:"bytes"`              // of these blobs
	Records   int   `json:"records"`            // of runs, failures and pins, and about results, that were sent
	Elsewhere int   `json:"elsewhere"`          // blobs that lie elsewhere, whose address was sent
	Released  int   `json:"released,omitempty"` // released results here, whether they were sent or there in any form

	// Differs are keys under which the other store has other outputs, which it keeps: the first
	// writer wins. Lost are keys that have no usable result here, and why.
	Differs []Digest          `json:"differs"`
	Lost    map[Digest]string `json:"lost"`
}

// Done returns what the transfer did so far.
func (t *Transfer) Done() Transferred {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.done
}

// note changes the counts.
func (t *Transfer) note(what func(done *Transferred)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	what(&t.done)
}

// present removes from ds the blobs that this store lacks: a result counts without its log.
func (t *Transfer) present(ctx context.Context, ds map[Digest]int64) error {
	gone, err := t.From.Blobs.Missing(ctx, slices.Collect(maps.Keys(ds)))
	for _, d := range gone {
		delete(ds, d)
	}
	return err
}

// blobs sends the blobs among ds, given with their sizes, that the other store lacks.
func (t *Transfer) blobs(ctx context.Context, ds map[Digest]int64) error {
	missing, err := t.To.Blobs.Missing(ctx, slices.SortedFunc(maps.Keys(ds), Digest.Compare))
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

// wouldSend counts missing as sent, each blob once.
func (t *Transfer) wouldSend(ctx context.Context, missing []Digest, ds map[Digest]int64) error {
	gone, err := t.From.Blobs.Missing(ctx, missing)
	if err != nil {
		return err
	}
	away := lists.Set(gone)
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

// link sends the record with the address of a blob that this store lacks; gone is the error if there is
// none. A record that the other store has stays, if it can be read. size is the blob's size in results,
// which have seals; 0 if none names it.
func (t *Transfer) link(ctx context.Context, d Digest, size int64, gone error) error {
	e, ok, err := elsewhere(ctx, t.From.Records, d, true)
	if err != nil {
		return err
	}
	if !ok {
		return gone
	}
	if _, ok, err = elsewhere(ctx, t.To.Records, d, true); err != nil || ok {
		return err
	}
	if size > 0 {
		e.Size = size
	}
	if err := PutElsewhere(ctx, t.To, e); err != nil {
		return err
	}
	t.note(func(done *Transferred) { done.Elsewhere++ })
	return nil
}

func (t *Transfer) blob(ctx context.Context, d Digest) (int64, error) {
	r, err := t.From.Blobs.Open(ctx, d)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	got, n, err := t.To.Blobs.Put(ctx, readers.Pieces(r, t.Sent))
	if err == nil && got != d {
		err = &IntegrityError{Want: d, Got: got, Size: n, Where: t.To.URL}
	}
	return n, err
}

// transferMost bounds the results in memory; transferRounds, how often a result is sent that the other
// store's garbage collection deletes.
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
		if r := mine.Known(); r != nil { // a result that was withdrawn there does not come back
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
			return fmt.Errorf("%d of %d results were gone soon after they had arrived, such as the result of %s: is garbage being collected there?", len(todo), len(keys), todo[0].Origin.Step)
		}
		if err := t.send(ctx, todo, round == 0); err != nil || t.DryRun {
			return err
		}
	}
	return nil
}

// send sends results that the other store lacks: the blobs of all, then their records.
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

// result sends the record of a result byte by byte, so that its signatures stay right.
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

// released sends a released result: the record that it was released, then its own.
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

// about sends the records about results, once the results are there. Signatures go only with the record
// that was signed.
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

// Record sends a record that is no result, with the blobs that its text or its body names. If the other
// store has a record of that name, that one stays.
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
		blobs[d] = 0 // unknown
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

// Hold says in the other store that something is being sent there, as an open run does: whatever its grace,
// garbage collection keeps what arrives from now on. release ends that, also after an error; from then on
// gc's grace counts. If a transfer is killed, the next one of that name ends it.
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

// settled reports whether the other store needs nothing more of a result: every blob is there, or lies
// elsewhere and, as the first round finds, is not here either.
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
