package synth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"sync"
)

// Kinds of files.
const (
	KindTrain      = "train"
	KindDev        = "dev"
	KindSimplified = "simplified_train"
	KindStub       = "stub"
)

const simplifiedName = "simplified-nq-train.jsonl.gz"

// Files lists what Generate will create, without sizes, in the order in which
// the files are closed.
func Files(cfg Config) ([]File, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	files := shardFiles("nq-train", KindTrain, cfg.TrainQuestions, cfg.TrainShards)
	files = append(files, File{Name: simplifiedName, Kind: KindSimplified, Entries: cfg.TrainQuestions})
	files = append(files, shardFiles("nq-dev", KindDev, cfg.DevQuestions, cfg.DevShards)...)
	for i := range cfg.StubParts {
		name := "enwiki-20181220-stub-meta-history.xml.gz"
		if cfg.StubParts > 1 {
			name = fmt.Sprintf("enwiki-20181220-stub-meta-history%d.xml.gz", i+1)
		}
		files = append(files, File{Name: name, Kind: KindStub})
	}
	return files, nil
}

// shardFiles names shards as Google does, with two digits or as many as needed.
func shardFiles(prefix, kind string, records, shards int) []File {
	var files []File
	for i := range shards {
		lo, hi := part(records, shards, i)
		files = append(files, File{Name: fmt.Sprintf("%s-%02d.jsonl.gz", prefix, i), Kind: kind, Entries: hi - lo})
	}
	return files
}

// part is the i-th of n nearly equal parts of total.
func part(total, n, i int) (lo, hi int) { return total * i / n, total * (i + 1) / n }

// Generate writes the corpus: each file of Files through one writer that create
// returns. Every writer is closed exactly once; after an error the caller throws
// away what was created. progress (may be nil) is called from one goroutine with
// records and dump lanes done; total never changes. Work is spread over
// GOMAXPROCS workers; memory does not grow with the corpus but for some 150
// bytes per record.
func Generate(cfg Config, create func(name string) (io.WriteCloser, error), progress func(done, total int64)) (*Truth, error) {
	files, err := Files(cfg)
	if err != nil {
		return nil, err
	}
	p := newPlan(cfg)
	g := &collector{
		truth: p.truth(), create: create, progress: progress, files: files,
		total: int64(cfg.TrainQuestions + cfg.DevQuestions + cfg.lanes()), subs: newSubstitutions(), open: map[int]*gzipFile{},
	}
	err = g.run(p)
	for _, i := range slices.Sorted(maps.Keys(g.open)) { // those that an error left open
		err = errors.Join(err, g.open[i].w.Close())
	}
	if err != nil {
		return nil, err
	}
	g.truth.Substitutions = g.subs.truth()
	g.truth.Files = g.files
	return g.truth, nil
}

// job is a piece of one file, small enough to hold in memory.
type job struct {
	file   int // in Files
	lo, hi int // records of the split, or lanes
	kind   string
	side   int  // the simplified file for train, else -1
	member bool // begins a gzip member
	first  bool // of its file
	last   bool // of its file
	ends   bool // last of the simplified file, too
	done   chan output
}

// output is what a worker made of a job.
type output struct {
	raw, deflated         []byte
	sideRaw, sideDeflated []byte
	tokens                int
	openings              []Opening
	stub                  Stub
	subs                  *substitutions
	err                   error
}

// run does jobs side by side and collects them in their order.
func (g *collector) run(p *plan) error {
	ctx, cancel := context.WithCancel(context.Background())
	order := make(chan job, runtime.GOMAXPROCS(0)-1) // with the one that is waited for: bounds what is in memory
	workers := sync.Pool{New: func() any { return &worker{renderer: renderer{plan: p}} }}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() {
		defer close(order)
		for _, j := range p.jobs(g.files) {
			j.done = make(chan output, 1)
			select {
			case order <- j:
			case <-ctx.Done():
				return
			}
			wg.Go(func() {
				w := workers.Get().(*worker)
				j.done <- w.do(j)
				workers.Put(w)
			})
		}
	})
	for j := range order {
		if err := g.collect(j, <-j.done); err != nil {
			return err
		}
	}
	return nil
}
