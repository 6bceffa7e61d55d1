package artifacts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/redsi/redsi/internal/system/signature"
)

// maxForeignBody bounds the body of a foreign result, which is read into memory: a tree
// of a million files has a shorter one.
const maxForeignBody = 512 << 20

// look looks keys up in a tier: records many at a time, then the blobs of all in one batch,
// among those that are there or in other tiers. Its entries are as keys are.
func (l *layers) look(ctx context.Context, t *tier, keys []Digest) ([]Entry, error) {
	found := make([]Entry, len(keys))
	if err := each(ctx, len(keys), parallel, func(ctx context.Context, i int) (err error) {
		_, found[i], err = l.read(ctx, t, keys[i])
		found[i], err = t.passed(ctx, found[i], err)
		return err
	}); err != nil {
		return nil, err
	}
	if err := markLost(ctx, l, found); err != nil {
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
				return ReadBlob(ctx, l, d, AnySize)
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
	if b, err = ReadBlob(ctx, l.tiers[0].blobs, d, maxForeignBody); err == nil {
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
		found, err := l.look(ctx, t, some)
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

// linked is s itself, where a blob counts as there if a record says where it is. Nothing
// is fetched.
func (s Store) linked() Store { return With(s, nil, linked) }

var linked = Policy{Elsewhere: func(_ context.Context, e Elsewhere) (io.ReadCloser, error) {
	return nil, &awayError{Digest: e.Digest, URL: e.URL}
}}

// judge says who signed a record of a tier, or why the policy does not believe it.
func (l *layers) judge(ctx context.Context, t *tier, key Digest, record []byte) (signature.Public, Reason, error) {
	use := l.policy.of(t) == UseUntrusted
	if use && (t.own || len(l.policy.Ring.Trusted) == 0 && l.policy.Signer == nil) {
		return signature.Public{}, Unsigned, nil // trusted without a check of the signer
	}
	get := func(name string) ([]byte, error) { return t.Get(ctx, name) }
	names := func() (all []string) {
		if t.own {
			all, _ = RecordNames(ctx, t.records, signaturePrefix(key)) // only for the words
			return all
		}
		return t.about(ctx, key)
	}
	if use {
		names = nil
	}
	by, why, err := l.policy.signed(key, record, get, names)
	if err != nil && t.own {
		err = fmt.Errorf("look up the signatures of %s: %w", key, err)
	}
	return by, why, err
}

// standsFor says why the policy does not believe that r, of a store, stands for its key; nil
// if it does, or if r was made under it. Where keys are trusted, one of them, or the policy's
// own, must have signed the acceptance, and it must not be withdrawn in own.
func (l *layers) standsFor(ctx context.Context, from string, r *Result) (*Passed, error) {
	a, err := r.Acceptance()
	if err != nil {
		return &Passed{From: from, Reason: Damaged, Err: err}, nil
	}
	if a == nil {
		return nil, nil
	}
	why := l.policy.standing(a.signer)
	if why != "" && (why == RevokedKey || len(l.policy.Ring.Trusted) > 0) {
		return &Passed{From: from, Reason: why, Signer: a.signer}, nil
	}
	_, err = l.tiers[0].records.Get(ctx, a.name()+withdrawnSuffix)
	switch {
	case errors.Is(err, ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look up whether the acceptance of %s was withdrawn: %w", r.Key, err)
	}
	return &Passed{From: from, Reason: Withdrawn}, nil
}

// How often in turn a record must be damaged in the same way before that is believed, and how often it is read for that:
// its bytes may have been changed on the way.
const (
	readings     = 3
	readingsMost = 10
)

// Inspect returns what s, with the others behind it, knows about each of keys, misses with
// their reason included. Whether the policy of s believes a result is decided in read and
// nowhere else. Records are read concurrently and blobs checked in one batch. An
// error means that the store could not answer, never that a key is a miss.
func Inspect(ctx context.Context, s Store, keys []Digest) (map[Digest]Entry, error) {
	l := s.layers
	if l == nil {
		l = newLayers(s, nil, Policy{}) // which believes all it has
	}
	return l.inspect(ctx, keys)
}

func (l *layers) inspect(ctx context.Context, keys []Digest) (map[Digest]Entry, error) {
	unique := sorted(keys)
	found, err := l.look(ctx, l.tiers[0], unique)
	if err != nil {
		return nil, err
	}
	if err := l.fill(ctx, unique, found); err != nil {
		return nil, err
	}
	entries := make(map[Digest]Entry, len(unique))
	for i, key := range unique {
		entries[key] = found[i]
	}
	return entries, nil
}

// sorted is keys in order, each once.
func sorted(keys []Digest) []Digest {
	return slices.Compact(slices.SortedFunc(slices.Values(keys), Digest.Compare))
}

// markLost fills in Lost of every entry that has a result, be it one to compare with.
func markLost(ctx context.Context, blobs BlobReader, entries []Entry) error {
	var all []Digest
	for _, e := range entries {
		all = append(all, e.whole().needs()...)
	}
	if len(all) == 0 {
		return nil
	}
	missing, err := blobs.Missing(ctx, all)
	if err != nil {
		return fmt.Errorf("look for blobs: %w", err)
	}
	gone := setOf(missing)
	for i, e := range entries {
		for _, l := range e.whole().blobs() {
			if gone[l.Digest] {
				entries[i].Lost = append(entries[i].Lost, l)
			}
		}
	}
	return nil
}

// LookupKnown is LookupMany for those who do not read the outputs of released results.
func LookupKnown(ctx context.Context, s Store, keys []Digest) (map[Digest]*Result, error) {
	return lookup(ctx, s, keys, Entry.Known)
}

// lookup is those results of keys that of gives of their entries.
func lookup(ctx context.Context, s Store, keys []Digest, of func(Entry) *Result) (map[Digest]*Result, error) {
	entries, err := Inspect(ctx, s, keys)
	if err != nil {
		return nil, err
	}
	found := make(map[Digest]*Result, len(entries))
	for key, e := range entries {
		if r := of(e); r != nil {
			found[key] = r
		}
	}
	return found, nil
}

// Lookup returns the result of key, or nil and no error if there is none that
// can be used; Inspect tells why. An error means that the store could not answer.
func Lookup(ctx context.Context, s Store, key Digest) (*Result, error) {
	found, err := LookupMany(ctx, s, []Digest{key})
	return found[key], err
}

// LookupMany is Lookup for many keys at once; a key that misses is not in the map.
func LookupMany(ctx context.Context, s Store, keys []Digest) (map[Digest]*Result, error) {
	return lookup(ctx, s, keys, func(e Entry) *Result {
		if !e.Hit() {
			return nil
		}
		return e.Result
	})
}

// EachResult gives each every usable result of s itself, not of its others, in the order of keys, until it returns false.
func EachResult(ctx context.Context, s Store, each func(*Result) bool) error {
	s = s.Own()
	keys, err := ResultKeys(ctx, s.Records)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(keys, inspectMost) {
		found, err := LookupMany(ctx, s, some)
		if err != nil {
			return err
		}
		for _, key := range some {
			if r := found[key]; r != nil && !each(r) {
				return nil
			}
		}
	}
	return nil
}

// ResultKeys lists the keys of all results that have records, usable or not.
func ResultKeys(ctx context.Context, records RecordReader) ([]Digest, error) {
	var keys []Digest
	for info, err := range records.List(ctx, ResultsPrefix) {
		if err != nil {
			return nil, err
		}
		if key, ok := keyOf(info.Name, ResultsPrefix); ok {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// With is own with others' results behind it. What own has no usable result for is
// looked up in others by name, in their order; the first that the policy believes is a
// hit if each of its blobs is there. A blob that own lacks is copied into it, verified,
// before its first byte is given out. Everything that is written, listed or deleted is
// own's: others are never written to.
//
// Others that do not answer are neither errors nor misses: Others names them.
func With(own Store, others []Other, p Policy) Store {
	own = own.bare()
	l := newLayers(own, others, p)
	own.layers = l
	if len(others) > 0 || p.Elsewhere != nil {
		own.Blobs = l.behind()
	}
	return own
}

// Own is s without others: what it has itself, under the same policy.
func (s Store) Own() Store { return With(s, nil, s.policy()) }

// bare is s itself, without others and policy.
func (s Store) bare() Store {
	if s.layers == nil {
		return s
	}
	return s.layers.own
}

func (s Store) policy() Policy {
	if s.layers == nil {
		return Policy{}
	}
	return s.layers.policy
}

// Others says what is known of each of the others of s, in their order.
func (s Store) Others() []OtherState {
	if s.layers == nil {
		return nil
	}
	return s.layers.states()
}

// markReleased marks those of entries that lack blobs because their result was released.
func (t *tier) markReleased(ctx context.Context, entries []Entry) error {
	return each(ctx, len(entries), parallel, func(ctx context.Context, i int) error {
		r := entries[i].Result
		if r == nil || len(entries[i].Lost) == 0 {
			return nil
		}
		_, err := t.Get(ctx, ReleasedName(r.Key))
		if r.Released = err == nil; t.own && err != nil && !errors.Is(err, ErrNotExist) {
			return err
		}
		return nil
	})
}
