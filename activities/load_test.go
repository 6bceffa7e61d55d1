package activities

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// A plan is previewed once: a run that is told what was found done looks nothing up to
// load it, and its journal is what the client then reads.
func TestLoadTakesHits(t *testing.T) {
	const leaves = 300
	l := newLargeRun(t)
	d := l.wide(leaves)
	if _, _, err := l.run("1", d); err != nil {
		t.Fatal(err)
	}
	p, err := plan.Read(t.Context(), l.Store, d)
	testkit.None(t, err)
	looks := 0
	v, err := p.Follow(t.Context(), l.Registry, l.lookup, func(int, *plan.Item) bool { looks++; return false }, nil)
	if err != nil || looks != leaves+2 || !v.Done() {
		t.Fatalf("%d of %d steps were found: %v", looks, leaves+2, err)
	}
	hits, err := PagesOf(t.Context(), l.Store.Own.Blobs, HitsOf(v))
	testkit.None(t, err)
	store, counted := storetest.Faulty(l.Store.Own)
	l.Store = artifacts.Alone(store)
	read := func(hits *workflows.Pages[workflows.DoneStep]) int {
		before := counted.Calls(storetest.RecordsGet)
		out, err := l.Load(t.Context(), workflows.LoadRequest{Pipeline: "t.hcl", Plan: &d, Hits: hits})
		testkit.None(t, err)
		calls := counted.Calls(storetest.RecordsGet) - before
		if hits, err := rowsOf(t.Context(), l.Activities, out.Hits); err != nil || len(hits) != leaves+2 {
			t.Fatalf("%d hits: %v", len(hits), err)
		}
		return calls
	}
	if once, again := read(&hits), read(nil); again < leaves+2 || again-once != leaves+2 {
		t.Errorf("%d records are read with hits, %d without", once, again)
	}
	wrong, err := PagesOf(t.Context(), l.Store.Own.Blobs, []workflows.DoneStep{{Index: leaves + 2, Hit: true}})
	testkit.None(t, err)
	if _, err := l.Load(t.Context(), workflows.LoadRequest{Plan: &d, Hits: &wrong}); err == nil {
		t.Error("a hit of no step is taken")
	}
}

// TestPlansInMemory: a plan that many ask for at once is read once; one that is kept is there while
// another is read; and what plans take is bounded.
func TestPlansInMemory(t *testing.T) {
	l := newLargeRun(t)
	d, other := l.wide(3), l.wide(1)
	var opened, meanwhile atomic.Int32
	l.Store = artifacts.Alone(storetest.Hooked(l.Store.Own, func(ctx context.Context, c *storetest.Call, next func() error) error {
		if c.Method == storetest.BlobsOpen && c.Digest == d {
			opened.Add(1)
		}
		if c.Method == storetest.BlobsOpen && c.Digest == other {
			meanwhile.Add(1)
			testkit.None(t, testkit.Err(l.storedPlan(ctx, d)))
		}
		return next()
	}))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := l.storedPlan(t.Context(), d); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	testkit.Is(t, opened.Load(), 1, "the plan was read times")
	if _, err := l.storedPlan(t.Context(), other); err != nil || meanwhile.Load() != 1 {
		t.Error(meanwhile.Load(), err)
	}
	big := &plan.Plan{Steps: []plan.Step{{Task: step.Task{Config: make([]byte, plansKept/3)}}}}
	for i := range 10 {
		if l.keep(artifacts.Sum([]byte{byte(i)}), big); len(l.plans) > 4 { // two of them small
			t.Fatalf("%d plans are kept", len(l.plans))
		}
	}
}

