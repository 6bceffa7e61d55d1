package artifacts

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/system/lists"
)

// DefaultGrace is how long everything is kept since it was put, as nothing names the blobs of a
// running step yet.
const DefaultGrace = 48 * time.Hour

// GCOptions say what Collect keeps.
type GCOptions struct {
	Grace  time.Duration // keep what is younger; 0 is DefaultGrace
	Free   int64         // stop when that many bytes are freed; 0 is never
	Max    int64         // stop when blobs take no more bytes than that; 0 is never
	DryRun bool          // delete nothing
	Forget []string      // ids of runs without a record, which keep nothing any more
	Now    time.Time     // zero is time.Now()
	Tell   Tell

	// KeepRuns and KeepWithin say which runs keep their results, beside pinned runs: the KeepRuns newest
	// of each pipeline of a project, and those whose record is younger than KeepWithin. Both 0: all runs.
	KeepRuns   int
	KeepWithin time.Duration
}

// Garbage is what Collect deleted or, in a dry run, would delete.
type Garbage struct {
	Results []DeadResult // as they are chosen: cheapest to rebuild per byte first
	Records []RecordInfo // old checkpoints and the like
	Leases  []RecordInfo // of keys whose leases nobody has renewed for leaseAge
	Blobs   []BlobInfo
	Bytes   int64     // of Blobs
	Kept    int64     // bytes of blobs that stay
	Open    []OpenRun // runs in progress, or killed: what is younger than the oldest of them stays
}

// OpenRun is a run that has begun and not written its record.
type OpenRun struct {
	RunID string
	Since time.Time
}

// openRunAge is how long a run without a record keeps what is younger than itself.
const openRunAge = 30 * 24 * time.Hour

// leaseAge is how long a lease stays after its last renewal. It counts for a minute, and clocks of
// machines differ by less than a day.
const leaseAge = 24 * time.Hour

// DeadResult is a result that nothing names.
type DeadResult struct {
	Key      Digest
	Step     string        // that left it
	Took     time.Duration // what it costs to rebuild
	Finished time.Time
	Bytes    int64 // freed with it, after the results before it
	Damage   error // why it cannot be read, and is of no use anyway
}

// Collect deletes what no root names. Roots are the records of all kinds but the weak and bare ones
// (see kinds): runs, pins, and any kind that a later redsi adds. A root keeps every result and blob
// whose digest stands anywhere in its text, so that no field of any record, now or later, can be
// overlooked. If a root's text is too long for a record, its member "body" is the digest of a blob,
// and that blob's text counts, too. A checkpoint stays while a root names its key and the key has no
// result; a step's failure, as long as its run; a record about a key, as long as the key's result or,
// without one, while a root names the key. The withdrawal of an acceptance stays for good.
//
// A run that has begun and not written its record, "runs-open/<id>", keeps all that was put since
// then, until it writes its record, for openRunAge at most.
//
// Records go first and blobs last, so that a kill in between leaves garbage and no result without its
// blobs. A run that begins meanwhile and finds a result that Collect is about to delete loses a hit,
// never its correctness: reads fail, and the producer is run again.
//
// A result in an unknown format stops Collect before it deletes anything: nobody knows its blobs.
func Collect(ctx context.Context, s Store, o GCOptions) (Garbage, error) {
	o.Grace = cmp.Or(o.Grace, DefaultGrace)
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	m, err := survey(ctx, s, o.Tell)
	if err != nil {
		return Garbage{}, fmt.Errorf("garbage collection: %w", err)
	}
	for _, id := range o.Forget {
		if _, ok := m.said[OpenRunPrefix+id]; !ok {
			return Garbage{}, fmt.Errorf("there is no run %q without a record", id)
		}
	}
	if o.Max > 0 {
		total := sizeOf(maps.Values(m.blobs))
		if total <= o.Max {
			return Garbage{Kept: total}, nil
		}
		if over := total - o.Max; o.Free == 0 || over < o.Free {
			o.Free = over
		}
	}
	dropped := m.droppedRuns(o)
	if err := m.lost(dropped); err != nil {
		return Garbage{}, fmt.Errorf("garbage collection: %w", err)
	}
	g := m.garbage(o, dropped)
	held := map[string]bool{} // by key: a lease of any generation was renewed
	key := func(r RecordInfo) string { return strings.TrimSuffix(r.Name, path.Ext(r.Name)) }
	for r, err := range s.Leases.List(ctx, "") {
		if err != nil {
			return Garbage{}, fmt.Errorf("garbage collection: %w", err)
		}
		g.Leases = append(g.Leases, r)
		held[key(r)] = held[key(r)] || !r.ModTime.Before(o.Now.Add(-leaseAge))
	}
	g.Leases = slices.DeleteFunc(g.Leases, func(r RecordInfo) bool { return held[key(r)] })
	if o.DryRun {
		return g, nil
	}
	if err := sweep(ctx, s, g, o.Tell); err != nil {
		return Garbage{}, fmt.Errorf("garbage collection: %w", err)
	}
	return g, nil
}

