package artifacts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/redsi/redsi/internal/system/readers"
)

// CheckOptions are the options of Check.
type CheckOptions struct {
	// Repair deletes what is damaged and what needs it, so that the next run computes exactly that:
	// blobs, results, checkpoints, signatures, and runs and pins whose list of results is lost, which
	// keep nothing any more. It moves strays aside. Without it Check changes nothing.
	Repair bool
	Tell   Tell

	// Sample is the share of blobs that are read, picked at random by Seed; 0 is all. Check finds a
	// result that lacks a blob without reading blobs.
	Sample float64
	Seed   uint64
}

// Report is what Check found.
type Report struct {
	Results  int
	Blobs    int
	Read     int       // blobs
	Bytes    int64     // read
	Problems []Problem // by name; empty for a sound store
	Released int       // results whose outputs have left the store on purpose

	// Elsewhere are blobs that results need, that the store lacks, and whose addresses records name,
	// by digest. Nothing was asked there.
	Elsewhere []Elsewhere

	// Strays are in nobody's way; a stray in the place of a blob or a record is a problem.
	Strays []FoundStray
}

// FoundStray is a stray and where it was moved to; "" if it was not.
type FoundStray struct {
	Stray
	Aside string
}

func (f FoundStray) String() string {
	if f.Aside != "" {
		return f.Stray.String() + " (moved to " + f.Aside + ")"
	}
	return f.Stray.String()
}

// Problem is one thing that is wrong in a store.
type Problem struct {
	Record   string // its name, or empty
	Blob     Digest // or zero
	Err      error
	Repaired bool   // deleted, or moved aside
	Aside    string // where it was moved to
}

func (p Problem) String() string {
	what := p.Record
	if what == "" && !p.Blob.IsZero() {
		what = "blob " + p.Blob.String()
	}
	fixed := ""
	switch {
	case p.Aside != "":
		fixed = " (moved to " + p.Aside + ")"
	case p.Repaired:
		fixed = " (deleted)"
	}
	msg := p.Err.Error()
	if what != "" && !strings.HasPrefix(msg, what) { // most errors of a store name it
		msg = what + ": " + msg
	}
	return msg + fixed
}

// Check checks every blob against its digest, and every result against its seal and its blobs, reads
// every other record, and lists whatever else is in the store's folders. What cannot be read is a
// problem like any other; only a store that cannot be listed ends the check. A result in an unknown
// format, and a blob or record that the store fails to read, are reported and never deleted.
func Check(ctx context.Context, s Store, o CheckOptions) (Report, error) {
	c := &check{s: s, o: o, corrupt: map[Digest]bool{}, away: map[Digest]Elsewhere{}}
	if err := c.all(ctx); err != nil {
		return Report{}, fmt.Errorf("check the store: %w", err)
	}
	slices.SortFunc(c.r.Problems, func(a, b Problem) int { return strings.Compare(a.String(), b.String()) })
	c.r.Elsewhere = slices.SortedFunc(maps.Values(c.away), func(a, b Elsewhere) int { return a.Digest.Compare(b.Digest) })
	return c.r, nil
}

// checkers is how many blobs are read at a time.
const checkers = 4

// check is a Check at work.
type check struct {
	s Store
	o CheckOptions

	mu      sync.Mutex // while blobs are read
	r       Report
	corrupt map[Digest]bool // blobs whose bytes are wrong
	away    map[Digest]Elsewhere
}

func (c *check) all(ctx context.Context) error {
	for _, half := range []any{c.s.Blobs, c.s.Records} {
		if err := c.strays(ctx, half); err != nil {
			return err
		}
	}
	if err := c.blobs(ctx); err != nil {
		return err
	}
	names, err := RecordNames(ctx, c.s.Records, "")
	if err != nil {
		return err
	}
	var keys []Digest
	var others []string
	for _, name := range names {
		hex, is := strings.CutPrefix(name, ResultsPrefix)
		if !is {
			others = append(others, name)
		} else if key, err := ParseHex(hex); err == nil {
			keys = append(keys, key)
		} else {
			c.nameless(ctx, name, err)
		}
	}
	c.r.Results = len(keys)
	add := c.o.Tell.of("checking results", int64(len(keys)), "results")
	for some := range slices.Chunk(keys, inspectMost) {
		if err := c.results(ctx, some); err != nil {
			return err
		}
		add(int64(len(some)))
	}
	return c.others(ctx, others)
}

