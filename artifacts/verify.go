package artifacts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

// CheckOptions say how Check goes about it.
type CheckOptions struct {
	// Repair deletes corrupt blobs, results that are damaged or lack a blob, signatures
	// that are damaged or of another record than the one that is there, and checkpoints that are damaged or name a corrupt blob, so that the next run
	// rebuilds exactly those; strays are moved aside. Without it Check changes nothing.
	Repair bool
	// Workers is how many blobs are read at a time; 0 is 4.
	Workers int
	// Progress, if set, is called with how much has been read, from several goroutines.
	Progress func(blobs int, bytes int64)
}

// Report is what Check found.
type Report struct {
	Results  int
	Blobs    int
	Bytes    int64
	Problems []Problem // by name; empty for a sound store

	// Elsewhere are blobs that results need and the store lacks, of which records say where
	// they lie, by digest. Nobody was asked there.
	Elsewhere []Elsewhere

	// Strays are what is among blobs and records and in nobody's way; what is in the
	// place of a blob or a record is a problem.
	Strays []FoundStray
}

// FoundStray is a stray and where it was moved to, empty if it was not.
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
	if what != "" && !strings.HasPrefix(msg, what) { // most errors of a store say what they are about
		msg = what + ": " + msg
	}
	return msg + fixed
}

// Check reads every blob against its digest and every result against its seal
// and its blobs; every other record is read, and what is in the store's folders
// besides is named. What cannot be read is a problem like any other and does not
// end the check; only a store that cannot be listed does. A result in an unknown
// format, and a blob or record that the store fails to read, are reported and never
// deleted.
func Check(ctx context.Context, s Store, o CheckOptions) (Report, error) {
	s = s.bare()
	if o.Workers == 0 {
		o.Workers = 4
	}
	var r Report
	for _, half := range []any{s.Blobs, s.Records} {
		if err := r.strays(ctx, half, o.Repair); err != nil {
			return Report{}, fmt.Errorf("check the store: %w", err)
		}
	}
	corrupt, err := checkBlobs(ctx, s.Blobs, o, &r)
	if err != nil {
		return Report{}, fmt.Errorf("check the store: %w", err)
	}
	if err := checkResults(ctx, s, o, corrupt, &r); err != nil {
		return Report{}, fmt.Errorf("check the store: %w", err)
	}
	if err := checkOthers(ctx, s, o, corrupt, &r); err != nil {
		return Report{}, fmt.Errorf("check the store: %w", err)
	}
	slices.SortFunc(r.Problems, func(a, b Problem) int { return strings.Compare(a.String(), b.String()) })
	return r, nil
}

// checkBlobs returns the blobs whose bytes are wrong.
func checkBlobs(ctx context.Context, blobs Blobs, o CheckOptions, r *Report) (map[Digest]bool, error) {
	var mu sync.Mutex
	corrupt := map[Digest]bool{}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(o.Workers)
	var listErr error
	for info, err := range blobs.List(ctx) {
		if err != nil {
			listErr = err
			break
		}
		g.Go(func() error {
			err := readThrough(gctx, blobs, info.Digest)
			if cause := context.Cause(gctx); cause != nil {
				return cause
			}
			p := Problem{Blob: info.Digest, Err: err}
			var bad *IntegrityError
			if errors.As(err, &bad) && o.Repair {
				err := blobs.Delete(gctx, info.Digest)
				p.Repaired = err == nil
				p.Err = errors.Join(p.Err, err)
			}
			mu.Lock()
			defer mu.Unlock()
			r.Blobs++
			r.Bytes += info.Size
			if p.Err != nil && !errors.Is(p.Err, ErrNotExist) { // deleted meanwhile
				r.Problems = append(r.Problems, p)
			}
			if bad != nil {
				corrupt[info.Digest] = true
			}
			if o.Progress != nil {
				o.Progress(r.Blobs, r.Bytes)
			}
			return nil
		})
	}
	return corrupt, errors.Join(listErr, g.Wait())
}

func readThrough(ctx context.Context, blobs Blobs, d Digest) error {
	rc, err := blobs.Open(ctx, d)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, rc)
	return errors.Join(err, rc.Close())
}

func checkResults(ctx context.Context, s Store, o CheckOptions, corrupt map[Digest]bool, r *Report) error {
	var keys []Digest
	for info, err := range s.Records.List(ctx, ResultsPrefix) {
		if err != nil {
			return err
		}
		key, err := ParseHex(strings.TrimPrefix(info.Name, ResultsPrefix))
		if err != nil {
			r.nameless(ctx, s.Records, info.Name, err, o.Repair)
			continue
		}
		keys = append(keys, key)
	}
	r.Results = len(keys)
	away := map[Digest]Elsewhere{}
	for some := range slices.Chunk(keys, inspectMost) {
		if err := checkSome(ctx, s, some, o, corrupt, away, r); err != nil {
			return err
		}
	}
	r.Elsewhere = slices.SortedFunc(maps.Values(away), func(a, b Elsewhere) int { return a.Digest.Compare(b.Digest) })
	return nil
}