// garbage marks from the roots and returns the rest. The record of a dropped run stays, and so do the
// blobs that it names, such as its plan and its list of steps.
func (c *contents) garbage(o GCOptions, dropped map[string]bool) Garbage {
	c.open = func(r RecordInfo, id string) bool {
		return o.Now.Sub(r.ModTime) < openRunAge && !slices.Contains(o.Forget, id)
	}
	open := c.openRuns()
	c.young = func(t time.Time) bool {
		return o.Now.Sub(t) < o.Grace || len(open) > 0 && !t.Before(open[0].Since)
	}
	c.roots, c.kept, c.ages, c.dropped, c.freeing = map[Digest]bool{}, map[Digest]bool{}, map[string]time.Time{}, dropped, o.Free != 0
	for _, r := range c.records {
		c.ages[r.Name] = r.ModTime
		if kindOf(r.Name).text == rooted {
			maps.Copy(c.kept, c.said[r.Name].names)
			if !dropped[runOf(r.Name)] {
				maps.Copy(c.roots, c.said[r.Name].names)
			}
		}
	}
	about := map[Digest][]RecordInfo{} // results, by key
	rest := map[string][]RecordInfo{}  // by the prefix of their kind
	for _, r := range c.records {
		key, ok := isAbout(r.Name)
		h, has := c.results[key]
		switch {
		case c.withdrawn(r.Name):
		case ok && has: // it goes with the result, and so does what it names
			h.blobs = slices.AppendSeq(h.blobs, maps.Keys(c.said[r.Name].names))
			slices.SortFunc(h.blobs, Digest.Compare)
			h.blobs = slices.Compact(h.blobs)
			c.results[key] = h
			about[key] = append(about[key], r)
		default:
			prefix := kindOf(r.Name).prefix
			rest[prefix] = append(rest[prefix], r)
		}
	}
	var dead []dying
	for key, h := range c.results {
		if !c.live(key) {
			dead = append(dead, dying{held: h, key: key})
			continue
		}
		for _, d := range h.blobs {
			c.kept[d] = true
		}
	}
	for d, b := range c.blobs {
		if c.young(b.ModTime) {
			c.kept[d] = true
		}
	}
	g := Garbage{Open: open}
	for _, k := range kinds {
		for _, r := range rest[k.prefix] {
			switch {
			case k.stays == nil:
			case k.stays(c, r, strings.TrimPrefix(r.Name, k.prefix)):
				maps.Copy(c.kept, c.said[r.Name].names)
			default:
				g.Records = append(g.Records, r)
			}
		}
	}
	c.choose(&g, dead, o.Free)
	for _, r := range g.Results {
		g.Records = append(g.Records, about[r.Key]...)
	}
	return g
}

// openRuns lists the open runs that count, oldest first.
func (c *contents) openRuns() (open []OpenRun) {
	for _, r := range c.records {
		if id, ok := strings.CutPrefix(r.Name, OpenRunPrefix); ok && c.open(r, id) {
			open = append(open, OpenRun{id, r.ModTime})
		}
	}
	slices.SortFunc(open, func(a, b OpenRun) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.RunID, b.RunID))
	})
	return open
}

