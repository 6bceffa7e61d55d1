package artifacts

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/redsi/redsi/internal/system/signature"
)

// maxForeignBody bounds the body of a foreign result, which is read into memory: a tree
// of a million files has a shorter one.
const maxForeignBody = 512 << 20

// fill looks the misses among entries up in the others, in their order.
func (l *layers) fill(ctx context.Context, keys []Digest, entries []Entry) error {
	if len(l.sources) == 0 {
		return nil
	}
	var todo []int
	theirs := make([]Entry, len(entries))
	for i, e := range entries {
		var unknown *FormatError
		if e.Hit() || errors.As(e.Damage, &unknown) {
			continue
		}
		if known, ok := l.known.get(keys[i]); ok {
			entries[i] = e.with(known)
			continue
		}
		todo = append(todo, i)
	}
	asked := todo
	for _, o := range l.sources {
		if len(todo) == 0 {
			break
		}
		found, err := l.lookIn(ctx, o, keys, todo)
		if err != nil {
			return err
		}
		var rest []int
		for n, i := range todo {
			theirs[i].Passed = append(theirs[i].Passed, found[n].Passed...)
			if theirs[i].Foreign == nil {
				theirs[i].Foreign = found[n].Foreign
			}
			if theirs[i].Result = found[n].Result; theirs[i].Result == nil {
				rest = append(rest, i)
			}
		}
		todo = rest
	}
	for _, i := range asked {
		if theirs[i].Result != nil {
			theirs[i].Passed, theirs[i].Foreign = nil, nil
		}
		if !theirs[i].unanswered() {
			l.known.put(keys[i], theirs[i])
		}
		entries[i] = entries[i].with(theirs[i])
	}
	return nil
}

// with is e, a miss of own, with what others know of its key.
func (e Entry) with(theirs Entry) Entry {
	if theirs.Result != nil {
		return Entry{Result: theirs.Result}
	}
	e.Passed = append(e.Passed[:len(e.Passed):len(e.Passed)], theirs.Passed...)
	if e.Foreign == nil {
		e.Foreign = theirs.Foreign
	}
	return e
}

// unanswered reports whether a store did not answer, so that it is asked again.
func (e Entry) unanswered() bool {
	for _, p := range e.Passed {
		if p.Reason == NoAnswer {
			return true
		}
	}
	return false
}

