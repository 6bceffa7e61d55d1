package artifacts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/signature"
)

// Resolver looks results and blobs up in the own store and, behind it, in others, by name and in their
// order. It writes only to the own store.
type Resolver struct {
	Own    Store
	policy Policy
	tiers  []*tier // own first
	blobs  *borrower
	memo   memo
}

// With returns a Resolver that looks in others for keys of which own has no usable result: the first
// result that the policy believes is a hit if each of its blobs is there. A blob that own lacks is copied
// into own, verified, before its first byte is given out.
//
// An other that does not answer is neither an error nor a miss: Others names it.
func With(own Store, others []Other, p Policy) *Resolver {
	tiers := []*tier{ownTier(own.Reader())}
	for _, o := range others {
		tiers = append(tiers, &tier{name: o.Name, url: o.URL, blobs: o.Blobs, records: o.Records, bad: map[Digest]error{}})
	}
	return newResolver(own, tiers, p)
}

func newResolver(own Store, tiers []*tier, p Policy) *Resolver {
	w := &Resolver{Own: own, policy: p, tiers: tiers}
	w.blobs = &borrower{own: own.Blobs, tiers: tiers, elsewhere: p.Elsewhere, changed: w.memo.forget,
		coming: map[Digest]chan struct{}{}, sizes: map[Digest]int64{}, wrong: map[Elsewhere]bool{}}
	return w
}

// Alone returns a Resolver that looks only in one store, and believes everything there.
func Alone(s Store) *Resolver { return With(s, nil, Policy{}) }

// Alone returns w without others, under the same policy.
func (w *Resolver) Alone() *Resolver { return With(w.Own, nil, w.policy) }

// linked returns a Resolver that looks only in one place, where a blob with an address in a record counts
// as there, and is not fetched.
func linked(place Reader) *Resolver { return newResolver(Store{}, []*tier{ownTier(place)}, noted) }

// noted takes the addresses in records for right, and fetches no blob.
var noted = Policy{Elsewhere: func(_ context.Context, e Elsewhere) (io.ReadCloser, error) {
	return nil, &awayError{Digest: e.Digest, URL: e.URL}
}}

// Open returns a blob of the own store, into which it is copied first if need be.
func (w *Resolver) Open(ctx context.Context, d Digest) (io.ReadCloser, error) {
	own := w.tiers[0].blobs
	rc, err := own.Open(ctx, d)
	if !errors.Is(err, ErrNotExist) || w.blobs.none() {
		return rc, err
	}
	if err := w.blobs.fetch(ctx, d, nil); err != nil {
		return nil, err
	}
	return own.Open(ctx, d)
}

// Missing returns the blobs among ds that no tier has. An other that does not answer counts as having
// nothing; Others names it.
func (w *Resolver) Missing(ctx context.Context, ds []Digest) ([]Digest, error) {
	missing, err := w.tiers[0].blobs.Missing(ctx, ds)
	if err != nil || len(missing) == 0 {
		return missing, err
	}
	for _, t := range w.tiers {
		if len(missing) == 0 {
			break
		}
		if missing, err = w.blobs.missingIn(ctx, t, missing); err != nil {
			return nil, err
		}
	}
	return missing, nil
}

// LocalOf returns b, or the own store of a Resolver, if its blobs are files on this machine.
func LocalOf(b BlobReader) (Local, bool) {
	if w, ok := b.(*Resolver); ok {
		b = w.tiers[0].blobs
	}
	l, ok := b.(Local)
	return l, ok
}

// Others says how each of the others has answered so far, in their order.
func (w *Resolver) Others() (all []OtherState) { return lists.Map(w.others(), (*tier).state) }

func (w *Resolver) others() []*tier { return w.tiers[1:] }

// look looks keys up in a tier: records many at a time, then the blobs of all in one batch, in every tier.
// The entries are in the order of keys.
func (w *Resolver) look(ctx context.Context, t *tier, keys []Digest) ([]Entry, error) {
	found := make([]Entry, len(keys))
	if err := each(ctx, len(keys), parallel, func(ctx context.Context, i int) (err error) {
		_, found[i], err = w.read(ctx, t, keys[i])
		found[i], err = t.passed(ctx, found[i], err)
		return err
	}); err != nil {
		return nil, err
	}
	if err := markLost(ctx, w, found); err != nil {
		return nil, err
	}
	if err := t.markReleased(ctx, found); err != nil {
		return nil, err
	}
	for i, e := range found {
		switch r := e.found(); {
		case r == nil:
		case t.own && e.Result == nil && len(e.Lost) > 0: // there is nothing to compare with
			found[i].Foreign, found[i].Lost = nil, nil
		case t.own, e.Result != nil && r.Released:
		case len(e.Lost) > 0:
			why := Passed{From: t.name, Reason: Incomplete, Err: errors.New(Entry{Result: r, Lost: e.Lost}.Miss())}
			if err := t.away("its blobs"); err != nil {
				why = Passed{From: t.name, Reason: NoAnswer, Err: errors.Unwrap(err)}
			}
			found[i] = Entry{Passed: []Passed{why}}
		default:
			w.blobs.expect(r)
		}
	}
	return found, nil
}

// markLost fills in Lost of every entry that has a result, or a foreign one.
func markLost(ctx context.Context, blobs BlobReader, entries []Entry) error {
	var all []Digest
	for _, e := range entries {
		all = append(all, e.found().needs()...)
	}
	if len(all) == 0 {
		return nil
	}
	missing, err := blobs.Missing(ctx, all)
	if err != nil {
		return fmt.Errorf("look for blobs: %w", err)
	}
	if len(missing) == 0 {
		return nil
	}
	gone := lists.Set(missing)
	for i, e := range entries {
		for _, l := range e.found().blobs() {
			if gone[l.Digest] {
				entries[i].Lost = append(entries[i].Lost, l)
			}
		}
	}
	return nil
}

