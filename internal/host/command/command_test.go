package command_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/system/testkit"
)

// shell is a run of a shell script, and what it prints.
func shell(t *testing.T, script string) (command.Run, *bytes.Buffer) {
	t.Helper()
	sh, err := command.Find("sh")
	testkit.None(t, err)
	out := &bytes.Buffer{}
	return command.Run{Program: sh, Argv: []string{"sh", "-c", script}, Dir: t.TempDir(), Stdout: out,
		Env: map[string]string{"PATH": os.Getenv("PATH")}, ExitCodes: []int{0}}, out
}

func TestEnvironmentIsWhatIsGiven(t *testing.T) {
	t.Setenv("REDSI_TEST_SECRET", "1")
	r, out := shell(t, `printf '%s|%s|%s' "${REDSI_TEST_SECRET-unset}" "$COLOR" "$1"`)
	r.Argv = append(r.Argv, "sh", "a b $HOME")
	r.Env["COLOR"] = "red"
	testkit.None(t, r.Do(context.Background()))
	testkit.Is(t, out.String(), "unset|red|a b $HOME")
}

func TestStreams(t *testing.T) {
	var said []string
	r, out := shell(t, `cat; printf 'one\ntwo\r\n\nlast' >&2`)
	r.Stdin = strings.NewReader("fed")
	r.Line = func(s string) { said = append(said, s) }
	testkit.None(t, r.Do(context.Background()))
	if out.String() != "fed" || !slices.Equal(said, []string{"one", "two", "last"}) {
		t.Errorf("printed %q, said %q", out.String(), said)
	}
}

// TestUsed: the time of a program is its own and that of processes that it waited for; its
// memory is known if it had more than this process.
func TestUsed(t *testing.T) {
	r, _ := shell(t, `sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; head -c 600000000 /dev/zero | tail -c 600000000 | wc -c`)
	var got usage.Program
	r.Used = func(u usage.Program) { got = u }
	testkit.None(t, r.Do(context.Background()))
	testkit.That(t, got.CPU >= 10*time.Millisecond && got.Memory >= 600_000_000, got)
	r, _ = shell(t, `true`)
	r.Used = func(u usage.Program) { got = u }
	if err := r.Do(context.Background()); err != nil || got.Memory != 0 || got.CPU <= 0 {
		t.Errorf("%+v, %v: a small program's memory is hidden by that of the process that started it", got, err)
	}
}

func TestEnds(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		codes  []int
		want   string
	}{
		"zero":         {"exit 0", []int{0}, "<nil>"},
		"declared":     {"exit 3", []int{0, 3}, "<nil>"},
		"not declared": {"echo why >&2; exit 3", []int{0}, "sh exited with code 3; the end of its standard error:\nwhy"},
		"zero is not":  {"exit 0", []int{1}, "sh exited with code 0; it wrote nothing to standard error"},
		"signal":       {"kill -9 $$", []int{0}, `sh was ended by signal "killed" (out of memory, perhaps); it wrote nothing to standard error`},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := shell(t, c.script)
			r.ExitCodes, r.Kills = c.codes, nobodyKilled
			testkit.Is(t, fmt.Sprint(r.Do(context.Background())), c.want)
		})
	}
}

// nobodyKilled is a system that has ended nothing for want of memory.
func nobodyKilled() int64 { return 0 }

// TestOutOfMemory: a program that was killed was so for want of memory if the system ended
// one meanwhile, or what a shell had started. Each may pass.
func TestOutOfMemory(t *testing.T) {
	for _, c := range []struct {
		script  string
		kills   int64 // while it runs
		memory  bool
		passing bool
		want    string
	}{
		{"kill -9 $$", 1, true, true, `sh was ended by signal "killed" (by the system: no memory was left)`},
		{"kill -9 $$", 0, false, true, `sh was ended by signal "killed" (out of memory, perhaps)`},
		{"sh -c 'kill -9 $$'; exit $?", 1, true, false, "sh exited with code 137: the system ended a program that it had started, since no memory was left"},
		{"exit 137", 0, false, false, "sh exited with code 137;"},
		{"exit 1", 1, false, false, "sh exited with code 1;"},
		{"kill -SEGV $$", 1, false, false, `sh was ended by signal "segmentation fault" (it crashed)`},
		{"ulimit -f 1; exec head -c 100000 /dev/zero > out", 0, false, false,
			`sh was ended by signal "file size limit exceeded" (it wrote a file larger than this worker allows: ulimit -f)`},
	} {
		r, _ := shell(t, c.script)
		asked := int64(-1)
		r.Kills = func() int64 {
			asked++
			return 7 + asked*c.kills
		}
		var exit *command.ExitError
		if err := r.Do(context.Background()); !errors.As(err, &exit) || exit.OutOfMemory() != c.memory || exit.Passing() != c.passing || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s, %d kills: %v", c.script, c.kills, err)
		}
	}
}

func TestLongErrorsKeepTheirEnd(t *testing.T) {
	r, _ := shell(t, `i=0; while [ $i -lt 50 ]; do echo "line $i" >&2; i=$((i+1)); done; head -c 5000 /dev/zero | tr '\0' x >&2; exit 1`)
	var exit *command.ExitError
	if err := r.Do(context.Background()); !errors.As(err, &exit) {
		t.Fatalf("got %v", err)
	}
	if n := strings.Count(exit.Tail, "\n"); n != 19 || !strings.HasPrefix(exit.Tail, "line 31\n") || len(exit.Tail) > 1300 {
		t.Errorf("%d line ends, %d bytes: %.20q", n, len(exit.Tail), exit.Tail)
	}
}

