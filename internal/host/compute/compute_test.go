package compute

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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
	"github.com/redsi/redsi/internal/stores/mem"
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
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	key, _, err := t.p.o.Registry.Key(task)
	if err != nil {
		t.Fatal(err)
	}
	return Task{Step: "fake." + do, Key: key, Task: task}
}

func (t *tester) run(ctx context.Context, card int, do string, more ...any) (stepio.Outcome, error) {
	return t.p.Run(ctx, t.task(do, more...), t.store, card, slog.New(slog.NewTextHandler(&t.log, nil)), &t.said)
}

// ok runs a step that must succeed, and returns its output and a note.
func (t *tester) ok(card int, note, do string, more ...any) (text, noted string) {
	t.Helper()
	o, err := t.run(t.Context(), card, do, more...)
	if err != nil {
		t.Fatal(err)
	}
	b, err := artifacts.ReadBlob(t.Context(), t.store.Blobs, o.Outputs["out"].Digest, 1000)
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	var reported []step.Progress
	ctx := step.WithReporter(t.Context(), func(s step.Progress) { reported = append(reported, s) })
	o, err := p.run(ctx, device.Processors, "reads", "in", step.In(artifacts.Artifact{Type: "text", Digest: d, Size: 10}))
	if err != nil {
		t.Fatal(err)
	}
	b, err := artifacts.ReadBlob(t.Context(), p.store.Blobs, o.Outputs["out"].Digest, 1000)
	if err != nil || string(b) != "SOME WORDS" || o.Counts["bytes"] != 10 || o.Used == nil || o.Used.Read != 10 || o.Used.Written != 10 {
		t.Errorf("%q, %+v, %+v, %v", b, o, o.Used, err)
	}
	if log := p.log.String(); !strings.Contains(log, "level=INFO msg=read a=1 bytes=10") || strings.Contains(log, "not kept") || p.said.String() != "of its program\n" {
		t.Errorf("%q, %q", log, p.said.String())
	}
	if len(reported) == 0 || reported[len(reported)-1].Done != 2 {
		t.Errorf("%v", reported)
	}
	pid := o.Env["step: pid"]
	for range 3 {
		if text, same := p.ok(device.Processors, "pid", "x"); text != "x" || same != pid {
			t.Errorf("%q by %s, after %s", text, same, pid)
		}
	}
	if _, err := p.p.Run(t.Context(), p.task("x"), mem.New(), device.Processors, nil, nil); err == nil || !step.IsPermanent(err) || !strings.Contains(err.Error(), "a store in memory") {
		t.Error(err)
	}
	err = p.p.With(t.Context(), device.Processors, "", func(c *Client) error {
		long, got := strings.Repeat("0123456789", 150_000), ""
		if err := c.Call(t.Context(), "echo", long, &got); err != nil || got != long+long {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		for name, want := range map[string]string{"none": "unsupported type", "absent": `no call "absent"`} {
			if err := c.Call(t.Context(), name, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", name, err)
			}
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
	if err != nil || pids[0] == pids[1] {
		t.Error(pids, err)
	}
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

// TestFailures: an error of a step is what it was there, and its process goes on, unless it
// says that it cannot.
func TestFailures(t *testing.T) {
	p := newTester(t, Options{})
	_, pid := p.ok(device.Processors, "pid", "x")
	for name, want := range failures {
		_, err := p.run(t.Context(), device.Processors, name)
		var refused, wantRefused *artifacts.RefusedError
		var corrupt, wantCorrupt *artifacts.IntegrityError
		var changed, wantChanged *step.SourceChangedError
		if errors.As(err, &refused) != errors.As(want, &wantRefused) || errors.As(err, &corrupt) != errors.As(want, &wantCorrupt) || errors.As(err, &changed) != errors.As(want, &wantChanged) ||
			corrupt != nil && *corrupt != *wantCorrupt || changed != nil && changed.Path != wantChanged.Path || artifacts.IsLost(err) != artifacts.IsLost(want) {
			t.Errorf("%s: %#v", name, err)
		}
		if err == nil || err.Error() != strings.ToValidUTF8(want.Error(), "\uFFFD") || step.IsPermanent(err) != step.IsPermanent(want) || step.IsPoisoned(err) != step.IsPoisoned(want) ||
			errors.Is(err, syscall.ENOSPC) != (name == "full") || errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		_, next := p.ok(device.Processors, "pid", "x")
		if (next == pid) == step.IsPoisoned(want) {
			t.Errorf("after %s: process %s, %s before", name, next, pid)
		}
		pid = next
	}
	_, err := p.run(t.Context(), device.Processors, "panics")
	if _, same := p.ok(device.Processors, "pid", "x"); !step.IsPermanent(err) || !strings.Contains(err.Error(), "a bug in redsi") || !strings.Contains(err.Error(), "fake_test.go") || same != pid {
		t.Errorf("%v, %s, %s", err, pid, same)
	}
	wrong := p.task("x")
	wrong.Key = artifacts.Sum([]byte("another"))
	if _, err := p.p.Run(t.Context(), wrong, p.store, device.Processors, nil, nil); !step.IsPermanent(err) || !strings.Contains(err.Error(), "another key here") {
		t.Error(err)
	}
}

// TestDeaths: who dies says how, fails its step alone, and the next one continues from the
// checkpoint. Nothing is left in its folders.
func TestDeaths(t *testing.T) {
	for how, says := range map[string]string{
		"segmentation fault": `signal "segmentation violation" ended it`, "abort": `signal "abort" ended it`, "code 3": "it exited with code 3", "killed": `signal "killed" ended it`,
		"killed, but not what it started": `signal "killed" ended it`,
	} {
		t.Run(how, func(t *testing.T) {
			p, do := newTester(t, Options{}), "dies by "+how
			key := p.task(do).Key
			began := time.Now()
			_, err := p.run(t.Context(), device.Processors, do)
			if took := time.Since(began); took > 15*time.Second {
				t.Error("it waits for what the process started: ", took)
			}
			var died *DiedError
			if !step.IsPoisoned(err) || !errors.As(err, &died) || p.p.Deaths(key) != 1 {
				t.Fatal(err, p.p.Deaths(key))
			}
			for _, w := range []string{says, "iB of memory at most", "its last words:\nthe last words of " + do} {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q is not in: %v", w, err)
				}
			}
			if advised := strings.Contains(err.Error(), memoryAdvice); advised != strings.HasPrefix(how, "killed") || len(err.Error()) > 3*wordsBytes {
				t.Error(err)
			}
			if left, err := filepath.Glob(filepath.Join(os.TempDir(), "redsi-*", "*", "step-*")); err != nil || len(left) > 0 {
				t.Error(left, err)
			}
			if text, _ := p.ok(device.Processors, "pid", do); text != "from the checkpoint" || p.p.Deaths(key) != 0 {
				t.Error(text, p.p.Deaths(key))
			}
		})
	}
	p := newTester(t, Options{})
	_, first := p.ok(device.Processors, "pid", "x")
	for c := range p.p.all { // while nobody asks it
		c.kill()
		soon(t, "it does not die", c.ended)
	}
	if _, next := p.ok(device.Processors, "pid", "x"); next == first {
		t.Error(next)
	}
}

// TestEnds: a process that is silent, says what is not a message or does not end what is
// cancelled is ended; one that ends it in time is kept.
func TestEnds(t *testing.T) {
	p := newTester(t, Options{})
	for do, says := range map[string]string{"stops": "it was silent for 1.5s", "garbage": `not a message from redsi: it begins with "a library pr"`} {
		_, err := p.run(t.Context(), device.Processors, do)
		if !step.IsPoisoned(err) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), memoryAdvice) {
			t.Errorf("%s: %v", do, err)
		}
	}
	p.p.SetThreads(tooMany)
	if _, err := p.run(t.Context(), device.Processors, "x"); !step.IsPoisoned(err) || !strings.Contains(err.Error(), "it was silent for 1.5s") {
		t.Error(err)
	}
	p.p.SetThreads(1)
	_, pid := p.ok(device.Processors, "pid", "x")
	for _, do := range []string{"waits", "waits, whatever is asked"} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := p.run(step.WithReporter(ctx, func(step.Progress) { cancel() }), device.Processors, do)
		if _, next := p.ok(device.Processors, "pid", "x"); !errors.Is(err, context.Canceled) || step.IsPoisoned(err) || p.p.Deaths(p.task(do).Key) > 0 || (next == pid) != (do == "waits") {
			t.Errorf("%s: %v, process %s after %s", do, err, next, pid)
		}
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
	if err := os.WriteFile(file, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		program, env string
		says         []string
		is           error
	}{
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
		for _, s := range c.says {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%q is not in: %v", s, err)
			}
		}
	}
	none := newTester(t, Options{}, role+"=without memory")
	_, err := none.run(t.Context(), device.Processors, "x")
	if errors.As(err, new(*ProgramError)) || none.p.Deaths(none.task("x").Key) > 0 || !step.IsPoisoned(err) || !strings.Contains(err.Error(), memoryAdvice) {
		t.Error(err)
	}
	if err := os.Chmod(file, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := newTester(t, Options{Program: file}).run(t.Context(), device.Processors, "x"); !errors.Is(err, syscall.ENOEXEC) || !strings.Contains(err.Error(), "one that runs here") {
		t.Error(err)
	}
}

// TestOrphan: a process ends with its parent, though that is killed, and it is stopped.
func TestOrphan(t *testing.T) {
	if err := Serve(second(), strings.NewReader(""), io.Discard); err != nil { // its pipe has ended
		t.Error(err)
	}
	if err := Serve(second(), strings.NewReader("something longer"), io.Discard); !errors.Is(err, errGarbage) {
		t.Error(err)
	}
	if runtime.GOOS != "linux" {
		t.Skip("the system does not end the children of one that is killed")
	}
	for _, first := range []string{"first", "first, the second stopped"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		parent := exec.Command(os.Args[0])
		parent.Env = append(os.Environ(), role+"="+first, address+"="+l.Addr().String())
		ready, err := parent.StdoutPipe()
		if err = errors.Join(err, parent.Start()); err != nil {
			t.Fatal(err)
		}
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadFull(ready, make([]byte, len("ready")))
		if err = errors.Join(err, parent.Process.Kill(), c.SetDeadline(time.Now().Add(20*time.Second))); err != nil {
			t.Fatal(err)
		}
		_ = parent.Wait() // it was killed
		if _, err := c.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: the process outlives its parent", first)
		}
		_, _ = c.Close(), l.Close()
	}
}

// TestFrames: what is not a whole frame is told from an end, and from what was sent.
func TestFrames(t *testing.T) {
	var b bytes.Buffer
	w := &writer{w: &b}
	if err := w.send(message{ID: 7, Said: []byte("\xff")}); err != nil {
		t.Fatal(err)
	}
	frame := b.String()
	if m, err := receive(strings.NewReader(frame)); err != nil || m.ID != 7 || string(m.Said) != "\xff" {
		t.Error(m, err)
	}
	for text, want := range map[string]error{
		"": io.EOF, frame[:7]: io.ErrUnexpectedEOF, frame[:len(frame)-1]: io.ErrUnexpectedEOF, "x" + frame: errGarbage,
		frame[:len(frame)-1] + "]": errGarbage, magic + "\xff\xff\xff\xff0000": errGarbage, magic + "\x00\x00\x00\x00\x00\x00\x00\x00": errGarbage,
	} {
		if _, err := receive(strings.NewReader(text)); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
	last := &tail{}
	for range 400 {
		_, _ = last.Write(bytes.Repeat([]byte("before\n"), 200))
	}
	_, _ = last.Write([]byte("terminate called\nfatal error: unexpected signal during runtime execution\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x0]\n" + strings.Repeat("\tgoroutine\n", 5000)))
	if words, signal := last.words(true); signal != "segmentation violation" || !strings.Contains(words, "terminate called\nfatal error") || len(words) > wordsBytes || len(last.text) > 2*tailBytes {
		t.Errorf("%q, %q", signal, words)
	}
	if words, signal := last.words(false); signal != "" || !strings.HasSuffix(words, "goroutine") || len(words) > wordsBytes {
		t.Errorf("%q, %q", signal, words)
	}
}

// TestFind: the program is where the environment says, beside this one, or in lib.
func TestFind(t *testing.T) {
	t.Setenv(Variable, "")
	self, err := filepath.EvalSymlinks(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if got := Find(); got != filepath.Join(filepath.Dir(self), Name) {
		t.Error(got)
	}
	t.Setenv(Variable, "/elsewhere/models")
	if got := Find(); got != "/elsewhere/models" {
		t.Error(got)
	}
}