// lookIn looks the keys at todo up in one of the others: records many at a time, then the
// blobs of all in one batch. Its entries are as todo is.
func (l *layers) lookIn(ctx context.Context, o *source, keys []Digest, todo []int) ([]Entry, error) {
	found := make([]Entry, len(todo))
	why := make([]Reason, len(todo))
	signers := make([]signature.Public, len(todo))
	var next atomic.Int64
	g, gctx := errgroup.WithContext(ctx)
	for range min(parallel, len(todo)) {
		g.Go(func() error {
			for n := next.Add(1) - 1; n < int64(len(todo)); n = next.Add(1) - 1 {
				key := keys[todo[n]]
				record, r, err := l.readFrom(gctx, o, key)
				if err == nil && r != nil {
					signers[n], why[n], err = l.judgeOf(gctx, o, key, record)
				}
				passed, err := passedFor(gctx, o, err)
				if err != nil {
					return err
				}
				if passed != nil {
					found[n].Passed = []Passed{*passed}
				} else if r != nil {
					if found[n], err = believeAccepted(gctx, l.all(), o.name, Entry{Result: r}); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for n, e := range found {
		if e.Result != nil && why[n] != "" && l.policy.foreign() == RunUntrusted {
			found[n] = Entry{Passed: []Passed{{From: o.name, Reason: why[n], Signer: signers[n]}}}
		}
	}
	if err := markLost(ctx, &layered{Blobs: l.own.Blobs, l: l}, found); err != nil {
		return nil, err
	}
	for n, e := range found {
		if e.Result == nil {
			continue
		}
		if len(e.Lost) > 0 {
			found[n] = Entry{Passed: []Passed{{From: o.name, Reason: Incomplete, Err: errors.New(e.Miss())}}}
			if err := o.away("its blobs"); err != nil {
				found[n].Passed[0] = Passed{From: o.name, Reason: NoAnswer, Err: errors.Unwrap(err)}
			}
			continue
		}
		e.Result.From = o.name
		if why[n] == "" && !signers[n].IsZero() {
			e.Result.Signer = signers[n].String()
		}
		l.expect(e.Result)
		if why[n] != "" && l.policy.foreign() == VerifyUntrusted {
			found[n] = Entry{Foreign: e.Result, Passed: []Passed{{From: o.name, Reason: why[n], Signer: signers[n]}}}
		}
	}
	return found, nil
}

// all is own with its policy: what is asked about acceptances.
func (l *layers) all() Store {
	s := l.own
	s.layers = l
	return s
}

// notBelieved is the error of a record that the policy does not believe.
type notBelieved struct{ Passed }

func (e *notBelieved) Error() string { return e.String() }

// passedFor is what an error says of a store: that it does not answer, or that its record
// is damaged or not believed. Other errors stay.
func passedFor(ctx context.Context, o *source, err error) (*Passed, error) {
	var down *DownError
	var damage *DamageError
	var not *notBelieved
	switch {
	case errors.As(err, &not):
		return &not.Passed, nil
	case err == nil, errors.Is(err, ErrNotExist):
		return nil, nil
	case context.Cause(ctx) != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, &down):
		return &Passed{From: o.name, Reason: NoAnswer, Err: down.Err}, nil
	case errors.As(err, &damage):
		return &Passed{From: o.name, Reason: Damaged, Err: damage.Err}, nil
	}
	return nil, err
}

func (p Policy) foreign() Untrusted {
	if p.Foreign == "" {
		return RunUntrusted
	}
	return p.Foreign
}

// readFrom reads the result of key in one of the others, and its record as it is there.
// One that is damaged however often it is read is a *DamageError.
func (l *layers) readFrom(ctx context.Context, o *source, key Digest) (record []byte, r *Result, err error) {
	o.count(&o.asked)
	for range readings {
		if record, err = o.Get(ctx, ResultName(key)); err != nil {
			return nil, nil, err
		}
		var damage error
		r, damage, err = readRecordBy(key, record, func(d Digest) ([]byte, error) {
			if by, why, err := l.judgeOf(ctx, o, key, record); err != nil {
				return nil, err
			} else if why != "" && l.policy.foreign() == RunUntrusted { // a body may be long
				return nil, &notBelieved{Passed{From: o.name, Reason: why, Signer: by}}
			}
			return l.bodyFrom(ctx, o, d)
		})
		if err != nil {
			return nil, nil, err
		}
		if damage == nil {
			o.count(&o.found)
			return record, r, nil
		}
		err = &DamageError{Name: ResultName(key), Err: damage}
	}
	return nil, nil, err
}

func (o *source) count(n *int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	*n++
}

// bodyFrom reads the body of a long result.
func (l *layers) bodyFrom(ctx context.Context, o *source, d Digest) (b []byte, err error) {
	if b, err = ReadBlob(ctx, l.own.Blobs, d, maxForeignBody); err == nil {
		return b, nil
	}
	err = o.ask(ctx, "blob "+d.String(), func() error {
		rc, err := o.blobs.Open(ctx, d)
		if err == nil {
			b, err = readAll(bounded(rc, d, maxForeignBody, o.name), d, AnySize)
		}
		return err
	})
	return b, err
}

// judgeOf says who signed a record of one of the others, or why it is not believed.
func (l *layers) judgeOf(ctx context.Context, o *source, key Digest, record []byte) (signature.Public, Reason, error) {
	if l.policy.foreign() == UseUntrusted && len(l.policy.Ring.Trusted) == 0 && l.policy.Signer == nil {
		return signature.Public{}, Unsigned, nil // trusted without a check of the signer
	}
	get := func(name string) ([]byte, error) { return o.Get(ctx, name) }
	var names func() []string
	if l.policy.foreign() != UseUntrusted {
		names = func() []string { return o.about(ctx, key) }
	}
	return l.policy.judge(key, record, get, names)
}

// expect remembers how long the blobs of a result are.
func (l *layers) expect(r *Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.sizes) > sizesMost {
		clear(l.sizes)
	}
	for d, n := range r.Sizes() {
		l.sizes[d] = n
	}
}

// Sizes lists the blobs of r's outputs with their sizes.
func (r *Result) Sizes() map[Digest]int64 {
	sizes := map[Digest]int64{}
	for _, a := range r.Outputs {
		if a.Files == nil {
			sizes[a.Digest] = a.Size
		}
		for _, f := range a.Files {
			sizes[f.Digest] = f.Size
		}
	}
	return sizes
}

// trustOwn keeps of a result of own what the policy believes.
func (l *layers) trustOwn(ctx context.Context, key Digest, record []byte, e Entry) (Entry, error) {
	if e.Result == nil || !l.policy.checksOwn() {
		return e, nil
	}
	get := func(name string) ([]byte, error) { return l.own.Records.Get(ctx, name) }
	names := func() (all []string) {
		for name, err := range namesOf(ctx, l.own.Records, SignaturePrefix(key)) {
			if err != nil {
				return nil // only for the words
			}
			all = append(all, name)
		}
		return all
	}
	by, why, err := l.policy.judge(key, record, get, names)
	if err != nil {
		return e, fmt.Errorf("look up the signatures of %s: %w", key, err)
	}
	if why == "" {
		e.Result.Signer = by.String()
		return e, nil
	}
	passed := Entry{Passed: []Passed{{Reason: why, Signer: by}}}
	if l.policy.Own == VerifyUntrusted {
		passed.Foreign = e.Result
	}
	return passed, nil
}
