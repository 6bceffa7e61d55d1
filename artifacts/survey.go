package artifacts

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/redsi/redsi/internal/system/lists"
)

func heldBy(e Entry) held {
	h := held{hit: e.Hit(), damage: e.Damage}
	if r := e.Result; r != nil {
		if r.Released {
			r = r.withoutOutputs()
		}
		h.step, h.took, h.finished = r.Origin.Step, r.Took, r.Finished
		h.blobs = r.needs()
		for _, f := range r.aside() {
			h.blobs = append(h.blobs, f.Digest)
		}
		slices.SortFunc(h.blobs, Digest.Compare)
		h.blobs = slices.Clip(slices.Compact(h.blobs))
	}
	return h
}

func survey(ctx context.Context, s Store, tell Tell) (*contents, error) {
	// Blobs before records: a blob that is put and named meanwhile is not seen, and so not deleted.
	there, err := listBlobs(ctx, s.Blobs, tell)
	if err != nil {
		return nil, err
	}
	c := &contents{blobs: lists.By(there, func(b BlobInfo) Digest { return b.Digest }), tell: tell}
	return c, c.read(ctx, s, nil)
}

// read fills in what records say, except for the texts that skip, which may be nil, reports.
func (c *contents) read(ctx context.Context, s Store, skip func(name string, text []byte) bool) error {
	var keys []Digest
	var others []string
	for r, err := range s.Records.List(ctx, "") {
		if err != nil {
			return err
		}
		c.records = append(c.records, r)
		if hex, ok := strings.CutPrefix(r.Name, ResultsPrefix); ok {
			if key, err := ParseHex(hex); err == nil {
				keys = append(keys, key)
			}
			continue
		}
		if kindOf(r.Name).text != bare {
			others = append(others, r.Name)
		}
	}
	c.results = make(map[Digest]held, len(keys))
	if err := c.add(ctx, s, keys); err != nil {
		return err
	}
	texts := make([]said, len(others))
	add := c.tell.of("reading records", int64(len(others)), "records")
	if err := each(ctx, len(others), parallel, func(ctx context.Context, i int) error {
		defer add(1)
		b, err := s.Records.Get(ctx, others[i])
		if err != nil && !errors.Is(err, ErrNotExist) { // deleted meanwhile
			return err
		}
		if skip == nil || !skip(others[i], b) {
			texts[i], err = saidBy(ctx, s.Blobs, others[i], b)
		}
		return err
	}); err != nil {
		return err
	}
	c.said = make(map[string]said, len(others))
	for i, name := range others {
		c.said[name] = texts[i]
	}
	return nil
}

// readSince adds the results that have been filed since read.
func (c *contents) readSince(ctx context.Context, s Store) error {
	keys, err := ResultKeys(ctx, s.Records)
	if err != nil {
		return err
	}
	return c.add(ctx, s, slices.DeleteFunc(keys, func(key Digest) bool { _, have := c.results[key]; return have }))
}

// add reads results.
func (c *contents) add(ctx context.Context, s Store, keys []Digest) error {
	add := c.tell.of("reading results", int64(len(keys)), "results")
	for some := range slices.Chunk(keys, inspectMost) {
		entries, err := Inspect(ctx, linked(s.Reader()), some)
		if err != nil {
			return err
		}
		for key, e := range entries {
			if err := e.unknown(); err != nil {
				return err
			}
			c.results[key] = heldBy(e)
		}
		add(int64(len(some)))
	}
	return nil
}

// digestsIn returns every run of exactly 64 hex digits in text.
func digestsIn(text []byte) map[Digest]bool {
	found := map[Digest]bool{}
	for run := range bytes.FieldsFuncSeq(text, func(c rune) bool { return (c < '0' || c > '9') && (c < 'a' || c > 'f') }) {
		if len(run) != 2*len(Digest{}) {
			continue
		}
		if d, err := ParseHex(string(run)); err == nil {
			found[d] = true
		}
	}
	return found
}