func (c *check) blobs(ctx context.Context) error {
	there, err := listBlobs(ctx, c.s.Blobs, c.o.Tell)
	if err != nil {
		return err
	}
	c.r.Blobs = len(there)
	if c.o.Sample > 0 {
		slices.SortFunc(there, func(a, b BlobInfo) int { return a.Digest.Compare(b.Digest) })
		rand.New(rand.NewPCG(c.o.Seed, 0)).Shuffle(len(there), func(i, j int) { there[i], there[j] = there[j], there[i] })
		there = there[:int(math.Ceil(c.o.Sample*float64(len(there))))]
	}
	read := c.o.Tell.of("checking blobs", sizeOf(slices.Values(there)), "bytes")
	return each(ctx, len(there), checkers, func(ctx context.Context, i int) error { return c.blob(ctx, there[i], read) })
}

func sizeOf(blobs iter.Seq[BlobInfo]) (bytes int64) {
	for b := range blobs {
		bytes += b.Size
	}
	return bytes
}

// listBlobs returns all blobs, in no set order.
func listBlobs(ctx context.Context, blobs Blobs, tell Tell) (there []BlobInfo, err error) {
	add := tell.of("listing blobs", 0, "blobs")
	for info, err := range blobs.List(ctx) {
		if err != nil {
			return nil, err
		}
		there = append(there, info)
		add(1)
	}
	return there, nil
}

