package artifacts_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
)

// largeResult is that of a step that leaves a tree of 12,000 files.
func largeResult(t *testing.T, s artifacts.Store) artifacts.Result {
	t.Helper()
	r := storetest.NewResult(t, s, "large", map[string]string{"log": "log"})
	files := make([]artifacts.File, 12000)
	for i := range files {
		text := fmt.Sprintf("file %d", i%100)
		files[i] = artifacts.File{Name: fmt.Sprintf("folder/file-%05d.txt", i), Digest: storetest.Put(t, s, []byte(text)), Size: int64(len(text))}
	}
	tree, err := artifacts.Tree("files", files)
	errtest.None(t, err)
	r.Outputs["out"] = tree
	return r
}

// TestLargeResult: a result whose record would be too large is published, read
// back, verified and kept as any other.
func TestLargeResult(t *testing.T) {
	s := mem.New()
	r := largeResult(t, s)
	if won, nondet, err := artifacts.Publish(t.Context(), artifacts.Alone(s), r); err != nil || nondet || won.Key != r.Key {
		t.Fatal(won, nondet, err)
	}
	raw, err := s.Records.Get(t.Context(), artifacts.ResultName(r.Key))
	if err != nil || len(raw) > 1000 {
		t.Fatalf("the record has %d bytes, %v", len(raw), err)
	}
	got, err := artifacts.Lookup(t.Context(), artifacts.Alone(s), r.Key)
	if err != nil || got == nil {
		t.Fatal(got, err)
	}
	if !reflect.DeepEqual(got.Outputs, r.Outputs) || string(got.Preimage) != string(r.Preimage) {
		t.Error("it does not read back")
	}
	if won, nondet, err := artifacts.Publish(t.Context(), artifacts.Alone(s), r); err != nil || nondet || won == nil {
		t.Fatal("a second time:", won, nondet, err)
	}
	putRecord(t, s, "runs/1", `{"key":"`+r.Key.String()+`"}`)
	g := collect(t, s, artifacts.GCOptions{Grace: 1, Now: time.Now().Add(time.Hour)})
	if len(g.Results) != 0 || len(g.Blobs) != 0 {
		t.Fatalf("garbage collection took %d results and %d blobs of it", len(g.Results), len(g.Blobs))
	}
	report, err := artifacts.Check(t.Context(), s, artifacts.CheckOptions{})
	if err != nil || len(report.Problems) != 0 {
		t.Fatal(report.Problems, err)
	}
}

// TestLargeResultThatLostItsBody is a miss, and gives way to the next one.
func TestLargeResultThatLostItsBody(t *testing.T) {
	s := mem.New()
	r := largeResult(t, s)
	before := blobSet(t, s)
	storetest.Publish(t, s, r)
	for d := range blobSet(t, s) {
		if !before[d] {
			errtest.None(t, s.Blobs.Delete(t.Context(), d))
		}
	}
	entries, err := artifacts.Inspect(t.Context(), artifacts.Alone(s), []artifacts.Digest{r.Key})
	if e := entries[r.Key]; err != nil || e.Hit() || !strings.Contains(e.Miss(), "body") {
		t.Fatalf("%v, %s", err, e.Miss())
	}
	report, err := artifacts.Check(t.Context(), s, artifacts.CheckOptions{})
	if err != nil || len(report.Problems) != 1 {
		t.Fatal(report.Problems, err)
	}
	if _, nondet, err := artifacts.Publish(t.Context(), artifacts.Alone(s), r); err != nil || nondet {
		t.Fatal(nondet, err)
	}
	if got, err := artifacts.Lookup(t.Context(), artifacts.Alone(s), r.Key); err != nil || got == nil {
		t.Fatal(got, err)
	}
}

// TestCollectFollowsBodies: what a long root names is in a blob.
func TestCollectFollowsBodies(t *testing.T) {
	s := mem.New()
	r := storetest.NewResult(t, s, "A", map[string]string{"out": "a"})
	publish(t, artifacts.Alone(s), r)
	body := storetest.Put(t, s, []byte(`{"steps":[{"key":"`+r.Key.String()+`"}]}`))
	putRecord(t, s, "runs/1", `{"format":"redsi-run/2","body":"`+body.String()+`"}`)
	later := artifacts.GCOptions{Grace: 1, Now: time.Now().Add(time.Hour)}
	if g := collect(t, s, later); len(g.Results) != 0 || len(g.Blobs) != 0 {
		t.Fatalf("%d results, %d blobs", len(g.Results), len(g.Blobs))
	}
	errtest.None(t, s.Blobs.Delete(t.Context(), body))
	if _, err := artifacts.Collect(t.Context(), s, later); !errors.Is(err, artifacts.ErrNotExist) || !strings.Contains(err.Error(), "runs/1") || !strings.Contains(err.Error(), "verify --repair") {
		t.Errorf("a root that cannot be read: %v", err)
	}
	// A run whose results nobody asks to keep stops nothing, and verify --repair mends the rest.
	putRecord(t, s, "runs/2", `{"steps":[{"key":"`+r.Key.String()+`"}]}`)
	if g := collect(t, s, artifacts.GCOptions{Grace: 1, Now: later.Now, KeepRuns: 1}); len(g.Results) != 0 || len(g.Blobs) != 0 {
		t.Errorf("%d results, %d blobs", len(g.Results), len(g.Blobs))
	}
	for _, repair := range []bool{false, true} {
		report, err := artifacts.Check(t.Context(), s, artifacts.CheckOptions{Repair: repair})
		if err != nil || len(report.Problems) != 1 || report.Problems[0].Record != "runs/1" || report.Problems[0].Repaired != repair {
			t.Errorf("repair %v: %v, %v", repair, report.Problems, err)
		}
	}
	collect(t, s, later)
}

