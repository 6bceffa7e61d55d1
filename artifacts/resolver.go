package artifacts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/redsi/redsi/internal/system/signature"
)

// maxForeignBody bounds the body of a foreign result, which is read into memory: a tree
// of a million files has a shorter one.
const maxForeignBody = 512 << 20

// look looks keys up in a tier: records many at a time, then the blobs of all in one batch,
// among those that are there or in other tiers. Its entries are as keys are.
func (l *layers) look(ctx context.Context, t *tier, blobs Blobs, keys []Digest) ([]Entry, error) {
	found := make([]Entry, len(keys))
	if err := each(ctx, len(keys), parallel, func(ctx context.Context, i int) (err error) {
		_, found[i], err = l.read(ctx, t, keys[i])
		found[i], err = t.passed(ctx, found[i], err)
		return err
	}); err != nil {
		return nil, err
	}
	if err := markLost(ctx, blobs, found); err != nil {
		return nil, err
	}
	if err := t.markReleased(ctx, found); err != nil {
		return nil, err
	}
	for i, e := range found {
		switch r := e.whole(); {
		case r == nil:
		case t.own && e.Result == nil && len(e.Lost) > 0: // nothing to compare with
			found[i].Foreign, found[i].Lost = nil, nil
		case t.own, e.Result != nil && r.Released:
		case len(e.Lost) > 0:
			why := Passed{From: t.name, Reason: Incomplete, Err: errors.New(Entry{Result: r, Lost: e.Lost}.Miss())}
			if err := t.away("its blobs"); err != nil {
				why = Passed{From: t.name, Reason: NoAnswer, Err: errors.Unwrap(err)}
			}
			found[i] = Entry{Passed: []Passed{why}}
		default:
			l.expect(r)
		}
	}
	return found, nil
}

// read reads the result of a key in a tier, and its record as it is there, and says whether
// the policy believes it. A record that is damaged is read again: its bytes may have been
// changed on the way. Whether its blobs are there is not looked at.
func (l *layers) read(ctx context.Context, t *tier, key Digest) (record []byte, e Entry, err error) {
	t.count(&t.asked)
	var last string // what was damaged at the last reading, and how
	for n, same := 0, 0; same < readings; n++ {
		if record, err = t.Get(ctx, ResultName(key)); err != nil {
			return nil, Entry{}, t.unread(key, err)
		}
		var who signature.Public
		var why Reason
		judge := sync.OnceValue(func() (err error) {
			who, why, err = l.judge(ctx, t, key, record)
			return err
		})
		untrusted := l.policy.of(t)
		r, damage, err := readRecordBy(key, record, func(d Digest) ([]byte, error) {
			if t.own {
				return readAll(ctx, t.blobs, d, AnySize)
			}
			if err := judge(); err != nil {
				return nil, err
			}
			if why != "" && untrusted == RunUntrusted { // a body may be long
				return nil, &notBelieved{Passed{From: t.name, Reason: why, Signer: who}}
			}
			return l.bodyFrom(ctx, t, d)
		})
		if err != nil {
			return nil, Entry{}, err
		}
		if e = (Entry{Damage: damage}); damage != nil {
			if now := string(record) + damage.Error(); now != last {
				last, same = now, 0
			}
			if same++; n+1 == readingsMost && same < readings {
				return nil, Entry{}, fmt.Errorf("look up %s: %d readings of its record differ, so it is changed on the way; the last one: %w", key, readingsMost, damage)
			}
			continue
		}
		t.count(&t.found)
		if p, err := l.standsFor(ctx, t.name, r); err != nil || p != nil {
			return record, passedOver(p), err
		}
		if err := judge(); err != nil {
			return nil, Entry{}, err
		}
		if r.From = t.name; why == "" && !who.IsZero() {
			r.Signer = who.String()
		}
		if why == "" || untrusted == UseUntrusted {
			return record, Entry{Result: r}, nil
		}
		e = passedOver(&Passed{From: t.name, Reason: why, Signer: who})
		if untrusted == VerifyUntrusted {
			e.Foreign = r
		}
		return record, e, nil
	}
	return record, e, nil
}

func passedOver(p *Passed) (e Entry) {
	if p != nil {
		e.Passed = []Passed{*p}
	}
	return e
}

