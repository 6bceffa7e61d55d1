package compute

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/host/nvidia"
	"github.com/redsi/redsi/internal/host/stepio"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// tester has steps computed by processes of this test's program.
type tester struct {
	*testing.T
	p     *Pool
	store artifacts.Store
	log   bytes.Buffer // of steps
	said  bytes.Buffer
}

func newTester(t *testing.T, o Options, env ...string) *tester {
	t.Helper()
	store, err := dir.Open(t.TempDir())
	testkit.None(t, err)
	if o.Program == "" {
		o.Program = os.Args[0]
	}
	o.Env = append([]string{role + "=second", "GORACE=atexit_sleep_ms=0"}, env...)
	o.Build, o.Registry, o.CacheDir = "b1", registry(1), t.TempDir()
	p := New(o)
	t.Cleanup(p.Close)
	return &tester{T: t, p: p, store: store}
}

func (t *tester) task(do string, more ...any) Task {
	t.Helper()
	tree := map[string]any{"do": do}
	for i := 0; i < len(more); i += 2 {
		tree[more[i].(string)] = more[i+1]
	}
	task, err := step.NewTask(t.p.o.Registry.Lookup("fake"), tree)
	testkit.None(t, err)
	key, _, err := t.p.o.Registry.Key(task)
	testkit.None(t, err)
	return Task{Step: "fake." + do, Key: key, Task: task}
}

func (t *tester) run(ctx context.Context, card int, do string, more ...any) (stepio.Outcome, error) {
	return t.p.Run(ctx, t.task(do, more...), t.store.URL, card, slog.New(slog.NewTextHandler(&t.log, nil)), &t.said)
}

// ok runs a step that must succeed, and returns its output and a note.
func (t *tester) ok(card int, note, do string, more ...any) (text, noted string) {
	t.Helper()
	o, err := t.run(t.Context(), card, do, more...)
	testkit.None(t, err)
	b, err := artifacts.ReadBlob(t.Context(), t.store.Blobs, o.Outputs["out"].Digest, 1000)
	testkit.None(t, err)
	return string(b), o.Env[step.NotePrefix+note]
}

// soon fails a test in which something does not happen.
func soon[T any](t *testing.T, what string, c <-chan T) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(20 * time.Second):
		t.Fatal(what)
	}
}