// droppedRuns returns the runs that neither an option nor a pin keeps.
func (c *contents) droppedRuns(o GCOptions) map[string]bool {
	dropped := map[string]bool{}
	if o.KeepRuns == 0 && o.KeepWithin == 0 {
		return dropped
	}
	runs := slices.DeleteFunc(slices.Clone(c.records), func(r RecordInfo) bool { return runOf(r.Name) == "" })
	slices.SortFunc(runs, func(a, b RecordInfo) int {
		return cmp.Or(b.ModTime.Compare(a.ModTime), cmp.Compare(a.Name, b.Name))
	})
	seen := map[string]int{}
	for _, r := range runs {
		study := c.said[r.Name].study
		if seen[study]++; seen[study] > o.KeepRuns && (o.KeepWithin == 0 || o.Now.Sub(r.ModTime) >= o.KeepWithin) {
			dropped[runOf(r.Name)] = true
		}
	}
	for name, said := range c.said {
		if strings.HasPrefix(name, PinsPrefix) {
			delete(dropped, said.keepsRun)
		}
	}
	return dropped
}

// dying is a result that may go.
type dying struct {
	held
	key   Digest
	own   []Digest // blobs that no result has which stays
	price float64  // seconds per byte
}

// choose fills in which dead results and blobs go: blobs that no result names, then results by
// price, until free bytes are freed.
func (c *contents) choose(g *Garbage, dead []dying, free int64) {
	users := map[Digest]int{} // results, still there, that name a blob
	for i := range dead {
		h := &dead[i]
		var bytes int64
		for _, d := range h.blobs {
			if info, ok := c.blobs[d]; ok && !c.kept[d] {
				h.own = append(h.own, d)
				users[d]++
				bytes += info.Size
			}
		}
		h.price = h.took.Seconds() / float64(max(bytes, 1))
	}
	drop := func(d Digest) int64 {
		g.Blobs = append(g.Blobs, c.blobs[d])
		g.Bytes += c.blobs[d].Size
		return c.blobs[d].Size
	}
	for _, d := range slices.SortedFunc(maps.Keys(c.blobs), Digest.Compare) {
		info := c.blobs[d]
		switch {
		case !c.kept[d] && users[d] > 0:
		case !c.kept[d] && (free == 0 || g.Bytes < free):
			drop(d)
		default:
			g.Kept += info.Size
		}
	}
	slices.SortFunc(dead, func(a, b dying) int { return cmp.Or(cmp.Compare(a.price, b.price), a.key.Compare(b.key)) })
	for _, h := range dead {
		if free > 0 && g.Bytes >= free {
			for _, d := range h.own {
				if users[d] > 0 {
					g.Kept += c.blobs[d].Size
					users[d] = 0
				}
			}
			continue
		}
		r := DeadResult{Key: h.key, Step: h.step, Took: h.took, Finished: h.finished, Damage: h.damage}
		for _, d := range h.own {
			if users[d]--; users[d] == 0 {
				r.Bytes += drop(d)
			}
		}
		g.Results = append(g.Results, r)
	}
	slices.SortFunc(g.Blobs, func(a, b BlobInfo) int { return a.Digest.Compare(b.Digest) })
}

// sweep deletes g: records, in no set order, then blobs.
func sweep(ctx context.Context, s Store, g Garbage, tell Tell) error {
	names := lists.Map(g.Results, func(r DeadResult) string { return ResultName(r.Key) })
	names = append(names, lists.Map(g.Records, func(r RecordInfo) string { return r.Name })...)
	add := tell.of("deleting", int64(len(names)+len(g.Leases)+len(g.Blobs)), "records and blobs")
	all := func(n int, drop func(ctx context.Context, i int) error) error {
		return each(ctx, n, parallel, func(ctx context.Context, i int) error {
			defer add(1)
			return drop(ctx, i)
		})
	}
	if err := all(len(names), func(ctx context.Context, i int) error { return s.Records.Delete(ctx, names[i]) }); err != nil {
		return err
	}
	if err := all(len(g.Leases), func(ctx context.Context, i int) error { return s.Leases.Delete(ctx, g.Leases[i].Name) }); err != nil {
		return err
	}
	return all(len(g.Blobs), func(ctx context.Context, i int) error { return s.Blobs.Delete(ctx, g.Blobs[i].Digest) })
}