// unread is the error of a record of a tier that was not read.
func (t *tier) unread(key Digest, err error) error {
	switch {
	case !t.own:
		return err
	case is[*DamageError](err): // too long to be read, so nothing can be published over it
		return fmt.Errorf("look up %s: %w; verify --repair deletes it", key, err)
	}
	return fmt.Errorf("look up %s: %w", key, err)
}

// notBelieved is the error of a record that the policy does not believe.
type notBelieved struct{ Passed }

func (e *notBelieved) Error() string { return e.String() }

// passed is what a look-up makes of what read says of a tier: what is not there is a miss,
// and what goes wrong with one of the others, a reason. Other errors stay.
func (t *tier) passed(ctx context.Context, e Entry, err error) (Entry, error) {
	if errors.Is(err, ErrNotExist) {
		return Entry{}, nil
	}
	if t.own {
		return e, err
	}
	if err == nil && e.Damage != nil {
		err = &DamageError{Err: e.Damage}
	}
	var down *DownError
	var damage *DamageError
	var not *notBelieved
	switch {
	case errors.As(err, &not):
		return passedOver(&not.Passed), nil
	case err == nil:
		return e, nil
	case context.Cause(ctx) != nil:
		return Entry{}, context.Cause(ctx)
	case errors.As(err, &down):
		return passedOver(&Passed{From: t.name, Reason: NoAnswer, Err: down.Err}), nil
	case errors.As(err, &damage):
		return passedOver(&Passed{From: t.name, Reason: Damaged, Err: damage.Err}), nil
	}
	return Entry{}, err
}

// bodyFrom reads the body of a long result of one of the others.
func (l *layers) bodyFrom(ctx context.Context, t *tier, d Digest) (b []byte, err error) {
	if b, err = ReadBlob(ctx, l.own.Blobs, d, maxForeignBody); err == nil {
		return b, nil
	}
	err = t.ask(ctx, "blob "+d.String(), func() error {
		rc, err := t.blobs.Open(ctx, d)
		if err == nil {
			b, err = readWhole(bounded(rc, d, maxForeignBody, t.name), d, AnySize)
		}
		return err
	})
	return b, err
}

// fill looks the misses among entries up in the others, in their order.
func (l *layers) fill(ctx context.Context, keys []Digest, entries []Entry) error {
	if len(l.others()) == 0 {
		return nil
	}
	var asked []int
	theirs := make([]Entry, len(entries))
	for i, e := range entries {
		if e.Hit() || e.unknown() != nil {
			continue
		}
		if known, ok := l.memo.get(keys[i]); ok {
			entries[i] = e.with(known)
			continue
		}
		asked = append(asked, i)
	}
	todo := asked
	for _, t := range l.others() {
		some := make([]Digest, len(todo))
		for n, i := range todo {
			some[n] = keys[i]
		}
		found, err := l.look(ctx, t, &layered{Blobs: l.own.Blobs, l: l}, some)
		if err != nil {
			return err
		}
		var rest []int
		for n, i := range todo {
			if theirs[i] = theirs[i].with(found[n]); !theirs[i].Hit() {
				rest = append(rest, i)
			}
		}
		todo = rest
	}
	for _, i := range asked {
		if !theirs[i].unanswered() {
			l.memo.put(keys[i], theirs[i])
		}
		entries[i] = entries[i].with(theirs[i])
	}
	return nil
}

// with is e, a miss, with what others know of its key.
func (e Entry) with(theirs Entry) Entry {
	switch {
	case theirs.Hit():
		return Entry{Result: theirs.Result}
	case e.Result == nil && theirs.Result != nil: // it is released
		e.Result, e.Lost = theirs.Result, theirs.Lost
	}
	e.Passed = append(e.Passed[:len(e.Passed):len(e.Passed)], theirs.Passed...)
	if e.Foreign == nil {
		e.Foreign = theirs.Foreign
	}
	return e
}

// unanswered reports whether a store did not answer, so that it is asked again.
func (e Entry) unanswered() bool {
	return slices.ContainsFunc(e.Passed, func(p Passed) bool { return p.Reason == NoAnswer })
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

// Sizes lists the blobs of r's outputs with their sizes.
func (r *Result) Sizes() map[Digest]int64 {
	sizes := map[Digest]int64{}
	for _, a := range r.Outputs {
		for _, f := range a.Named("") {
			sizes[f.Digest] = f.Size
		}
	}
	return sizes
}
