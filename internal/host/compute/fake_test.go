package compute

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/host/nvidia"
	"github.com/redsi/redsi/step"
)

// The variables by which this test's program is the second one, and of which sort.
const (
	role    = "REDSI_TEST_ROLE"
	build   = "REDSI_TEST_BUILD"
	version = "REDSI_TEST_VERSION"
	exact   = "REDSI_TEST_EXACT"
	address = "REDSI_TEST_ADDRESS" // of who wants to notice its end
)

// tooMany are more threads than the system gives.
const tooMany = 1 << 20

func TestMain(m *testing.M) {
	aliveEvery, silentFor, cancelTime, lastWords = 50*time.Millisecond, 1500*time.Millisecond, 500*time.Millisecond, 200*time.Millisecond
	switch os.Getenv(role) {
	case "":
		folder, err := os.MkdirTemp("", "compute-")
		if err == nil {
			err = os.Setenv("TMPDIR", folder)
		}
		if err != nil {
			panic(err)
		}
		code := m.Run()
		_ = os.RemoveAll(folder)
		os.Exit(code)
	case "second":
		if err := Serve(second(), os.NewFile(3, "in"), os.NewFile(4, "out")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "without libraries":
		fmt.Fprintln(os.Stderr, "error while loading shared libraries: libtorch_cpu.so: cannot open shared object file")
		os.Exit(127)
	case "on an old system":
		fmt.Fprintln(os.Stderr, "redsi-models: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by redsi-models)")
		os.Exit(1)
	case "refuses":
		fmt.Fprintln(os.Stderr, "redsi-models: torch in /site/torch is 2.4.1, and redsi-models was built for 2.11: do this")
		os.Exit(2)
	case "without memory":
		fmt.Fprintln(os.Stderr, "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc")
		os.Exit(134)
	case "another":
		_, _ = os.NewFile(4, "out").WriteString("usage: another program\n")
		_, _ = io.Copy(io.Discard, os.NewFile(3, "in"))
	case "silent":
		_ = os.NewFile(4, "out").Close()
		connected, _ = net.Dial("tcp", os.Getenv(address))
		_, _ = io.Copy(io.Discard, os.NewFile(3, "in"))
	case "first", "first, the second stopped":
		p := New(Options{Program: os.Args[0], Env: []string{role + "=second"}, Build: "b1", Registry: registry(1)})
		panic(p.With(context.Background(), device.Processors, "", func(c *Client) error {
			err := c.Call(context.Background(), "connect", nil, nil)
			if os.Getenv(role) != "first" {
				err = errors.Join(err, c.p.cmd.Process.Signal(syscall.SIGSTOP))
			}
			if err == nil {
				fmt.Println("ready")
				time.Sleep(time.Minute)
			}
			return err
		}))
	}
}

type config struct {
	Do   string     `hcl:"do" help:"h"`
	In   step.Input `hcl:"in,optional" accepts:"text" help:"h"`
	Size int        `hcl:"size,optional" help:"h"`
}

func registry(version int) *step.Registry {
	declared := step.Define(step.Kind[config]{Name: "fake", Version: version, Doc: "d", Needs: step.Libtorch, Outputs: []step.Output{{Name: "out", Type: "text"}}})
	return step.NewRegistry(step.WithHalves([]step.Spec{declared}, step.Compute(declared, do))...)
}

var (
	threads   atomic.Int64
	connected net.Conn // which ends with this process
)

func second() Serving {
	v, _ := strconv.Atoi(os.Getenv(version))
	return Serving{
		Build: cmp.Or(os.Getenv(build), "b1"), Registry: registry(max(1, v)), Exact: os.Getenv(exact) != "",
		Threads: func() int { return int(threads.Load()) }, SetThreads: func(n int) {
			if n == tooMany {
				select {} // as libtorch does, if it gets none
			}
			threads.Store(int64(n))
		},
		Facts: func() device.Facts {
			return device.Facts{Libtorch: "fake", Process: nvidia.Process{Cards: []nvidia.Card{{Name: "A card", UUID: "GPU-a"}, {Name: "B card", UUID: "GPU-b"}}}}
		},
		CardMemory: func() (int64, int64, bool) { return 7, 9, true },
		Calls: map[string]func(context.Context, json.RawMessage) (any, error){
			"pid": func(context.Context, json.RawMessage) (any, error) { return os.Getpid(), nil },
			"echo": func(_ context.Context, args json.RawMessage) (any, error) {
				var text string
				err := json.Unmarshal(args, &text)
				return text + text, err
			},
			"none": func(context.Context, json.RawMessage) (any, error) { return make(chan int), nil },
			"connect": func(context.Context, json.RawMessage) (_ any, err error) {
				connected, err = net.Dial("tcp", os.Getenv(address))
				return nil, err
			},
		},
	}
}

// self sends a signal to this process, and waits for what it does.
func self(s syscall.Signal) {
	_ = syscall.Kill(os.Getpid(), s)
	time.Sleep(time.Minute)
}

var failures = map[string]error{
	"full":      fmt.Errorf("write: %w", syscall.ENOSPC),
	"lost":      fmt.Errorf("blob: %w", artifacts.ErrNotExist),
	"corrupt":   fmt.Errorf("read: %w", &artifacts.IntegrityError{Want: artifacts.Sum([]byte("want")), Got: artifacts.Sum([]byte("got")), Size: 3, Where: "here", Other: true}),
	"permanent": step.Permanent(errors.New("bad input")),
	"poisoned":  step.Poisoned(errors.New("the card has failed")),
	"refused":   fmt.Errorf("put: %w", &artifacts.RefusedError{Err: errors.New("denied")}),
	"changed":   &step.SourceChangedError{Path: "/a/file", Err: errors.New("it has other bytes")},
	"plain":     errors.New("try again"),
	"invalid":   errors.New("not \xff text"),
}

// do does what the configuration says, in the second program.
func do(ctx context.Context, x *step.IO, c config) error {
	x.Note("pid", strconv.Itoa(os.Getpid()))
	x.Note("device", device.Given(ctx)+" of "+os.Getenv(nvidia.VisibleVariable))
	if err := failures[c.Do]; err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "the last words of", c.Do)
	if strings.HasPrefix(c.Do, "dies by ") {
		again := false
		_, err := x.Checkpoints().Latest(ctx, func(n int64, _ map[string]artifacts.File) error {
			again = n == 4
			return nil
		})
		if err != nil || again {
			return errors.Join(err, write(x, "from the checkpoint"))
		}
		if _, err = x.Scratch(); err != nil {
			return err
		}
		f, err := x.Checkpoints().Put(ctx, "state", strings.NewReader("four"))
		if err == nil {
			err = x.Checkpoints().Save(ctx, 4, map[string]artifacts.File{"state": f})
		}
		if err != nil {
			return err
		}
	}
	switch c.Do {
	case "dies by segmentation fault":
		self(syscall.SIGSEGV)
	case "dies by abort":
		self(syscall.SIGABRT)
	case "dies by killed":
		self(syscall.SIGKILL)
	case "dies by code 3":
		os.Exit(3)
	case "dies by killed, but not what it started":
		left := exec.Command("sleep", "20")
		left.Stdout, left.Stderr, left.ExtraFiles = os.Stdout, os.Stderr, []*os.File{os.NewFile(4, "out")}
		if err := left.Start(); err != nil {
			return err
		}
		defer left.Process.Kill()
		self(syscall.SIGKILL)
	case "panics":
		var none *config
		none.Do = "a bug"
	case "garbage":
		if _, err := os.NewFile(4, "out").WriteString("a library prints this\n"); err != nil {
			return err
		}
		<-ctx.Done()
	case "stops":
		self(syscall.SIGSTOP)
	case "waits", "waits, whatever is asked":
		x.Report(step.Progress{Note: "waiting"})
		if <-ctx.Done(); c.Do == "waits" {
			return ctx.Err()
		}
		select {}
	case "threads":
		for deadline := time.Now().Add(10 * time.Second); threads.Load() != int64(c.Size); x.Report(step.Progress{}) {
			if time.Now().After(deadline) {
				return fmt.Errorf("there are %d threads", threads.Load())
			}
		}
	case "reads":
		r, err := x.Open(c.In)
		if err != nil {
			return err
		}
		b, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil {
			return err
		}
		fmt.Println("on standard output\nrdsi")
		fmt.Fprintln(x.Stderr, "of its program")
		x.Log.Debug("not kept")
		x.Log.With("a", 1).Info("read", "bytes", len(b))
		x.Count("bytes", int64(len(b)))
		x.Report(step.Progress{Done: 1, Total: 2})
		x.Report(step.Progress{Done: 2, Total: 2})
		return write(x, strings.ToUpper(string(b)))
	}
	return write(x, c.Do)
}

func write(x *step.IO, text string) error {
	w, err := x.Create("out")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, text)
	return errors.Join(err, w.Close())
}