// saidBy reads the body of a record with this text. err says that the store could not answer.
func saidBy(ctx context.Context, blobs BlobReader, name string, text []byte) (said, error) {
	found := said{names: digestsIn(text)}
	var head struct {
		Project  string  `json:"project"`
		Pipeline string  `json:"pipeline"`
		KeepsRun string  `json:"keeps_run"`
		Body     *Digest `json:"body"`
	}
	if json.Unmarshal(text, &head) != nil {
		return found, nil
	}
	found.study, found.keepsRun = head.Project+"\n"+head.Pipeline, head.KeepsRun
	if head.Body == nil || head.Body.IsZero() {
		return found, nil
	}
	body, err := ReadBlob(ctx, blobs, *head.Body, AnySize)
	if err != nil {
		err = fmt.Errorf("%s: its list of what it keeps: %w", name, err)
		if IsLost(err) {
			found.lost, err = err, nil
		}
		return found, err
	}
	maps.Copy(found.names, digestsIn(body))
	return found, nil
}

// lost returns an error if the body of a record, other than of the given runs, cannot be read.
func (c *contents) lost(runs map[string]bool) error {
	for _, name := range slices.Sorted(maps.Keys(c.said)) {
		if err := c.said[name].lost; err != nil && !runs[runOf(name)] {
			return fmt.Errorf("%w; nothing was deleted: put that blob back, or remove the record with redsi verify --repair", err)
		}
	}
	return nil
}

// Tell is told how far upkeep is, from several goroutines: done of total in that unit; total 0 is unknown.
// It may be nil.
type Tell func(what string, done, total int64, unit string)

// of tells that some work begins, and returns what adds to the work done.
func (t Tell) of(what string, total int64, unit string) (add func(n int64)) {
	if t == nil {
		return func(int64) {}
	}
	var done atomic.Int64
	t(what, 0, total, unit)
	return func(n int64) { t(what, done.Add(n), total, unit) }
}

// Usage is how many of a store's bytes the results of one group have.
type Usage struct {
	Name    string `json:"name"`
	Results int    `json:"results"`
	Bytes   int64  `json:"bytes"`      // of all blobs that they name, each once
	Only    int64  `json:"only_bytes"` // of the blobs that no result of another group names
}

// UsageBy returns the groups of a result, by the step that left it and the runs that name it.
type UsageBy func(step string, runs []string) []string

// Usages returns the usage of each group, the largest first, and of the store: all.Only is the bytes that
// no result names, such as plans and logs of runs.
func Usages(ctx context.Context, s Store, by UsageBy, tell Tell) (groups []Usage, all Usage, err error) {
	c, err := survey(ctx, s, tell)
	if err != nil {
		return nil, all, err
	}
	runs := map[Digest][]string{}
	for name, said := range c.said {
		if run := runOf(name); run != "" {
			for key := range said.names {
				if _, is := c.results[key]; is {
					runs[key] = append(runs[key], run)
				}
			}
		}
	}
	of := map[string]*Usage{}
	users := map[Digest]map[string]bool{} // groups, by blob
	for key, h := range c.results {
		for _, name := range by(h.step, runs[key]) {
			if of[name] == nil {
				of[name] = &Usage{Name: name}
			}
			of[name].Results++
			for _, d := range h.blobs {
				if users[d] == nil {
					users[d] = map[string]bool{}
				}
				users[d][name] = true
			}
		}
	}
	all.Results, all.Bytes = len(c.results), sizeOf(maps.Values(c.blobs))
	for d, info := range c.blobs {
		for name := range users[d] {
			of[name].Bytes += info.Size
			if len(users[d]) == 1 {
				of[name].Only += info.Size
			}
		}
		if users[d] == nil {
			all.Only += info.Size
		}
	}
	for u := range maps.Values(of) {
		groups = append(groups, *u)
	}
	slices.SortFunc(groups, func(a, b Usage) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.Name, b.Name))
	})
	return groups, all, nil
}