// TestRun: a step in another process has all that it has in this one.
func TestRun(t *testing.T) {
	p := newTester(t, Options{})
	d, err := artifacts.PutBytes(t.Context(), p.store.Blobs, []byte("some words"))
	testkit.None(t, err)
	var reported []step.Progress
	ctx := step.WithReporter(t.Context(), func(s step.Progress) { reported = append(reported, s) })
	o, err := p.run(ctx, device.Processors, "reads", "in", step.In(artifacts.Artifact{Type: "text", Digest: d, Size: 10}))
	testkit.None(t, err)
	b, err := artifacts.ReadBlob(t.Context(), p.store.Blobs, o.Outputs["out"].Digest, 1000)
	if err != nil || string(b) != "SOME WORDS" || o.Counts["bytes"] != 10 || o.Used == nil || o.Used.Read != 10 || o.Used.Written != 10 {
		t.Errorf("%q, %+v, %+v, %v", b, o, o.Used, err)
	}
	if log := p.log.String(); !strings.Contains(log, "level=INFO msg=read a=1 bytes=10") || strings.Contains(log, "not kept") || p.said.String() != "of its program\n" {
		t.Errorf("%q, %q", log, p.said.String())
	}
	testkit.That(t, len(reported) != 0 && reported[len(reported)-1].Done == 2, reported)
	pid := o.Env["step: pid"]
	for range 3 {
		if text, same := p.ok(device.Processors, "pid", "x"); text != "x" || same != pid {
			t.Errorf("%q by %s, after %s", text, same, pid)
		}
	}
	if _, err := p.p.Run(t.Context(), p.task("x"), "mem:", device.Processors, nil, nil); err == nil || !step.IsPermanent(err) || !strings.Contains(err.Error(), "a store in memory") {
		t.Error(err)
	}
	err = p.p.With(t.Context(), device.Processors, "", func(c *Client) error {
		long, got := strings.Repeat("0123456789", 150_000), ""
		if err := c.Call(t.Context(), "echo", long, &got); err != nil || got != long+long {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		for name, want := range map[string]string{"none": "unsupported type", "absent": `no call "absent"`} {
			testkit.ErrSays(t, c.Call(t.Context(), name, nil, nil), want)
		}
		return nil
	})
	if _, same := p.ok(device.Processors, "pid", "x"); err != nil || same != pid {
		t.Error(err, same, pid)
	}
}

// TestMany: steps at one time have a process each; those that nobody asks end, as do all
// when the pool does.
func TestMany(t *testing.T) {
	p := newTester(t, Options{Idle: 50 * time.Millisecond})
	var pids []int
	err := p.p.With(t.Context(), device.Processors, "", func(one *Client) error {
		return p.p.With(t.Context(), device.Processors, "", func(other *Client) error {
			pids = make([]int, 2)
			return errors.Join(one.Call(t.Context(), "pid", nil, &pids[0]), other.Call(t.Context(), "pid", nil, &pids[1]))
		})
	})
	testkit.That(t, err == nil && pids[0] != pids[1], pids, err)
	p.p.mu.Lock()
	for c := range p.p.all {
		defer func() {
			if !c.cmd.ProcessState.Success() {
				t.Error(c.cmd.ProcessState)
			}
		}()
		defer soon(t, "an idle process does not end", c.ended)
	}
	p.p.mu.Unlock()

	q := newTester(t, Options{})
	began, lost := make(chan bool, 1), make(chan error)
	go func() {
		_, err := q.run(step.WithReporter(t.Context(), func(step.Progress) { began <- true }), device.Processors, "waits, whatever is asked")
		lost <- err
	}()
	soon(t, "the step does not begin", began)
	q.p.Close()
	if err := <-lost; !errors.Is(err, errEnding) || step.IsPoisoned(err) {
		t.Error("a pool that was closed: ", err)
	}
	if _, err := q.run(t.Context(), device.Processors, "x"); !errors.Is(err, errEnding) || len(q.p.all) > 0 {
		t.Error(err)
	}
	var none *Pool
	none.Close()
	none.SetThreads(1)
	if _, err := none.Facts(t.Context()); !errors.As(err, new(*ProgramError)) || none.Deaths(artifacts.Digest{}) != 0 {
		t.Error(err)
	}
}

// TestThreads: processes are told of their threads when they begin and while they work; of
// those whose results depend on them, once and for all.
func TestThreads(t *testing.T) {
	for _, c := range []struct {
		env              string
		first, then, end int
	}{{exact + "=1", 3, 5, 5}, {"", 2, 2, 2}} {
		p := newTester(t, Options{}, c.env)
		p.p.Share(2)
		p.p.SetThreads(3)
		once := sync.OnceFunc(func() { p.p.SetThreads(5) })
		if _, n := p.ok(device.Processors, ThreadsNote, "x"); n != fmt.Sprint(c.first) {
			t.Errorf("%q: %s threads", c.env, n)
		}
		_, err := p.run(step.WithReporter(t.Context(), func(step.Progress) { once() }), device.Processors, "threads", "size", int64(c.then))
		once()
		if _, n := p.ok(device.Processors, ThreadsNote, "x"); n != fmt.Sprint(c.end) || err != nil {
			t.Errorf("%q: %s threads, %v", c.env, n, err)
		}
	}
}

// TestCards: a process sees the card alone that it is for, and computes there whatever a step
// asks for.
func TestCards(t *testing.T) {
	t.Setenv(nvidia.VisibleVariable, "4,6")
	p := newTester(t, Options{})
	wants := func(card int, want string) (pid string) {
		t.Helper()
		o, err := p.run(t.Context(), card, "x")
		if err != nil || o.Env["step: device"] != want {
			t.Fatalf("card %d: %v, %v", card, o.Env, err)
		}
		if card >= 0 && (o.Env["step: card id"] == "" || o.Used.Card != "A card" || o.Used.CardMemory == 0) {
			t.Errorf("card %d: %v, %+v", card, o.Env, o.Used)
		}
		return o.Env["step: pid"]
	}
	one, none := wants(1, "cuda:0 of 6"), wants(device.Processors, "cpu of 4,6")
	if f, err := p.p.Facts(t.Context()); err != nil || f.Libtorch != "fake" || len(f.Process.Cards) != 2 {
		t.Error(f, err)
	}
	pids := []string{one, none, wants(0, "cuda:0 of GPU-a"), wants(1, "cuda:0 of 6"), wants(device.Processors, "cpu of 4,6")}
	if pids[3] != one || pids[4] != none || len(slices.Compact(slices.Sorted(slices.Values(pids)))) != 3 {
		t.Error(pids)
	}
}

// TestPrograms: a second program that is not there, not to be run or another one is refused
// with what to do, and no step is blamed.
func TestPrograms(t *testing.T) {
	file := filepath.Join(t.TempDir(), Name)
	testkit.Write(t, file, "text")
	moved := filepath.Join(t.TempDir(), Name)
	testkit.Program(t, moved, "#!/gone/bin/python\n")
	for _, c := range []struct {
		program, env string
		says         []string
		is           error
	}{
		{moved, "", []string{moved, "its loader or interpreter is not there", "Alpine", "install one that runs here"}, nil},
		{"", role + "=on an old system", []string{"GLIBC_2.34", "use a machine or an image with a newer system"}, nil},
		{filepath.Join(t.TempDir(), "absent"), "", []string{"absent", "install it beside redsi", Variable}, fs.ErrNotExist},
		{file, "", []string{file, "chmod +x"}, fs.ErrPermission},
		{"", role + "=without libraries", []string{"does not start: it exited with code 127", "libtorch_cpu.so", "make build, or the archive"}, nil},
		{"", role + "=another", []string{"is another program", `"usage: anoth"`}, errGarbage},
		{"", build + "=b2", []string{"is build b2, but this redsi is build b1", "install both from one build"}, errBuild},
		{"", version + "=2", []string{"knows other versions of fake than this redsi, both of build b1", "install both from one build"}, errBuild},
	} {
		p := newTester(t, Options{Program: c.program}, c.env)
		_, err := p.run(t.Context(), device.Processors, "x")
		if !errors.As(err, new(*ProgramError)) || step.IsPoisoned(err) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v", c.env, err)
		}
		testkit.ErrSays(t, err, c.says...)
	}
	said := newTester(t, Options{}, role+"=refuses")
	if _, err := said.run(t.Context(), device.Processors, "x"); err == nil || !strings.HasSuffix(err.Error(), "redsi-models: torch in /site/torch is 2.4.1, and redsi-models was built for 2.11: do this") {
		t.Errorf("a refusal has no other advice: %v", err)
	}
	none := newTester(t, Options{}, role+"=without memory")
	_, err := none.run(t.Context(), device.Processors, "x")
	if errors.As(err, new(*ProgramError)) || none.p.Deaths(none.task("x").Key) > 0 || !step.IsPoisoned(err) || !strings.Contains(err.Error(), memoryAdvice) {
		t.Error(err)
	}
	testkit.None(t, os.Chmod(file, 0o755))
	if _, err := newTester(t, Options{Program: file}).run(t.Context(), device.Processors, "x"); !errors.Is(err, syscall.ENOEXEC) || !strings.Contains(err.Error(), "one that runs here") {
		t.Error(err)
	}
}
