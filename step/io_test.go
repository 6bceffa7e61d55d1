package step

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/testkit"
)

// host serves a store in memory, with faults on demand.
type host struct {
	artifacts.Store
	failPut  error // after a few bytes
	reported []Progress
	scratch  folders
}

// folders are plain ones.
type folders struct{ root string }

func (f folders) New() (string, error)   { return os.MkdirTemp(f.root, "") }
func (folders) Discard(dir string) error { return os.RemoveAll(dir) }
func (folders) Runs(string, int) error   { return nil }
func (folders) Ended(string) error       { return nil }

func newHost() *host { return &host{Store: mem.New()} }

func (h *host) Open(ctx context.Context, d artifacts.Digest) (io.ReadCloser, error) {
	return h.Blobs.Open(ctx, d)
}

func (h *host) LocalPath(context.Context, artifacts.Digest) (string, error) { return "local", nil }

func (h *host) Put(ctx context.Context, r io.Reader) (artifacts.Digest, int64, error) {
	if h.failPut != nil {
		if _, err := io.ReadFull(r, make([]byte, 1)); err != nil {
			return artifacts.Digest{}, 0, err
		}
		return artifacts.Digest{}, 0, h.failPut
	}
	return h.Blobs.Put(ctx, r)
}

func (h *host) Take(ctx context.Context, path string) (artifacts.Digest, int64, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return artifacts.Digest{}, 0, err
	}
	return h.Put(ctx, bytes.NewReader(b))
}

func (h *host) Report(p Progress)                           { h.reported = append(h.reported, p) }
func (h *host) Checkpoints(func(string, int64)) Checkpoints { return nil }
func (h *host) Trajectory(int64, func(string, int64)) Checkpoints {
	return nil
}
func (h *host) Missing(context.Context, []artifacts.Digest) ([]artifacts.Digest, error) {
	return nil, nil
}
func (h *host) Scratch() Scratch { return h.scratch }

func newTestIO(t *testing.T, h Host) *IO {
	spec := Define(everythingKind())
	return NewIO(t.Context(), &spec, h, slog.New(slog.DiscardHandler), nil)
}

func write(t *testing.T, w io.WriteCloser, err error, text string) {
	t.Helper()
	testkit.None(t, err)
	testkit.None(t, testkit.Err(io.WriteString(w, text)))
	testkit.None(t, w.Close())
	testkit.None(t, w.Close(), "closed again")
}

func TestOutputs(t *testing.T) {
	x := newTestIO(t, newHost())
	w, err := x.Create("out")
	write(t, w, err, "hello")
	for _, name := range []string{"b", "a/c"} {
		w, err := x.CreateFile("files", name)
		write(t, w, err, name)
	}
	testkit.None(t, x.LinkFile("files", artifacts.File{Name: "d", Digest: artifacts.Sum([]byte("x")), Size: 1}))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { x.Count("read", 2) })
	}
	wg.Wait()
	out, counts, err := x.Finish(nil)
	testkit.None(t, err)
	if got := out["out"]; got.Type != "a" || got.Digest != artifacts.Sum([]byte("hello")) || got.Size != 5 {
		t.Errorf("out is %+v", got)
	}
	var names []string
	for _, f := range out["files"].Files {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, " "); got != "a/c b d" || out["files"].Type != "b" {
		t.Errorf("files is %s of type %s", got, out["files"].Type)
	}
	testkit.Is(t, counts["read"], 16, "counts", counts)
}

func TestLink(t *testing.T) {
	x := newTestIO(t, newHost())
	testkit.None(t, x.Link("out", artifactOf("part")))
	tree, err := artifacts.Tree("other", []artifacts.File{{Name: "f", Digest: artifacts.Sum([]byte("x")), Size: 1}})
	testkit.None(t, err)
	testkit.None(t, x.Link("files", tree))
	out, _, err := x.Finish(nil)
	testkit.None(t, err)
	testkit.Is(t, out["files"].Type, "b", "linked", out["files"])
	testkit.Is(t, out["files"].Digest, tree.Digest, "linked", out["files"])
}

