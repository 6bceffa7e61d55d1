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
	Unsigned   Reason = "unsigned"    // no signature of it was found
	UnknownKey Reason = "unknown key" // who signed it is not trusted
	RevokedKey Reason = "revoked key" // who signed it is trusted no more
	NotSigned  Reason = "mismatch"    // the signature is of another record under that key
	Damaged    Reason = "damaged"     // its record cannot be read
	Incomplete Reason = "incomplete"  // blobs of it are gone
	Withdrawn  Reason = "withdrawn"   // its acceptance for this key was withdrawn
	NoAnswer   Reason = "no answer"   // the store does not answer, so it may have a result or not
)

// Passed is a result under the right key that is not used, or a store that does not answer, and why.
type Passed struct {
	From   string // the other store; empty for the own store
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
		return where + " has a result that differs from what " + p.Signer.Name + " signed"
	case Withdrawn:
		return where + " has a result whose acceptance for this key was withdrawn"
	case Damaged:
		return fmt.Sprintf("%s has a result whose record is damaged: %v", where, p.Err)
	case Incomplete:
		return fmt.Sprintf("%s has a result without its blobs: %v", where, p.Err)
	}
	return fmt.Sprintf("%s does not answer: %v", where, p.Err)
}

// Entry is what the stores have under one key.
type Entry struct {
	Result *Result  // nil if there is no record, or none that can be read
	Lost   []Lost   // blobs of Result that are gone
	Damage error    // why the record cannot be read
	Passed []Passed // why a miss is one, beside Lost and Damage

	// Foreign, with a nil Result, is what VerifyUntrusted leaves to be compared with: a result that
	// no trusted key signed, with all of its blobs, in the store From.
	Foreign *Result
}

// Hit reports whether the result can be used: it is there, and so is every blob that it names.
func (e Entry) Hit() bool { return e.Result != nil && len(e.Lost) == 0 }

// unknown returns the error of a record in a format that this code does not read; else nil.
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

// found returns the result that the entry has, believed or not; nil if it has none.
func (e Entry) found() *Result { return cmp.Or(e.Result, e.Foreign) }

// Known returns the result of a hit, or a released result, which is good for keys only; else nil.
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

// notBelieved says that the policy does not believe a record.
type notBelieved struct{ Passed }

func (e *notBelieved) Error() string { return e.String() }

// with returns e, a miss, completed by what others have under its key.
func (e Entry) with(theirs Entry) Entry {
	switch {
	case theirs.Hit():
		return Entry{Result: theirs.Result}
	case e.Result == nil && theirs.Result != nil: // it is released
		e.Result, e.Lost = theirs.Result, theirs.Lost
	}
	e.Passed = append(e.Passed[:len(e.Passed):len(e.Passed)], theirs.Passed...)
	e.Foreign = cmp.Or(e.Foreign, theirs.Foreign)
	return e
}

// unanswered reports whether a store did not answer, so that the entry is not remembered.
func (e Entry) unanswered() bool {
	return slices.ContainsFunc(e.Passed, func(p Passed) bool { return p.Reason == NoAnswer })
}

// Inspect returns the entry of each key, misses with their reasons. read, and nothing else, decides
// whether the policy believes a result. Records are read concurrently, and blobs are checked in one
// batch. An error means that the store could not answer, never that a key is a miss.
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

// sorted returns keys in order, each once.
func sorted(keys []Digest) []Digest {
	return slices.Compact(slices.SortedFunc(slices.Values(keys), Digest.Compare))
}

// Lookup returns the usable result of key, or nil and no error if there is none; Inspect tells why. An
// error means that the store could not answer.
func Lookup(ctx context.Context, w *Resolver, key Digest) (*Result, error) {
	found, err := LookupMany(ctx, w, []Digest{key})
	return found[key], err
}

// LookupMany is Lookup for many keys at once; a key that misses is not in the map.
func LookupMany(ctx context.Context, w *Resolver, keys []Digest) (map[Digest]*Result, error) {
	return lookup(ctx, w, keys, Entry.Hit)
}

// LookupKnown is LookupMany for callers who do not read the outputs of released results.
func LookupKnown(ctx context.Context, w *Resolver, keys []Digest) (map[Digest]*Result, error) {
	return lookup(ctx, w, keys, func(e Entry) bool { return e.Known() != nil })
}

// lookup returns the results of keys whose entries are wanted.
func lookup(ctx context.Context, w *Resolver, keys []Digest, wanted func(Entry) bool) (map[Digest]*Result, error) {
	entries, err := Inspect(ctx, w, keys)
	if err != nil {
		return nil, err
	}
	found := make(map[Digest]*Result, len(entries))
	for key, e := range entries {
		if wanted(e) {
			found[key] = e.Result
		}
	}
	return found, nil
}

// EachResult calls each with every usable result of the own store, in the order of keys, until it returns false.
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