// maxForeignBody bounds the body of a foreign result, in memory. A tree of a million files has a shorter
// one.
const maxForeignBody = 512 << 20

// A damaged record is believed to be damaged in the store after so many readings in turn that agree, of so
// many at the most: its bytes may have been changed on the way.
const (
	readings     = 3
	readingsMost = 10
)

// read reads a key's record in a tier, and the result that it holds, and decides whether the policy
// believes it. It reads a damaged record several times, and does not look for blobs.
func (w *Resolver) read(ctx context.Context, t *tier, key Digest) (record []byte, e Entry, err error) {
	var last string // the record of the last reading, and its damage
	for n, same := 0, 0; same < readings; n++ {
		if record, err = t.Get(ctx, ResultName(key)); err != nil {
			return nil, Entry{}, t.unread(key, err)
		}
		var who signature.Public
		var why Reason
		judge := sync.OnceValue(func() (err error) {
			who, why, err = w.judge(ctx, t, key, record)
			return err
		})
		untrusted := w.policy.of(t.own)
		r, damage, err := readRecordBy(key, record, func(d Digest) ([]byte, error) {
			if t.own {
				return ReadBlob(ctx, w, d, AnySize)
			}
			if err := judge(); err != nil {
				return nil, err
			}
			if why != "" && untrusted == RunUntrusted { // its body may be long
				return nil, &notBelieved{Passed{From: t.name, Reason: why, Signer: who}}
			}
			return w.bodyFrom(ctx, t, d)
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
		if p, err := w.standsFor(ctx, t.name, r); err != nil || p != nil {
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

// unread completes the error of a record of a tier that could not be read.
func (t *tier) unread(key Digest, err error) error {
	switch {
	case !t.own:
		return err
	case is[*DamageError](err): // it is too long to be read, so nothing can be published over it
		return fmt.Errorf("look up %s: %w; verify --repair deletes it", key, err)
	}
	return fmt.Errorf("look up %s: %w", key, err)
}

// passed returns the entry of what read says of a tier: a record that is not there is a miss, and what
// goes wrong with one of the others is a reason. Other errors stay errors.
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

// bodyFrom reads the body of a long result from own or, if own lacks it, from one of the others.
func (w *Resolver) bodyFrom(ctx context.Context, t *tier, d Digest) (b []byte, err error) {
	if b, err = ReadBlob(ctx, w.tiers[0].blobs, d, maxForeignBody); err == nil {
		return b, nil
	}
	err = t.ask(ctx, "blob "+d.String(), func() error {
		rc, err := t.blobs.Open(ctx, d)
		if err == nil {
			b, err = readLimited(bounded(rc, d, maxForeignBody, t.name), d, AnySize)
		}
		return err
	})
	return b, err
}

// judge says whose trusted key signed a record of a tier, or why the policy does not believe the record.
func (w *Resolver) judge(ctx context.Context, t *tier, key Digest, record []byte) (signature.Public, Reason, error) {
	use := w.policy.of(t.own) == UseUntrusted
	if use && (t.own || len(w.policy.Ring.Trusted) == 0 && w.policy.Signer == nil) {
		return signature.Public{}, Unsigned, nil // used, whoever signed it
	}
	get := func(name string) ([]byte, error) { return t.Get(ctx, name) }
	names := func() (all []string) {
		if t.own {
			all, _ = RecordNames(ctx, t.records, signaturePrefix(key)) // for the words only
			return all
		}
		return t.about(ctx, key)
	}
	if use {
		names = nil
	}
	by, why, err := w.policy.signed(key, record, get, names)
	if err != nil && t.own {
		err = fmt.Errorf("look up the signatures of %s: %w", key, err)
	}
	return by, why, err
}

// standsFor says why the policy does not believe that r, of the store from, stands for its key; nil if it
// does, or if r was computed under that key. The acceptance must not be withdrawn in own and, where keys
// are trusted, must be signed by one of them or by the policy's own.
func (w *Resolver) standsFor(ctx context.Context, from string, r *Result) (*Passed, error) {
	a, err := r.Acceptance()
	if err != nil {
		return &Passed{From: from, Reason: Damaged, Err: err}, nil
	}
	if a == nil {
		return nil, nil
	}
	why := w.policy.standing(a.signer)
	if why != "" && (why == RevokedKey || len(w.policy.Ring.Trusted) > 0) {
		return &Passed{From: from, Reason: why, Signer: a.signer}, nil
	}
	_, err = w.tiers[0].records.Get(ctx, a.name()+withdrawnSuffix)
	switch {
	case errors.Is(err, ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look up whether the acceptance of %s was withdrawn: %w", r.Key, err)
	}
	return &Passed{From: from, Reason: Withdrawn}, nil
}

// fill looks the misses among entries up in the others, one after the other.
func (w *Resolver) fill(ctx context.Context, keys []Digest, entries []Entry) error {
	if len(w.others()) == 0 {
		return nil
	}
	var asked []int
	theirs := make([]Entry, len(entries))
	for i, e := range entries {
		if e.Hit() || e.unknown() != nil {
			continue
		}
		if known, ok := w.memo.get(keys[i]); ok {
			entries[i] = e.with(known)
			continue
		}
		asked = append(asked, i)
	}
	todo := asked
	for _, t := range w.others() {
		some := lists.Map(todo, func(i int) Digest { return keys[i] })
		found, err := w.look(ctx, t, some)
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
			w.memo.put(keys[i], theirs[i])
		}
		entries[i] = entries[i].with(theirs[i])
	}
	return nil
}
