package compute

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

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
	if _, err := p.p.Run(t.Context(), wrong, p.store.URL, device.Processors, nil, nil); !step.IsPermanent(err) || !strings.Contains(err.Error(), "another key here") {
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
			testkit.ErrSays(t, err, says, "iB of memory at most", "its last words:\nthe last words of "+do)
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
	for do, says := range map[string]string{"stops": "it was silent for 1.5s", "garbage": `not a message from redsi: it begins with "a library pr"`,
		"too many threads": "it was silent for 1.5s"} {
		t.Run(do, func(t *testing.T) {
			t.Parallel()
			p := newTester(t, Options{})
			if do == "too many threads" {
				p.p.SetThreads(tooMany)
			}
			_, err := p.run(t.Context(), device.Processors, do)
			if !step.IsPoisoned(err) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), memoryAdvice) {
				t.Error(err)
			}
		})
	}
	for _, do := range []string{"waits", "waits, whatever is asked"} {
		t.Run(do, func(t *testing.T) {
			t.Parallel()
			p := newTester(t, Options{})
			_, pid := p.ok(device.Processors, "pid", "x")
			ctx, cancel := context.WithCancel(t.Context())
			_, err := p.run(step.WithReporter(ctx, func(step.Progress) { cancel() }), device.Processors, do)
			if _, next := p.ok(device.Processors, "pid", "x"); !errors.Is(err, context.Canceled) || step.IsPoisoned(err) || p.p.Deaths(p.task(do).Key) > 0 || (next == pid) != (do == "waits") {
				t.Errorf("%v, process %s after %s", err, next, pid)
			}
		})
	}
}

// TestSilent: who waits for a process that closes its pipe before its first message, and goes on, can stop waiting.
func TestSilent(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.None(t, err)
	defer l.Close()
	p := newTester(t, Options{}, role+"=silent", address+"="+l.Addr().String())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.p.With(ctx, device.Processors, "", func(*Client) error { return nil }) }()
	c, err := l.Accept()
	testkit.None(t, err)
	defer c.Close()
	cancel()
	select {
	case err := <-ended:
		testkit.ErrIs(t, err, context.Canceled)
	case <-time.After(20 * time.Second):
		t.Fatal("it waits for the end of the process")
	}
}

// TestOrphan: a process ends with its parent, though that is killed, and it is stopped.
func TestOrphan(t *testing.T) {
	testkit.None(t, Serve(second(), strings.NewReader(""), io.Discard)) // its pipe has ended
	testkit.ErrIs(t, Serve(second(), strings.NewReader("something longer"), io.Discard), errGarbage)
	if runtime.GOOS != "linux" {
		t.Skip("the system does not end the children of one that is killed")
	}
	for _, first := range []string{"first", "first, the second stopped"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		testkit.None(t, err)
		parent := exec.Command(os.Args[0])
		parent.Env = append(os.Environ(), role+"="+first, address+"="+l.Addr().String())
		ready, err := parent.StdoutPipe()
		testkit.None(t, errors.Join(err, parent.Start()))
		c, err := l.Accept()
		testkit.None(t, err)
		_, err = io.ReadFull(ready, make([]byte, len("ready")))
		testkit.None(t, errors.Join(err, parent.Process.Kill(), c.SetDeadline(time.Now().Add(20*time.Second))))
		_ = parent.Wait() // it was killed
		if _, err := c.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: the process outlives its parent", first)
		}
		_, _ = c.Close(), l.Close()
	}
}