// Mistakes of a kind are permanent errors.
func TestMisuse(t *testing.T) {
	h := newHost()
	for name, run := range map[string]func(x *IO) error{
		"no such output":        func(x *IO) error { _, err := x.Create("nothing"); return err },
		"a tree as one file":    func(x *IO) error { _, err := x.Create("files"); return err },
		"a file of no tree":     func(x *IO) error { _, err := x.CreateFile("out", "f"); return err },
		"link to nothing":       func(x *IO) error { return x.Link("nothing", artifactOf("a")) },
		"link of another form":  func(x *IO) error { return x.Link("files", artifactOf("a")) },
		"link file to no tree":  func(x *IO) error { return x.LinkFile("out", artifacts.File{Name: "a"}) },
		"input that is not set": func(x *IO) error { _, err := x.Open(Input{}); return err },
		"tree read as one file": func(x *IO) error { _, err := x.Open(In(artifacts.Artifact{Files: []artifacts.File{{}}})); return err },
		"nothing written":       func(x *IO) error { _, _, err := x.Finish(nil); return err },
		"link after link":       func(x *IO) error { return errors.Join(x.Link("out", artifactOf("a")), x.Link("out", artifactOf("b"))) },
		"written twice": func(x *IO) error {
			_, err := x.Create("out")
			_, err2 := x.Create("out")
			return errors.Join(err, err2)
		},
		"left open": func(x *IO) error {
			_, err := x.Create("out")
			_, _, err2 := x.Finish(nil)
			return errors.Join(err, err2)
		},
		"a file name that leads": func(x *IO) error { return leave(t, x) },
	} {
		x := newTestIO(t, h)
		err := run(x)
		if !IsPermanent(err) {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, err := x.Finish(errors.New("over")); err == nil {
			t.Errorf("%s: it finishes", name)
		}
	}
}

func leave(t *testing.T, x *IO) error {
	testkit.None(t, x.Link("out", artifactOf("a")))
	w, err := x.CreateFile("files", "../up")
	write(t, w, err, "x")
	_, _, err = x.Finish(nil)
	return err
}

// A store that fails stops the writer, and the error is the store's.
func TestFailingStore(t *testing.T) {
	h := newHost()
	h.failPut = errors.New("disk full")
	x := newTestIO(t, h)
	w, err := x.Create("out")
	testkit.None(t, err)
	chunk := bytes.Repeat([]byte("x"), 1000)
	for err == nil {
		_, err = w.Write(chunk)
	}
	testkit.ErrIs(t, err, h.failPut, "Write says")
	testkit.ErrIs(t, w.Close(), h.failPut, "Close says")
	if _, _, err := x.Finish(nil); err == nil {
		t.Error("it finishes without its output")
	}
}

// Inputs are verified to their end, even if the step stops early and whatever
// it makes of what it read.
func TestCorruptInput(t *testing.T) {
	good := strings.Repeat("line\n", 100_000)
	for name, read := range map[string]func(r io.Reader) error{
		"to the end": func(r io.Reader) error { _, err := io.ReadAll(r); return err },
		"in part":    func(r io.Reader) error { _, err := io.ReadFull(r, make([]byte, 10)); return err },
		"not at all": func(io.Reader) error { return nil },
		"and blames the text": func(r io.Reader) error {
			_, err := io.ReadAll(r)
			return fmt.Errorf("not valid JSON: %v", err)
		},
	} {
		h := newHost()
		x := newTestIO(t, &corrupting{h, []byte(good + "x")})
		d := artifacts.Sum([]byte(good))
		r, err := x.Open(In(artifacts.Artifact{Digest: d}))
		testkit.None(t, err)
		stepErr := read(r)
		testkit.None(t, r.Close())
		_, _, err = x.Finish(stepErr)
		var bad *artifacts.IntegrityError
		if !errors.As(err, &bad) {
			t.Errorf("read %s: %v", name, err)
		}
	}
}

type corrupting struct {
	*host
	bytes []byte
}

func (c *corrupting) Open(_ context.Context, d artifacts.Digest) (io.ReadCloser, error) {
	return artifacts.VerifyReader(io.NopCloser(bytes.NewReader(c.bytes)), d, "test"), nil
}

func TestInputs(t *testing.T) {
	h := newHost()
	d, err := artifacts.PutBytes(t.Context(), h.Blobs, []byte("text"))
	testkit.None(t, err)
	x := newTestIO(t, h)
	in := In(artifacts.Artifact{Digest: d, Size: 4})
	files := x.Files(in, "name")
	testkit.Deep(t, files, []artifacts.File{{Name: "name", Digest: d, Size: 4}})
	if x.Files(Input{}, "name") != nil {
		t.Error("an input that is not set has files")
	}
	r, err := x.OpenFile(files[0])
	testkit.None(t, err)
	if b, err := io.ReadAll(r); err != nil || string(b) != "text" {
		t.Errorf("%q, %v", b, err)
	}
	testkit.ErrIs(t, testkit.Err(x.Open(In(artifactOf("not there")))), artifacts.ErrNotExist, "an input that is lost")
}

func TestScratch(t *testing.T) {
	h := newHost()
	h.scratch.root = t.TempDir()
	x := newTestIO(t, h)
	dir, err := x.Scratch()
	testkit.None(t, err)
	testkit.None(t, os.WriteFile(filepath.Join(dir, "f"), nil, 0o600))
	stepErr := errors.New("stopped")
	if _, _, err := x.Finish(stepErr); !errors.Is(err, stepErr) {
		t.Errorf("Finish says %v", err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there", dir)
	}
}

// TestUsed: bytes count as they pass, those that are read for their check alone too; what a
// program used takes the place of what was measured of the process.
func TestUsed(t *testing.T) {
	h := newHost()
	x := newTestIO(t, h)
	d, err := artifacts.PutBytes(t.Context(), h.Blobs, []byte("0123456789"))
	testkit.None(t, err)
	in := Input{Artifact: &artifacts.Artifact{Type: "text", Digest: d, Size: 10}}
	for range 2 {
		r, err := x.Open(in)
		testkit.None(t, err)
		testkit.None(t, testkit.Err(io.ReadFull(r, make([]byte, 3))))
		testkit.None(t, r.Close())
	}
	testkit.None(t, testkit.Err(x.PutFile(t.Context(), "f", strings.NewReader("1234"))))
	w, err := x.Create("out")
	write(t, w, err, "567")
	process := &artifacts.Used{CPU: 9, CPUOf: artifacts.CPUOfProcess, Memory: 9, MemoryOf: artifacts.MemoryOfProcess, Beside: 1}
	want := &artifacts.Used{CPU: 9, CPUOf: artifacts.CPUOfProcess, Memory: 9, MemoryOf: artifacts.MemoryOfProcess, Read: 20, Written: 7, Beside: 1}
	testkit.Deep(t, x.Used(process), want)
	x.Program(time.Second, 0)
	want.CPU, want.CPUOf, want.Memory, want.MemoryOf = 1, artifacts.CPUOfProgram, 0, ""
	testkit.Deep(t, x.Used(process), want, "a program's memory that is not known")
	x.Program(500*time.Millisecond, 70)
	x.Program(0, 60)
	want = &artifacts.Used{CPU: 1.5, CPUOf: artifacts.CPUOfProgram, Memory: 70, MemoryOf: artifacts.MemoryOfProgram, Read: 20, Written: 7}
	testkit.Deep(t, x.Used(nil), want)
}

// TestCheckLimits: a number is compared with numbers, with others of its step, and with
// the sum of those of other steps; what is not there fails and says what is.
func TestCheckLimits(t *testing.T) {
	report := []byte(`{"records": {"train": 5, "dev": 2}, "name": "x"}`)
	digest := artifacts.Sum(report)
	opened := 0
	lines := []byte("{\"loss\": 6}\n{\"loss\": 4}\n")
	open := Remembered(func(_ context.Context, d artifacts.Digest) (io.ReadCloser, error) {
		switch d {
		case digest:
		case artifacts.Sum(lines):
			return io.NopCloser(bytes.NewReader(lines)), nil
		default:
			return io.NopCloser(strings.NewReader("epoch 1")), nil
		}
		opened++
		return io.NopCloser(bytes.NewReader(report)), nil
	})
	file := artifacts.Artifact{Digest: digest, Size: int64(len(report))}
	log, large := artifacts.Artifact{Digest: artifacts.Sum([]byte("epoch 1")), Size: 7}, artifacts.Artifact{Size: mostChecked + 1}
	several := artifacts.Artifact{Digest: artifacts.Sum(lines), Size: int64(len(lines))}
	results := map[string]*artifacts.Result{
		"step.extract.train": {Counts: map[string]int64{"records": 5}, Outputs: map[string]artifacts.Artifact{"report": file}},
		"step.extract.dev":   {Counts: map[string]int64{"records": 2_000_000}},
	}
	own := &artifacts.Result{Counts: map[string]int64{"records": 7, "documents": 5}, Outputs: map[string]artifacts.Artifact{"report": file, "log": log, "large": large, "lines": several}}
	number := func(n float64) *Limit { return &Limit{Number: n} }
	name := func(n string) *Limit { return &Limit{Name: n} }
	for _, c := range []struct {
		check Check
		want  string // of the problem; "" if it holds
	}{
		{Check{Counts: "records", Equals: number(7)}, ""},
		{Check{Counts: "records", Equals: number(0)}, "records is 7, and 0 is what it must be"},
		{Check{Counts: "documents", Min: number(5), Max: name("records")}, ""},
		{Check{Counts: "records", Max: name("documents")}, "records is 7, and 5, its documents, is the most"},
		{Check{Field: "report:records.train", Min: name("documents")}, ""},
		{Check{Counts: "documents", Equals: name("records"), Of: []string{"step.extract.train"}}, ""},
		{Check{Counts: "documents", Equals: name("report:records.train"), Of: []string{"step.extract.train"}}, ""},
		{Check{Counts: "records", Equals: name("records"), Of: []string{"step.extract.dev", "step.extract.train"}},
			"records is 7, and 2000005, the records of step.extract.dev and step.extract.train, is what it must be"},
		{Check{Counts: "records", Min: name("nothing"), Of: []string{"step.extract.train"}}, `step.extract.train: it counted no "nothing", but "records"`},
		{Check{Counts: "records", Min: name("report:records"), Of: []string{"step.extract.dev"}}, "step.extract.dev: it has no output \"report\" that is one file, but nothing"},
		{Check{Counts: "records", Min: name("report:name")}, "name: x is not a number"},
		{Check{Field: "log:loss", Min: number(5)}, "the output is not JSON: invalid character 'e'"},
		{Check{Field: "lines:loss", Min: number(5)}, "the output is not JSON: more than one JSON value"},
		{Check{Field: "large:loss", Min: number(5)}, "the output has 16777217 bytes; a check reads at most 16777216"},
	} {
		task, err := Task{Checks: []Check{c.check}}.BindChecks(func(address string) *artifacts.Result { return results[address] })
		testkit.None(t, err)
		stops, _, err := task.Problems(t.Context(), own, open)
		if got := strings.Join(stops, "; "); err != nil || (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q, %v; want %q", c.check, got, err, c.want)
		}
	}
	testkit.Is(t, opened, 1, "the report was opened times 1")
	testkit.ErrSays(t, testkit.Err((Task{Checks: []Check{{Name: "c", Equals: name("x"), Of: []string{"step.other"}}}}).BindChecks(func(string) *artifacts.Result { return nil })), `check "c": step.other has no result yet`)
}