// TestRunsThatAreNotKeptStayWhole: collection takes the results of a long run, and leaves its
// record with what that names, so that the record can be read and stops no later collection.
func TestRunsThatAreNotKeptStayWhole(t *testing.T) {
	c := newClock()
	s := mem.NewAt(c.Now)
	for _, id := range []string{"1", "2"} {
		r := storetest.NewResult(t, s, id, map[string]string{"out": "of " + id})
		publish(t, artifacts.Alone(s), r)
		body := storetest.Put(t, s, []byte(`{"steps":[{"key":"`+r.Key.String()+`"}]}`))
		putRecord(t, s, "runs/"+id, `{"plan":"`+storetest.Put(t, s, []byte("plan "+id)).String()+`","body":"`+body.String()+`"}`)
		c.now = c.now.Add(30 * day)
	}
	for i, want := range []string{"1", "", ""} {
		if g := collect(t, s, artifacts.GCOptions{KeepRuns: 1 - i/2, Now: c.now}); steps(g) != want || len(g.Blobs) != len(g.Results) {
			t.Errorf("collection %d: %q, %d blobs; want %q", i+1, steps(g), len(g.Blobs), want)
		}
	}
	if report, err := artifacts.Check(t.Context(), s, artifacts.CheckOptions{}); err != nil || len(report.Problems) > 0 {
		t.Error(report.Problems, err)
	}
}

// TestKeepRunsCountsByPipeline: the runs of one study take nothing from another.
func TestKeepRunsCountsByPipeline(t *testing.T) {
	c := newClock()
	s := mem.NewAt(c.Now)
	for i, of := range []string{"a p", "b p", "a q", "a p", "a p"} {
		project, pipeline, _ := strings.Cut(of, " ")
		r := storetest.NewResult(t, s, fmt.Sprint(i), map[string]string{"out": fmt.Sprint("of ", i)})
		publish(t, artifacts.Alone(s), r)
		putRecord(t, s, fmt.Sprint("runs/", i), fmt.Sprintf(`{"project":%q,"pipeline":%q,"steps":[{"key":%q}]}`, project, pipeline, r.Key))
		c.now = c.now.Add(30 * day)
	}
	for keep, want := range map[int]string{1: "0 3", 2: "0", 3: ""} {
		g := collect(t, s, artifacts.GCOptions{KeepRuns: keep, Now: c.now, DryRun: true})
		gone := strings.Fields(steps(g))
		if slices.Sort(gone); strings.Join(gone, " ") != want {
			t.Errorf("the newest %d: %q go, want %q", keep, gone, want)
		}
	}
}

// TestOpenRunKeepsWhatIsYounger: a run that could not write its record names
// nothing, and all that it did is kept.
func TestOpenRunKeepsWhatIsYounger(t *testing.T) {
	c := newClock()
	s := mem.NewAt(c.Now)
	publish(t, artifacts.Alone(s), storetest.NewResult(t, s, "before", map[string]string{"out": "before"}))
	c.now = c.now.Add(time.Minute)
	putRecord(t, s, artifacts.OpenRunPrefix+"x", `{"run_id":"x"}`)
	c.now = c.now.Add(time.Minute)
	publish(t, artifacts.Alone(s), storetest.NewResult(t, s, "since", map[string]string{"out": "since"}))
	c.now = c.now.Add(day)
	try := func(o artifacts.GCOptions) artifacts.Garbage {
		o.Grace, o.Now, o.DryRun = 1, c.now, true
		return collect(t, s, o)
	}
	if g := try(artifacts.GCOptions{}); steps(g) != "before" || len(g.Open) != 1 || g.Open[0].RunID != "x" {
		t.Errorf("while it is open: %q, %v", steps(g), g.Open)
	}
	if g := try(artifacts.GCOptions{Forget: []string{"x"}}); len(g.Results) != 2 || len(g.Records) != 1 || len(g.Open) != 0 {
		t.Errorf("forgotten: %q, %v", steps(g), g.Open)
	}
	if _, err := artifacts.Collect(t.Context(), s, artifacts.GCOptions{Forget: []string{"y"}}); err == nil {
		t.Error("a run that there is not was forgotten")
	}
	c.now = c.now.Add(30 * day)
	if g := try(artifacts.GCOptions{}); len(g.Results) != 2 || len(g.Open) != 0 {
		t.Errorf("after a month: %q, %v", steps(g), g.Open)
	}
}