// The program's children die with it: the pipe that all of them hold open ends,
// so Do returns although they would run for an hour.
func TestCancellationEndsTheGroup(t *testing.T) {
	for name, timeout := range map[string]time.Duration{"cancelled": 0, "timeout": 50 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			r, _ := shell(t, `sleep 3600 & echo started >&2; wait`)
			r.Timeout = timeout
			r.Line = func(string) {
				if timeout == 0 {
					cancel()
				}
			}
			err := r.Do(ctx)
			if _, late := errors.AsType[*command.TimeoutError](err); late != (timeout > 0) || !late && !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestPrograms(t *testing.T) {
	testkit.Some(t, testkit.Err(command.Find("no-such-program-at-all")), "found")
	testkit.ErrSays(t, testkit.Err(command.Find("bin/tool")), "is a relative path")
	if p, err := command.Find("sh"); err != nil || !filepath.IsAbs(p) {
		t.Errorf("%q, %v", p, err)
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	tool := filepath.Join(dir, "tool")
	testkit.None(t, os.WriteFile(tool, nil, 0o755))
	end, inner := command.Remember(), command.Remember()
	for _, done := range []func(){func() {}, func() { testkit.None(t, os.Remove(tool)) }, inner} {
		done()
		testkit.Of(t, tool, "while it is remembered")(command.Find("tool"))
	}
	end()
	testkit.ErrSays(t, testkit.Err(command.Find("tool")), "program tool")
	r := command.Run{Program: "/nonexistent", Argv: []string{"x"}, Dir: t.TempDir(), Stdout: &bytes.Buffer{}}
	testkit.ErrSays(t, r.Do(context.Background()), "start x")
}

// What cannot start says what to do, and whether another time may be better.
func TestStarts(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		testkit.None(t, os.WriteFile(path, []byte(text), mode))
		return path
	}
	for want, r := range map[string]command.Run{
		"begin it with a line such as #!/bin/sh": {Program: write("text", "echo\n", 0o755), Argv: []string{"x"}},
		"this account may not execute it":        {Program: write("plain", "#!/bin/sh\n", 0o644), Argv: []string{"x"}},
		"interpreter that its first line":        {Program: write("script", "#!/no/such/interpreter\n", 0o755), Argv: []string{"x"}},
		"longer than this system takes":          {Program: "/bin/sh", Argv: []string{"x", strings.Repeat("x", 10<<20)}},
		"start x: fork/exec /bin/sh: invalid a":  {Program: "/bin/sh", Argv: []string{"x", "a\x00b"}},
	} {
		r.Dir, r.Stdout = dir, &bytes.Buffer{}
		err := r.Do(context.Background())
		var start *command.StartError
		if !errors.As(err, &start) || start.Passing() || !strings.Contains(err.Error(), want) {
			t.Errorf("got %.300v, want %s", err, want)
		}
	}
	if !(&command.StartError{Argv: []string{"x"}, Err: syscall.EAGAIN}).Passing() {
		t.Error("no process is to be had for ever")
	}
}

// A program whose start cannot be recorded does not run on.
func TestUnrecorded(t *testing.T) {
	r, _ := shell(t, "sleep 3600")
	full := errors.New("disk full")
	r.Started = func(int) error { return full }
	testkit.ErrIs(t, r.Do(context.Background()), full)
}

func TestOutputs(t *testing.T) {
	for name, c := range map[string]struct {
		declared command.Outputs
		left     []string
		link     bool
		want     []string
		wrong    string
	}{
		"file and folder":  {command.Outputs{"b.json", "plots/"}, []string{"plots/2/x", "plots/1", "b.json"}, false, []string{"b.json", "plots/1", "plots/2/x"}, ""},
		"nested file":      {command.Outputs{"a/b/c"}, []string{"a/b/c"}, false, []string{"a/b/c"}, ""},
		"missing file":     {command.Outputs{"a", "b"}, []string{"a"}, false, nil, "did not write its output out/b"},
		"empty folder":     {command.Outputs{"plots/"}, nil, false, nil, "left no file in its output out/plots/"},
		"undeclared":       {command.Outputs{"a"}, []string{"a", "ab"}, false, nil, "out/ab, which outputs does not declare"},
		"a link":           {command.Outputs{"a", "link"}, []string{"a"}, true, nil, "out/link, which is a symbolic link"},
		"folder as a file": {command.Outputs{"a"}, []string{"a/b"}, false, nil, "out/a/b, which outputs does not declare"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			testkit.None(t, c.declared.Prepare(dir))
			for _, f := range c.left {
				testkit.Write(t, filepath.Join(dir, f), "x")
			}
			if c.link {
				testkit.None(t, os.Symlink("a", filepath.Join(dir, "link")))
			}
			got, err := c.declared.Collect(dir)
			if c.wrong != "" {
				testkit.ErrSays(t, err, c.wrong)
				return
			}
			testkit.That(t, err == nil && slices.Equal(got, c.want), "got", got, err)
		})
	}
	if _, err := (command.Outputs{"a"}).Collect(filepath.Join(t.TempDir(), "gone")); err == nil || err.Error() != "it removed the folder out" {
		t.Errorf("without a folder: %v", err)
	}
	for _, bad := range []string{"", "/a", "../a", "a/../b", ".", "a//b", "a\\b", "//", "*.txt", "plots/fig?.png"} {
		if (command.Outputs{bad}).Check() == nil {
			t.Errorf("%q passes", bad)
		}
	}
}