func checkSome(ctx context.Context, s Store, keys []Digest, o CheckOptions, corrupt map[Digest]bool, away map[Digest]Elsewhere, r *Report) error {
	entries, err := Inspect(ctx, s, keys)
	one := err != nil // of many: ask for each, so that one that cannot be read hides no other
	for _, key := range keys {
		if one {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			if entries, err = Inspect(ctx, s, []Digest{key}); err != nil {
				var damage *DamageError
				r.record(ctx, s.Records, ResultName(key), err, o.Repair && errors.As(err, &damage))
				continue
			}
		}
		e := entries[key]
		if e.Result == nil && e.Damage == nil {
			continue // deleted meanwhile
		}
		var err error
		if e.Lost, err = lostForGood(ctx, s.Records, e.Lost, away); err != nil {
			r.record(ctx, s.Records, ResultName(key), err, false)
			continue
		}
		err = e.Damage
		if len(e.Lost) > 0 {
			err = errors.New(e.Miss())
		} else if e.Result != nil {
			for _, b := range e.Result.blobs() {
				if _, linked := away[b.Digest]; corrupt[b.Digest] && !linked {
					err = fmt.Errorf("%s is corrupt", b)
					break
				}
			}
		}
		if err != nil {
			r.record(ctx, s.Records, ResultName(key), err, o.Repair && e.unknown() == nil)
		}
	}
	return nil
}

// checkOthers reads every record that is not a result. Checkpoints that are damaged or
// name a corrupt blob can go: with those gone, a step resumes from the one before.
func checkOthers(ctx context.Context, s Store, o CheckOptions, corrupt map[Digest]bool, r *Report) error {
	var names []string // first: a store is not changed while it is listed
	for info, err := range s.Records.List(ctx, "") {
		if err != nil {
			return err
		}
		if !strings.HasPrefix(info.Name, ResultsPrefix) {
			names = append(names, info.Name)
		}
	}
	for _, name := range names {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		text, err := s.Records.Get(ctx, name)
		if errors.Is(err, ErrNotExist) {
			continue // deleted meanwhile
		}
		if err != nil {
			r.record(ctx, s.Records, name, err, false)
			continue
		}
		if key, ok := keyOf(name, SignaturesPrefix); ok {
			problem, err := signatureDamage(ctx, s, key, name, text)
			if err != nil {
				r.record(ctx, s.Records, name, err, false)
			} else if problem != nil {
				r.record(ctx, s.Records, name, problem, o.Repair)
			}
			continue
		}
		if !strings.HasPrefix(name, ckptPrefix) {
			if _, err := namedBy(ctx, s.Blobs, name, text); err != nil {
				r.record(ctx, s.Records, name, err, false)
			}
			continue
		}
		if err := checkpointDamage(name, text, corrupt); err != nil {
			r.record(ctx, s.Records, name, err, o.Repair)
		}
	}
	return nil
}

// signatureDamage says what is wrong with a signature: it is none, or the result that is
// there is not the one that was signed. One without a result says nothing wrong.
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

func checkpointDamage(name string, text []byte, corrupt map[Digest]bool) error {
	if _, _, err := ParseCheckpointName(name); err != nil {
		return err
	}
	files, err := DecodeCheckpoint(text)
	if err != nil {
		return err
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if d := files[file].Digest; corrupt[d] {
			return fmt.Errorf("blob %s is corrupt", d)
		}
	}
	return nil
}

// strays files what is in a store's half besides blobs or records.
func (r *Report) strays(ctx context.Context, half any, repair bool) error {
	t, ok := half.(tidier)
	if !ok {
		return nil
	}
	var found []Stray // first: a store is not changed while it is listed
	for s, err := range t.strays(ctx) {
		if err != nil {
			return err
		}
		found = append(found, s)
	}
	for _, s := range found {
		var aside string
		var err error
		if repair {
			aside, err = t.setAside(ctx, s)
		}
		if s.Place == "" && err == nil {
			r.Strays = append(r.Strays, FoundStray{s, aside})
			continue
		}
		r.Problems = append(r.Problems, Problem{Err: errors.Join(errors.New(s.String()), err), Repaired: aside != "", Aside: aside})
	}
	return nil
}

// nameless files a record under results/ whose name is not a key. Nothing ever looks it
// up, so it can go, unless a newer redsi may know what it is.
func (r *Report) nameless(ctx context.Context, records Records, name string, problem error, repair bool) {
	text, err := records.Get(ctx, name)
	if errors.Is(err, ErrNotExist) {
		return
	}
	problem = errors.Join(fmt.Errorf("the name is not a key, so no look-up finds it: %w", problem), err)
	_, damage := decodeResult(Digest{}, text)
	var unknown *FormatError
	r.record(ctx, records, name, problem, repair && err == nil && !errors.As(damage, &unknown))
}

// record files a problem of a record, deleting it if asked.
func (r *Report) record(ctx context.Context, records Records, name string, problem error, repair bool) {
	p := Problem{Record: name, Err: problem}
	if repair {
		err := records.Delete(ctx, name)
		if key, ok := keyOf(name, ResultsPrefix); ok && name == ResultName(key) {
			err = DropResult(ctx, Store{Records: records}, key)
		}
		p.Repaired = err == nil
		p.Err = errors.Join(p.Err, err)
	}
	r.Problems = append(r.Problems, p)
}

// DropCorrupt reads d and deletes it if its bytes are wrong, which turns every
// result that names it into a miss, so that its producer runs again. It is what
// to call after an IntegrityError. Only bytes that are wrong in the same way twice
// are wrong in the store; others were changed on the way, and the blob stays.
func DropCorrupt(ctx context.Context, blobs Blobs, d Digest) (dropped bool, err error) {
	if b, ok := blobs.(interface{ alone() Blobs }); ok { // what others have is not ours to delete
		blobs = b.alone()
	}
	var first, second *IntegrityError
	for _, bad := range []**IntegrityError{&first, &second} {
		err = readThrough(ctx, blobs, d)
		if errors.Is(err, ErrNotExist) {
			return false, nil
		}
		if !errors.As(err, bad) {
			return false, err
		}
	}
	if first.Got != second.Got || first.Size != second.Size {
		return false, nil
	}
	if err := blobs.Delete(ctx, d); err != nil {
		return false, fmt.Errorf("delete corrupt blob %s: %w", d, err)
	}
	return true, nil
}
