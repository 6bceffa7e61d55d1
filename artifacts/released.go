package artifacts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// smallBlob is the size up to which a blob stays: it fills no disk, and many steps have the same small
// outputs, such as an empty file or a report of one number.
const smallBlob = 4 << 10

// Freed says what Release let go.
type Freed struct {
	Results int    `json:"results"`
	Bytes   int64  `json:"bytes"`
	Held    int    `json:"held,omitempty"` // results that keep all of their outputs
	For     string `json:"for,omitempty"`  // why one of them does, for people
}

// Release deletes the outputs of the results of keys, which no step of a run will read. A blob stays that
// anything else names: another result, a log, any other record. A result keeps all of its outputs if
// wanted says why, or if a root names its key, unless own says of all such roots that they do not count.
//
// Each result is marked as released before its first blob goes, so that a kill in between loses no result.
// Results that are published meanwhile are looked at just before blobs go; a result that names such a blob
// an instant later loses it, and is computed again where it is needed, as after Collect.
func Release(ctx context.Context, s Store, keys []Digest, wanted map[Digest]string, own func(name string, text []byte) bool) (freed Freed, err error) {
	err = freed.release(ctx, s, keys, wanted, own)
	if err != nil {
		err = fmt.Errorf("let go of what steps have read: %w", err)
	}
	return freed, err
}

func (freed *Freed) release(ctx context.Context, s Store, keys []Digest, wanted map[Digest]string, own func(name string, text []byte) bool) error {
	going, err := freed.releasable(ctx, s, keys, wanted)
	if err != nil || len(going) == 0 {
		return err
	}
	c := &contents{}
	if err := c.read(ctx, s, own); err != nil {
		return err
	}
	if err := c.lost(nil); err != nil {
		return err
	}
	freed.settle(c, going, wanted)
	needed := c.neededBeside(going)
	order := slices.SortedFunc(maps.Keys(going), Digest.Compare)
	gone, bytes := map[Digest]Digest{}, map[Digest]int64{} // by blob: the key for which it counts; by key
	for _, key := range order {
		for d, size := range going[key].sizes {
			if gone[d].IsZero() && !needed[d] && size > smallBlob {
				gone[d] = key
				bytes[key] += size
			}
		}
	}
	if err := each(ctx, len(order), parallel, func(ctx context.Context, i int) error {
		return PutJSON(ctx, s.Records, ReleasedName(order[i]), Released{ReleasedFormat, order[i], bytes[order[i]]})
	}); err != nil {
		return err
	}
	if err := c.readSince(ctx, s); err != nil {
		return err
	}
	needed = c.neededBeside(going)
	var blobs []Digest
	of := map[Digest]bool{}
	for _, d := range slices.SortedFunc(maps.Keys(gone), Digest.Compare) {
		if key := gone[d]; !needed[d] {
			blobs, of[key] = append(blobs, d), true
			freed.Bytes += going[key].sizes[d]
		}
	}
	freed.Results = len(of)
	return each(ctx, len(blobs), parallel, func(ctx context.Context, i int) error { return s.Blobs.Delete(ctx, blobs[i]) })
}

// leaving is a result whose outputs may go.
type leaving struct {
	held
	sizes  map[Digest]int64 // of its outputs
	beside []Digest         // blobs that it names and that stay
}

// hold counts a result that keeps its outputs.
func (freed *Freed) hold(why string) { freed.Held, freed.For = freed.Held+1, max(freed.For, why) }

// releasable returns the results of keys that have their outputs and are not wanted; none if an earlier
// Release looked at all of them and could delete nothing.
func (freed *Freed) releasable(ctx context.Context, s Store, keys []Digest, wanted map[Digest]string) (going map[Digest]*leaving, err error) {
	going = map[Digest]*leaving{}
	for some := range slices.Chunk(keys, inspectMost) {
		hits, err := LookupMany(ctx, Alone(s), some)
		if err != nil {
			return nil, err
		}
		for key, r := range hits {
			if why := wanted[key]; why != "" {
				freed.hold(why)
				continue
			}
			going[key] = &leaving{heldBy(Entry{Result: r}), r.Sizes(), heldBy(Entry{Result: r.withoutOutputs()}).blobs}
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(going), Digest.Compare) {
		text, err := s.Records.Get(ctx, ReleasedName(key))
		if err != nil && !errors.Is(err, ErrNotExist) {
			return nil, err
		}
		var m Released
		if err != nil || json.Unmarshal(text, &m) != nil || m.Format != ReleasedFormat || m.Bytes > 0 {
			return going, nil
		}
	}
	return nil, nil
}

// settle removes from going the results whose keys a root names, and adds the same work under other keys,
// as of a source before it was pinned.
func (freed *Freed) settle(c *contents, going map[Digest]*leaving, wanted map[Digest]string) {
	roots := map[Digest]string{} // to their last names
	for _, name := range slices.Sorted(maps.Keys(c.said)) {
		if kindOf(name).text == rooted {
			for d := range c.said[name].names {
				roots[d] = name
			}
		}
	}
	works := map[string]*leaving{}
	for key, r := range going {
		if by := roots[key]; by != "" {
			delete(going, key)
			freed.hold(by + " names their results")
		} else {
			works[r.step+r.finished.String()] = r
		}
	}
	for key, h := range c.results {
		r := works[h.step+h.finished.String()]
		if r != nil && roots[key] == "" && wanted[key] == "" && slices.Equal(h.blobs, r.blobs) {
			going[key] = r
		}
	}
}

// neededBeside returns the blobs that anything names besides the outputs of the results in going.
func (c *contents) neededBeside(going map[Digest]*leaving) map[Digest]bool {
	needed := map[Digest]bool{}
	for key, h := range c.results {
		blobs := h.blobs
		if r := going[key]; r != nil {
			blobs = r.beside
		}
		for _, d := range blobs {
			needed[d] = true
		}
	}
	for name, says := range c.said {
		if key, ok := isAbout(name); !ok || going[key] == nil {
			maps.Copy(needed, says.names)
		}
	}
	return needed
}
