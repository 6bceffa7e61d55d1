package synth

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/redsi/redsi/internal/system/values"
)

// Kinds of files.
const (
	KindTrain      = "train"
	KindDev        = "dev"
	KindSimplified = "simplified_train"
	KindStub       = "stub"
)

// part is the i-th of n nearly equal parts of total.
func part(total, n, i int) (lo, hi int) { return total * i / n, total * (i + 1) / n }

// job is one file, of records of a split or of lanes of the dump.
type job struct {
	File
	lo, hi int
}

// jobs are the files, named as Google and Wikimedia do, with two digits or as many as needed.
func (c Config) jobs() (all []job) {
	add := func(n, of int, name, kind string) {
		for i := range n {
			lo, hi := part(of, n, i)
			j := job{File{Name: name, Kind: kind, Entries: hi - lo}, lo, hi}
			if kind == KindStub {
				j.Entries = 0 // lanes need not have a page
				if n > 1 {
					j.Name = fmt.Sprintf(name, i+1)
				}
			} else if kind != KindSimplified {
				j.Name = fmt.Sprintf(name, i)
			}
			all = append(all, j)
		}
	}
	add(c.TrainShards, c.TrainQuestions, "nq-train-%02d.jsonl.gz", KindTrain)
	add(1, c.TrainQuestions, "simplified-nq-train.jsonl.gz", KindSimplified)
	add(c.DevShards, c.DevQuestions, "nq-dev-%02d.jsonl.gz", KindDev)
	stub := "enwiki-20181220-stub-meta-history%d.xml.gz"
	if c.StubParts == 1 {
		stub = "enwiki-20181220-stub-meta-history.xml.gz"
	}
	add(c.StubParts, c.lanes(), stub, KindStub)
	return all
}

// Generate writes the corpus, each file through a writer from create, as many at a time as there are processors. It closes
// every writer once; after an error the caller discards the files. One goroutine at a time calls create and progress (may be
// nil; records and dump lanes done, of a fixed total). Memory: some 150 bytes per record.
func Generate(cfg Config, create func(name string) (io.WriteCloser, error), progress func(done, total int64)) (*Truth, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	p, jobs := newPlan(cfg), cfg.jobs()
	g := &generation{plan: p, truth: p.truth(), create: create, progress: progress, total: int64(cfg.TrainQuestions + cfg.DevQuestions + cfg.lanes())}
	group, ctx := errgroup.WithContext(context.Background())
	group.SetLimit(runtime.GOMAXPROCS(0))
	g.failed = func() bool { return ctx.Err() != nil }
	for i := range jobs {
		group.Go(func() error { return g.file(&jobs[i]) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, j := range jobs {
		g.truth.Files = append(g.truth.Files, j.File)
	}
	return g.truth, nil
}

// generation is the state shared by the files.
type generation struct {
	plan   *plan
	failed func() bool // whether another file has failed, so that all are discarded

	mu       sync.Mutex
	truth    *Truth
	create   func(name string) (io.WriteCloser, error)
	progress func(done, total int64)

	done, total int64
}

func (g *generation) file(j *job) error {
	if g.failed() {
		return nil
	}
	g.mu.Lock()
	w, err := g.create(j.Name)
	g.mu.Unlock()
	if err != nil {
		return fmt.Errorf("synth: create %s: %w", j.Name, err)
	}
	f := newFile(j.Name, w)
	if j.Kind == KindStub {
		g.stub(j, f)
	} else {
		g.records(j, f)
	}
	err = f.close()
	j.Bytes = f.size
	return err
}

func (g *generation) records(j *job, f *file) {
	of := g.plan.train
	if j.Kind == KindDev {
		of = g.plan.dev
	}
	r := renderer{plan: g.plan}
	for _, rec := range of[j.lo:j.hi] {
		line, err := r.render(rec, j.Kind)
		f.err = cmp.Or(f.err, err)
		if f.write(line); f.err != nil || g.failed() {
			return
		}
		if j.Kind != KindSimplified {
			g.add()
		}
	}
}

// stub writes a part of the dump as several gzip members.
func (g *generation) stub(j *job, f *file) {
	var t Stub
	var b []byte
	f.write([]byte(stubHeader))
	members := min(g.plan.cfg.StubMembers, j.hi-j.lo)
	for m := range members {
		if m > 0 {
			f.member()
		}
		lo, hi := part(j.hi-j.lo, members, m)
		for lane := j.lo + lo; lane < j.lo+hi && f.err == nil && !g.failed(); lane++ {
			if s, ok := g.plan.stubPage(lane); ok {
				b = s.append(b[:0], g.plan.cfg, &t)
				f.write(b)
			}
			g.add()
		}
	}
	f.write([]byte(stubFooter))
	g.mu.Lock()
	defer g.mu.Unlock()
	j.Entries = t.Pages
	values.Add(&g.truth.Stub, t)
}

func (g *generation) add() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.done++; g.progress != nil {
		g.progress(g.done, g.total)
	}
}
