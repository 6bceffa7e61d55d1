package artifacts

import (
	"context"
	"slices"
)

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