// TestAccepts: a workflow names pipeline files only in folders that were given.
func TestAccepts(t *testing.T) {
	top := t.TempDir()
	inside, outside := filepath.Join(top, "in"), filepath.Join(top, "inside-not")
	for _, d := range []string{filepath.Join(inside, "sub"), outside} {
		testkit.Write(t, filepath.Join(d, "p.hcl"), "")
	}
	for link, to := range map[string]string{"out.hcl": filepath.Join(outside, "p.hcl"), "folder": outside} {
		testkit.None(t, os.Symlink(to, filepath.Join(inside, link)))
	}
	for file, want := range map[string]bool{"sub/p.hcl": true, "sub": true, ".": true, "none.hcl": true,
		"out.hcl": false, "folder/p.hcl": false, "../inside-not/p.hcl": false, "..": false, "sub/../../inside-not/p.hcl": false} {
		err := (&Activities{Accept: []string{inside}}).Accepts(filepath.Join(inside, file))
		if (err == nil) != want {
			t.Errorf("%s: %v", file, err)
		}
		if err != nil && (!step.IsPermanent(err) || !strings.Contains(err.Error(), "--accept-pipelines")) {
			t.Errorf("%s: the refusal says %v", file, err)
		}
	}
	if err := new(Activities).Accepts(filepath.Join(inside, "sub", "p.hcl")); err == nil {
		t.Error("a worker that was given no folder accepts a file")
	}
}

// TestJournalPinsOnAnyWorker: the lock file is named by the run, not remembered by
// the worker that loaded it, and is written in accepted folders only.
func TestJournalPinsOnAnyWorker(t *testing.T) {
	folder := t.TempDir()
	lock := filepath.Join(folder, lockfile.Name)
	pin := step.Pin{Source: "https://example.org/a", SHA256: artifacts.Sum([]byte("a")), Size: 1}
	page, _, err := workflows.Pack([]step.Pin{pin})
	testkit.None(t, err)
	req := workflows.JournalRequest{Run: runs.Record{RunID: "1", Plan: artifacts.Sum(nil)}, Pins: workflows.Pages[step.Pin]{Page: page}, Lock: lock}
	a := &Activities{Store: artifacts.Alone(mem.New()), Log: slog.New(slog.DiscardHandler)}
	testkit.None(t, a.Journal(t.Context(), req))
	if _, err := os.Stat(lock); err == nil {
		t.Fatal("a worker wrote into a folder that it was not given")
	}
	a.Accept = []string{folder}
	testkit.None(t, a.Journal(t.Context(), req))
	if f, err := lockfile.Read(lock); err != nil || len(f.Sources) != 1 || f.Sources[0] != pin {
		t.Errorf("%+v, %v", f, err)
	}
	req.Lock = filepath.Join(folder, "authorized_keys")
	testkit.None(t, a.Journal(t.Context(), req))
	testkit.Some(t, testkit.Err(os.Stat(req.Lock)), "it wrote a file of another name")
}

// sourceConfig is a kind that finds out the checksum of what it writes.
type sourceConfig struct {
	URL    string `hcl:"url" help:"what to write"`
	SHA256 string `hcl:"sha256,optional" help:"of it"`
}

// sourceKind is that kind; ran hears of each run.
func sourceKind(ran func()) step.Part[sourceConfig] {
	return step.DefinePart(step.Kind[sourceConfig]{Name: "source", Version: 1, Doc: "Text.", Inline: true,
		Outputs: []step.Output{{Name: "out", Type: "text", Help: "text"}},
		Run: func(_ context.Context, x *step.IO, c sourceConfig) error {
			ran()
			w, err := x.Create("out")
			if err == nil {
				_, err = io.WriteString(w, c.URL)
			}
			return errors.Join(err, w.Close())
		},
		Resolve: func(_ context.Context, env step.Sources, c sourceConfig) (sourceConfig, error) {
			if p, ok := env.Pinned(c.URL); ok {
				c.SHA256 = p.SHA256.Hex()
			}
			return c, nil
		},
		Pins: func(c sourceConfig, outputs map[string]artifacts.Artifact) []step.Pin {
			return []step.Pin{{Source: c.URL, SHA256: outputs["out"].Digest, Size: outputs["out"].Size}}
		},
	})
}

