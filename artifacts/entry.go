package artifacts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/system/signature"
)

// Reason is why a result that is there is not used.
type Reason string

// The reasons for which a result is passed over.
const (
	Unsigned   Reason = "unsigned"    // nobody signed it whose signature can be found
	UnknownKey Reason = "unknown key" // who signed it is not trusted
	RevokedKey Reason = "revoked key" // who signed it is trusted no more
	NotSigned  Reason = "mismatch"    // what is signed is another record than the one that is there
	Damaged    Reason = "damaged"     // its record cannot be read
	Incomplete Reason = "incomplete"  // blobs of it are gone
	Withdrawn  Reason = "withdrawn"   // it stood by the word of a person, who has taken it back
	NoAnswer   Reason = "no answer"   // the store does not answer, so nobody knows whether it has one
)

// Passed is a result under the right key that is not used, and why.
type Passed struct {
	From   string // the other store; empty for this one
	Reason Reason
	Signer signature.Public // of UnknownKey, RevokedKey and NotSigned
	Err    error            // of Damaged, Incomplete and NoAnswer
}

func (p Passed) String() string {
	where := cmp.Or(p.From, "the store")
	switch p.Reason {
	case Unsigned:
		return where + " has a result, but no key this project trusts has signed it"
	case UnknownKey:
		return where + " has a result signed by " + p.Signer.String() + ", whose key this project does not trust"
	case RevokedKey:
		return where + " has a result signed by " + p.Signer.Name + ", whose key is revoked"
	case NotSigned:
		return where + " has a result that is not the one that " + p.Signer.Name + " signed"
	case Withdrawn:
		return where + " has a result that was accepted for this key, which was withdrawn"
	case Damaged:
		return fmt.Sprintf("%s has a result whose record is damaged: %v", where, p.Err)
	case Incomplete:
		return fmt.Sprintf("%s has a result without its blobs: %v", where, p.Err)
	}
	return fmt.Sprintf("%s does not answer: %v", where, p.Err)
}

// Entry is what a store knows about one key.
type Entry struct {
	Result *Result // nil if there is no record, or none that can be read
	Lost   []Lost  // blobs of Result that are gone
	Damage error   // why the record cannot be read

	// Passed are results that are there and are not used, and stores that do not answer:
	// why a miss is one.
	Passed []Passed
	// Foreign is what VerifyUntrusted leaves to be compared with: a whole result that no
	// trusted key signed, in the store that its From says. Result is nil then.
	Foreign *Result
}

// Hit reports whether the result can be used: it is there, whole, and so is
// every blob that it names.
func (e Entry) Hit() bool { return e.Result != nil && len(e.Lost) == 0 }

// unknown is the error of a record in a format that this code does not know; nil for others.
func (e Entry) unknown() error {
	if unknown, ok := errors.AsType[*FormatError](e.Damage); ok {
		return unknown
	}
	return nil
}

// Miss says why the entry is not a hit; it is empty for a hit.
func (e Entry) Miss() string {
	var why []string
	switch {
	case e.unknown() != nil:
		why = []string{e.unknown().Error()}
	case e.Damage != nil:
		why = []string{"the result's record is damaged: " + e.Damage.Error()}
	case e.Result == nil && len(e.Passed) == 0:
		why = []string{"no result"}
	case len(e.Lost) > 0 && e.Result != nil && e.Result.Released:
		why = []string{"its bytes have left the store: keep = false"}
	case len(e.Lost) == 1:
		why = []string{"lost from the store: " + e.Lost[0].String()}
	case len(e.Lost) > 1:
		why = []string{fmt.Sprintf("lost from the store: %s and %d more", e.Lost[0], len(e.Lost)-1)}
	}
	for _, p := range e.Passed {
		why = append(why, p.String())
	}
	return strings.Join(why, "; ")
}

// whole is the result that the entry has, believed or not; nil if it has none.
func (e Entry) whole() *Result {
	if e.Result != nil {
		return e.Result
	}
	return e.Foreign
}

// Known is the result of a hit, or one that was released, which can make keys only; else nil.
func (e Entry) Known() *Result {
	if e.Hit() || e.Result != nil && e.Result.Released {
		return e.Result
	}
	return nil
}

func passedOver(p *Passed) (e Entry) {
	if p != nil {
		e.Passed = []Passed{*p}
	}
	return e
}

// notBelieved is the error of a record that the policy does not believe.
type notBelieved struct{ Passed }

func (e *notBelieved) Error() string { return e.String() }

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

// Inspect returns what is known about each of keys, misses with their reason included. Whether
// the policy believes a result is decided in read and nowhere else. Records are read
// concurrently and blobs checked in one batch. An error means that the store could not
// answer, never that a key is a miss.
func Inspect(ctx context.Context, w *Resolver, keys []Digest) (map[Digest]Entry, error) {
	unique := sorted(keys)
	found, err := w.look(ctx, w.tiers[0], unique)
	if err != nil {
		return nil, err
	}
	if err := w.fill(ctx, unique, found); err != nil {
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

// Lookup returns the result of key, or nil and no error if there is none that
// can be used; Inspect tells why. An error means that the store could not answer.
func Lookup(ctx context.Context, w *Resolver, key Digest) (*Result, error) {
	found, err := LookupMany(ctx, w, []Digest{key})
	return found[key], err
}

// LookupMany is Lookup for many keys at once; a key that misses is not in the map.
func LookupMany(ctx context.Context, w *Resolver, keys []Digest) (map[Digest]*Result, error) {
	return lookup(ctx, w, keys, func(e Entry) *Result {
		if !e.Hit() {
			return nil
		}
		return e.Result
	})
}

// LookupKnown is LookupMany for those who do not read the outputs of released results.
func LookupKnown(ctx context.Context, w *Resolver, keys []Digest) (map[Digest]*Result, error) {
	return lookup(ctx, w, keys, Entry.Known)
}

// lookup is those results of keys that of gives of their entries.
func lookup(ctx context.Context, w *Resolver, keys []Digest, of func(Entry) *Result) (map[Digest]*Result, error) {
	entries, err := Inspect(ctx, w, keys)
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

// EachResult gives each every usable result of the own store, not of others, in the order of keys, until it returns false.
func EachResult(ctx context.Context, w *Resolver, each func(*Result) bool) error {
	w = w.Alone()
	keys, err := ResultKeys(ctx, w.Own.Records)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(keys, inspectMost) {
		found, err := LookupMany(ctx, w, some)
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
	names, err := RecordNames(ctx, records, ResultsPrefix)
	for _, name := range names {
		if key, ok := keyOf(name, ResultsPrefix); ok {
			keys = append(keys, key)
		}
	}
	return keys, err
}