func (c *check) blob(ctx context.Context, info BlobInfo, read func(n int64)) error {
	bad, err := corruptThere(ctx, c.s.Blobs, info.Digest, read)
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	p := Problem{Blob: info.Digest, Err: err}
	if bad != nil {
		if p.Err = bad; c.o.Repair {
			err := c.s.Blobs.Delete(ctx, info.Digest)
			p.Repaired = err == nil
			p.Err = errors.Join(p.Err, err)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.r.Read++
	c.r.Bytes += info.Size
	if p.Err != nil && !errors.Is(p.Err, ErrNotExist) { // deleted meanwhile
		c.r.Problems = append(c.r.Problems, p)
	}
	if bad != nil {
		c.corrupt[info.Digest] = true
	}
	return nil
}

// results checks the results of keys. If they cannot be read together they are read one by one, so that
// an unreadable result hides no other.
func (c *check) results(ctx context.Context, keys []Digest) error {
	entries, err := Inspect(ctx, Alone(c.s), keys)
	switch {
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case err != nil && len(keys) == 1:
		c.record(ctx, ResultName(keys[0]), err, is[*DamageError](err))
		return nil
	case err != nil:
		for _, key := range keys {
			if err := c.results(ctx, []Digest{key}); err != nil {
				return err
			}
		}
		return nil
	}
	for _, key := range keys {
		e := entries[key]
		if e.Result == nil && e.Damage == nil {
			continue // deleted meanwhile
		}
		problem, err := c.resultDamage(ctx, e)
		if err = errors.Join(problem, err); err != nil {
			c.record(ctx, ResultName(key), err, problem != nil && e.unknown() == nil)
		}
	}
	return nil
}

// resultDamage says why a result cannot be used; err, why that could not be found out.
func (c *check) resultDamage(ctx context.Context, e Entry) (problem, err error) {
	if e.Lost, err = lostForGood(ctx, c.s.Records, e.Lost, c.away); err != nil {
		return nil, err
	}
	switch {
	case e.Result != nil && e.Result.Released:
		c.r.Released++
		return nil, nil
	case len(e.Lost) > 0:
		return errors.New(e.Miss()), nil
	case e.Result == nil:
		return e.Damage, nil
	}
	for _, b := range e.Result.blobs() {
		if _, linked := c.away[b.Digest]; c.corrupt[b.Digest] && !linked {
			return fmt.Errorf("%s is corrupt", b), nil
		}
	}
	return nil, nil
}

// others reads every record that is not a result. Checkpoints that are damaged or name a corrupt blob can
// go: the step then resumes from the checkpoint before.
func (c *check) others(ctx context.Context, names []string) error {
	add := c.o.Tell.of("checking records", int64(len(names)), "records")
	for _, name := range names {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		add(1)
		text, err := c.s.Records.Get(ctx, name)
		if errors.Is(err, ErrNotExist) {
			continue // deleted meanwhile
		}
		var problem error
		if err == nil {
			problem, err = c.otherDamage(ctx, name, text)
		}
		if err = errors.Join(problem, err); err != nil {
			c.record(ctx, name, err, problem != nil)
		}
	}
	return nil
}

// otherDamage says what is wrong with a record, which can go then; err, why it or its body cannot be read.
func (c *check) otherDamage(ctx context.Context, name string, text []byte) (problem, err error) {
	if key, ok := keyOf(name, SignaturesPrefix); ok {
		return signatureDamage(ctx, c.s, key, name, text)
	}
	if strings.HasPrefix(name, ckptPrefix) {
		return checkpointDamage(name, text, c.corrupt), nil
	}
	if runOf(name) != "" && !json.Valid(text) {
		return errors.New("it is not JSON, so nobody can say what that run did"), nil
	}
	said, err := saidBy(ctx, c.s.Blobs, name, text)
	if errors.Is(said.lost, ErrNotExist) {
		return said.lost, nil
	}
	return nil, cmp.Or(err, said.lost)
}

// signatureDamage says what is wrong with a signature: it is none, or of another record than the result
// has. Without a result nothing is wrong with it.
func signatureDamage(ctx context.Context, s Store, key Digest, name string, doc []byte) (problem, err error) {
	record, err := s.Records.Get(ctx, ResultName(key))
	if errors.Is(err, ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	by, problem := signerOf(key, record, name, doc)
	if problem != nil && !by.IsZero() {
		problem = fmt.Errorf("signed by %s: %w", by.Name, problem)
	}
	return problem, nil
}

// strays files what is among a store's blobs or records besides these.
func (c *check) strays(ctx context.Context, half any) error {
	o, folder, ok := tidied(half)
	if !ok {
		return nil
	}
	var found []Stray // first: a store is not changed while it is listed
	for s, err := range o.strays(ctx, folder) {
		if err != nil {
			return err
		}
		found = append(found, s)
	}
	for _, s := range found {
		var aside string
		var err error
		if c.o.Repair {
			aside, err = o.setAside(ctx, s)
		}
		if s.Place == "" && err == nil {
			c.r.Strays = append(c.r.Strays, FoundStray{s, aside})
			continue
		}
		c.r.Problems = append(c.r.Problems, Problem{Err: errors.Join(errors.New(s.String()), err), Repaired: aside != "", Aside: aside})
	}
	return nil
}

// nameless files a record under results/ whose name is not a key. No look-up finds it, so it can go,
// unless its format is a newer redsi's.
func (c *check) nameless(ctx context.Context, name string, problem error) {
	text, err := c.s.Records.Get(ctx, name)
	if errors.Is(err, ErrNotExist) {
		return
	}
	problem = errors.Join(fmt.Errorf("the name is not a key, so no look-up finds it: %w", problem), err)
	_, damage := decodeResult(Digest{}, text)
	c.record(ctx, name, problem, err == nil && !is[*FormatError](damage))
}

// record files a problem of a record, which Repair deletes if it can go.
func (c *check) record(ctx context.Context, name string, problem error, canGo bool) {
	p := Problem{Record: name, Err: problem}
	if canGo && c.o.Repair {
		err := c.s.Records.Delete(ctx, name)
		if key, ok := keyOf(name, ResultsPrefix); ok && name == ResultName(key) {
			err = DropResult(ctx, c.s, key)
		}
		p.Repaired = err == nil
		p.Err = errors.Join(p.Err, err)
	}
	c.r.Problems = append(c.r.Problems, p)
}

// DropCorrupt reads d and deletes it if its bytes are wrong in the store, so that every result that names
// it is a miss and its producer is run again. Call it after an IntegrityError. A blob whose bytes are
// changed on the way stays.
func DropCorrupt(ctx context.Context, s Store, d Digest) (dropped bool, err error) {
	switch bad, err := corruptThere(ctx, s.Blobs, d, nil); {
	case errors.Is(err, ErrNotExist), err == nil && bad == nil, is[*changedError](err):
		return false, nil
	case err != nil:
		return false, err
	}
	if err := s.Blobs.Delete(ctx, d); err != nil {
		return false, fmt.Errorf("delete corrupt blob %s: %w", d, err)
	}
	return true, nil
}

// changedError says that readings of a blob gave different wrong bytes.
type changedError struct{ *IntegrityError }

func (e *changedError) Error() string {
	return e.IntegrityError.Error() + "; another reading gave other bytes, so they are changed on the way: check the network and the machine's memory"
}

// certainty is in how many bits readings must agree to show that bytes are wrong in the store, and not changed on the
// way.
const certainty = 32

// corruptThere reads d until it is certain whether its bytes are wrong in the store; one right reading shows that
// they are not. It reads a blob of two bytes, in which the same bit may be changed twice by chance, nine times, and a
// large one twice.
func corruptThere(ctx context.Context, blobs BlobReader, d Digest, read func(n int64)) (bad *IntegrityError, err error) {
	for agreed := 0.0; agreed < certainty; {
		err := readThrough(ctx, blobs, d, read)
		read = nil // each byte counts once
		now, is := errors.AsType[*IntegrityError](err)
		switch {
		case !is:
			return nil, err
		case bad != nil && (now.Got != bad.Got || now.Size != bad.Size):
			return nil, &changedError{now}
		case bad != nil:
			agreed += math.Log2(float64(8*now.Size + 2))
		}
		bad = now
	}
	return bad, nil
}

func readThrough(ctx context.Context, blobs BlobReader, d Digest, read func(n int64)) error {
	rc, err := blobs.Open(ctx, d)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, readers.Pieces(rc, read))
	return errors.Join(err, rc.Close())
}