// A result that was accepted for the key of a task is filed under no other key, where nothing
// could use it.
func TestPinnedAccepted(t *testing.T) {
	kind := sourceKind(func() {})
	a := &Activities{Store: artifacts.Alone(mem.New()), Registry: step.NewRegistry(kind.Spec)}
	d := storetest.Put(t, a.Store.Own, []byte("out"))
	of := artifacts.Result{Preimage: []byte(`{"format":"redsi-key/1","kind":"source"}`), Outputs: map[string]artifacts.Artifact{"out": {Type: "text", Digest: d, Size: 3}}}
	of.Key = artifacts.KeyOf(of.Preimage)
	task, err := kind.Task(sourceConfig{URL: "https://example.org/x"})
	testkit.None(t, err)
	key, preimage, err := a.Registry.Key(task)
	testkit.None(t, err)
	said, err := artifacts.NewAcceptance(artifacts.Acceptance{Key: key, Of: of.Key, Outputs: of.OutputsDigest(), Reason: "r", By: "alice"}, nil)
	if err == nil {
		err = artifacts.Accept(t.Context(), a.Store, &of, preimage, said)
	}
	hit, lerr := artifacts.Lookup(t.Context(), a.Store, key)
	if err = errors.Join(err, lerr); err != nil || hit == nil {
		t.Fatal(hit, err)
	}
	under, pins, err := a.filePinned(t.Context(), &kind.Spec, task, *hit)
	if err != nil || len(pins) != 1 {
		t.Fatal(pins, err)
	}
	if got, err := artifacts.Lookup(t.Context(), a.Store, under); err != nil || got == nil {
		t.Errorf("it is filed where it is no hit: %v", err)
	}
	if keys, err := artifacts.ResultKeys(t.Context(), a.Store.Own.Records); err != nil || len(keys) != 1 {
		t.Errorf("%d results, %v", len(keys), err)
	}
}

// What sources were found to be is state of the run: what its first execution found is in
// the lock file at the end, whichever worker loads the plan again or writes the record.
func TestPinsOverContinueAsNew(t *testing.T) {
	const sources = 1500
	l := newLargeRun(t)
	source := sourceKind(func() { l.ran.Add(1) })
	l.Registry = step.NewRegistry(source.Spec)
	p := &plan.Plan{Format: plan.Format, Pipeline: "p.hcl"}
	for i := range sources {
		url := fmt.Sprintf("https://example.org/%d", i)
		task, err := source.Task(sourceConfig{URL: url})
		testkit.None(t, err)
		p.Steps = append(p.Steps, plan.Step{Address: fmt.Sprintf("step.source.x[%q]", url), Task: task, Inline: true})
	}
	folder := t.TempDir()
	lock := filepath.Join(folder, lockfile.Name)
	l.Accept = []string{folder}
	l.Open = func(context.Context, string, map[string]string, []string) (*plan.Plan, string, error) {
		return p, lock, nil
	}
	// A worker that has neither been asked to load the plan nor done any of it.
	l.journal = (&Activities{Store: l.Store, Registry: l.Registry, Log: l.Log, Accept: l.Accept}).Journal

	res, executions, err := l.runOf(workflows.ReproduceInput{Pipeline: filepath.Join(folder, "p.hcl"), RunID: "1"})
	if err != nil || res.Ran != sources || l.ran.Load() != sources || executions < 2 {
		t.Fatalf("%+v in %d executions, %d ran: %v", res, executions, l.ran.Load(), err)
	}
	f, err := lockfile.Read(lock)
	if err != nil || len(f.Sources) != sources {
		t.Fatalf("%d of %d sources are pinned after %d executions: %v", len(f.Sources), sources, executions, err)
	}
	for _, s := range f.Sources {
		if s.SHA256 != artifacts.Sum([]byte(s.Source)) {
			t.Fatalf("%+v is not what was found", s)
		}
	}

	// A run that finds the results of another, or its own under another id, pins them too.
	lock = filepath.Join(folder, "elsewhere", lockfile.Name)
	testkit.None(t, os.Mkdir(filepath.Dir(lock), 0o755))
	if res, _, err = l.runOf(workflows.ReproduceInput{Pipeline: filepath.Join(folder, "p.hcl"), RunID: "2"}); err != nil || res.Hit != sources {
		t.Fatalf("%+v: %v", res, err)
	}
	if f, err = lockfile.Read(lock); err != nil || len(f.Sources) != sources {
		t.Errorf("%d of %d sources of hits are pinned: %v", len(f.Sources), sources, err)
	}
}
