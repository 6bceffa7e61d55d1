package artifacts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// parallel bounds concurrent requests of one call to a store: enough to hide a
// bucket's latency, few enough for any server.
const parallel = 16

// How often in turn a record must be damaged in the same way before that is believed, and how often it is read for that:
// its bytes may have been changed on the way.
const (
	readings     = 3
	readingsMost = 10
)

// inspectMost bounds the entries that are in memory while a whole store is gone through.
const inspectMost = 2048

// ResultName is the name of the record that holds the result of key.
func ResultName(key Digest) string { return ResultsPrefix + key.Hex() }

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

// Lost names a blob that a result needs and the store does not have.
type Lost struct {
	Output string
	File   string // of a tree, or empty
	Digest Digest
}

func (l Lost) String() string {
	if l.Output == "" {
		return fmt.Sprintf("the body of its record (%s)", l.Digest)
	}
	if l.File != "" {
		return fmt.Sprintf("%s of output %s (%s)", l.File, l.Output, l.Digest)
	}
	return fmt.Sprintf("output %s (%s)", l.Output, l.Digest)
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

// Inspect returns what s, with the others behind it, knows about each of keys, misses with
// their reason included. Whether the policy of s believes a result is decided in read and
// nowhere else. Records are read concurrently and blobs checked in one batch. An
// error means that the store could not answer, never that a key is a miss.
func Inspect(ctx context.Context, s Store, keys []Digest) (map[Digest]Entry, error) {
	unique, l := sorted(keys), s.layers
	if l == nil {
		l = newLayers(s, nil, Policy{}) // which believes all it has
	}
	found, err := l.look(ctx, ownTier(s), s.Blobs, unique)
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
func markLost(ctx context.Context, blobs Blobs, entries []Entry) error {
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

// whole is the result that the entry has, believed or not; nil if it has none.
func (e Entry) whole() *Result {
	if e.Result != nil {
		return e.Result
	}
	return e.Foreign
}

// blobs lists every blob that r names with the place it has in r, ordered by
// output and file name; none if r is nil.
func (r *Result) blobs() (all []Lost) {
	if r == nil {
		return nil
	}
	if !r.body.IsZero() {
		all = append(all, Lost{Digest: r.body})
	}
	for _, name := range slices.Sorted(maps.Keys(r.Outputs)) {
		for _, f := range r.Outputs[name].Named("") {
			all = append(all, Lost{Output: name, File: f.Name, Digest: f.Digest})
		}
	}
	return all
}

// needs are the digests of blobs.
func (r *Result) needs() (all []Digest) {
	for _, b := range r.blobs() {
		all = append(all, b.Digest)
	}
	return all
}

// Known is the result of a hit, or one that was released, which can make keys only; else nil.
func (e Entry) Known() *Result {
	if e.Hit() || e.Result != nil && e.Result.Released {
		return e.Result
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
	keys, err := ResultKeys(ctx, s)
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

// ResultKeys lists the keys of all results of s itself, usable or not.
func ResultKeys(ctx context.Context, s Store) ([]Digest, error) {
	var keys []Digest
	for info, err := range s.Records.List(ctx, ResultsPrefix) {
		if err != nil {
			return nil, err
		}
		if key, ok := keyOf(info.Name, ResultsPrefix); ok {
			keys = append(keys, key)
		}
	}
	return keys, nil
}
