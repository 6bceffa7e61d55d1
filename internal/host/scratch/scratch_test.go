package scratch_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/scratch"
	"github.com/redsi/redsi/internal/system/process"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestMain lets a test run this program as a worker that will be killed.
func TestMain(m *testing.M) {
	if root := os.Getenv("SCRATCH_WORKER"); root != "" {
		work(root)
	}
	os.Exit(m.Run())
}

// work runs a program in a folder, as a step does, and tells where; the program
// tells its number and those of its children.
func work(root string) {
	a := scratch.In(root)
	dir, err := a.New()
	if err != nil {
		panic(err)
	}
	sh, err := command.Find("sh")
	if err != nil {
		panic(err)
	}
	fmt.Println("dir", dir)
	// A child in its group; one that left the group and the session.
	r := command.Run{Program: sh, Argv: []string{"sh", "-c", `mkdir ro; echo > ro/f; chmod 500 ro
sleep 3600 & a=$!
setsid sh -c 'cd /; echo $$; exec sleep 3600' & wait_for=$!
echo $$; echo $a; echo started; wait`}, Dir: dir, Stdout: os.Stdout,
		Env:     map[string]string{"PATH": os.Getenv("PATH"), "HOME": dir, "TMPDIR": filepath.Join(dir, "tmp")},
		Started: func(pid int) error { return a.Runs(dir, pid) }}
	panic(r.Do(context.Background()))
}

func TestFolders(t *testing.T) {
	root := filepath.Join(t.TempDir(), "steps")
	a := scratch.In(root)
	testkit.Of(t, scratch.Swept{}, "of nothing")(a.Sweep())
	testkit.ErrIs(t, testkit.Err(os.Stat(root)), os.ErrNotExist, "before the first folder")
	one, err := a.New()
	testkit.None(t, err)
	two, err := a.New()
	if err != nil || one == two {
		t.Fatal(one, two, err)
	}
	// Those of a process that lives stay, also to itself.
	other := scratch.In(root)
	for _, who := range []*scratch.Area{a, other} {
		testkit.Of(t, scratch.Swept{}, "of a living process")(who.Sweep())
	}
	testkit.None(t, errors.Join(os.MkdirAll(filepath.Join(one, "a", "b"), 0o755), os.WriteFile(filepath.Join(one, "a", "b", "c"), nil, 0o400),
		os.Chmod(filepath.Join(one, "a", "b"), 0o500), os.Chmod(filepath.Join(one, "a"), 0)))
	testkit.None(t, errors.Join(a.Discard(one), a.Discard(two), a.Close(), a.Close()))
	left, err := os.ReadDir(root)
	testkit.That(t, err == nil && len(left) == 1 && left[0].Name() == "lock", "left", left, err)
}

// A root that others can write to, or that is a link, is refused.
func TestRoot(t *testing.T) {
	dir := t.TempDir()
	open, link, file := filepath.Join(dir, "open"), filepath.Join(dir, "link"), filepath.Join(dir, "file")
	if err := errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o770), os.Symlink(t.TempDir(), link), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{open, link, file} {
		a := scratch.In(root)
		testkit.ErrSays(t, testkit.Err(a.New()), root+" is not a folder that only this account")
		testkit.Some(t, testkit.Err(a.Sweep()), root)
	}
}

// working starts a worker and waits until its program runs. It returns the folder
// and the processes of the program.
func working(t *testing.T, root string) (*exec.Cmd, string, []process.Identity) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SCRATCH_WORKER="+root)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	testkit.None(t, err)
	var dir string
	var left []process.Identity
	lines := bufio.NewScanner(out)
	for started := false; (!started || len(left) < 3) && lines.Scan(); {
		line := lines.Text()
		if d, ok := strings.CutPrefix(line, "dir "); ok {
			dir = d
		} else if pid, err := strconv.Atoi(line); err == nil {
			id, err := process.Of(pid)
			testkit.None(t, err)
			left = append(left, id)
		}
		started = started || line == "started"
	}
	if len(left) != 3 {
		t.Fatalf("the worker started %d processes", len(left))
	}
	return cmd, dir, left
}

func TestSweep(t *testing.T) {
	root := filepath.Join(t.TempDir(), "steps")
	one, dir, left := working(t, root)
	two, another, more := working(t, root)
	testkit.Of(t, scratch.Swept{}, "of living workers")(scratch.In(root).Sweep())
	for _, w := range []*exec.Cmd{one, two} {
		testkit.None(t, w.Process.Kill())
		_ = w.Wait()
	}
	bystander := exec.Command("sleep", "3600")
	testkit.None(t, bystander.Start())
	defer func() { _ = bystander.Process.Kill(); _ = bystander.Wait() }()

	swept, err := scratch.In(root).Sweep()
	testkit.That(t, err == nil && swept.Folders == 2 && swept.Programs != 0, swept, err)
	for _, d := range []string{dir, another} {
		testkit.ErrIs(t, testkit.Err(os.Stat(d)), os.ErrNotExist, d)
	}
	for _, id := range append(left, more...) {
		if !id.AwaitEnd(time.Minute) {
			t.Errorf("process %d runs on", id.PID)
			_ = id.End()
		}
	}
	testkit.None(t, bystander.Process.Signal(syscall.Signal(0)), "a process that is nobody's was ended")
	testkit.Of(t, scratch.Swept{}, "twice")(scratch.In(root).Sweep())
}

// What was killed while it made its place, or wrote a record, is swept too; what
// is another machine's is not.
func TestSweepHalves(t *testing.T) {
	root := filepath.Join(t.TempDir(), "steps")
	me, err := process.Self()
	testkit.None(t, err)
	write := func(place, owner, program string) string {
		dir := filepath.Join(root, place, "step-1")
		testkit.None(t, errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(root, 0o700)))
		for path, text := range map[string]string{filepath.Join(root, place, "owner"): owner, dir + ".program": program} {
			testkit.None(t, os.WriteFile(path, []byte(text), 0o600))
		}
		return dir
	}
	host := func(machine, boot string) string {
		return fmt.Sprintf(`{"pid":1,"start":"1","machine":%q,"boot":%q}`, machine, boot)
	}
	// The recorded leader has the number of this test, in a boot before.
	gone := []string{
		write("1-unfinished", "", ""), write("2-half", `{"pid":`, `{"pid":`),
		write("3-before-the-boot", host(me.Machine, "another"), fmt.Sprintf(`{"pid":%d,"start":%q,"machine":%q,"boot":"another"}`, me.PID, me.Start, me.Machine)),
		write("4-number-taken", host("a container", me.Boot), fmt.Sprintf(`{"pid":%d,"start":"0","machine":%q,"boot":%q,"namespace":%q}`, me.PID, me.Machine, me.Boot, me.Numbers)),
	}
	testkit.None(t, os.Remove(filepath.Join(root, "1-unfinished", "owner")))
	// An engine whose container outlived its client is told to end it, by its name.
	bin := t.TempDir()
	told := filepath.Join(bin, "told")
	testkit.Program(t, filepath.Join(bin, "docker"), "#!/bin/sh\necho \"$@\" >> "+told+"\necho Error: No such container: x >&2\nexit 1\n")
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	testkit.None(t, os.WriteFile(gone[1]+scratch.ContainerSuffix, []byte("docker"), 0o600))
	stays := write("5-another-machine", host("elsewhere", "another"), "")
	swept, err := scratch.In(root).Sweep()
	testkit.None(t, err)
	testkit.Is(t, swept, scratch.Swept{Folders: len(gone)})
	testkit.Is(t, testkit.Text(t, told), "kill redsi-2-half-step-1\n")
	for _, d := range gone {
		testkit.ErrIs(t, testkit.Err(os.Stat(filepath.Dir(d))), os.ErrNotExist, d)
	}
	testkit.None(t, testkit.Err(os.Stat(stays)))
}

// TestEndedAtOnce: what a program leaves running is ended, also of one that has ended before anybody could note it.
func TestEndedAtOnce(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("no process tells another's environment here")
	}
	a := scratch.In(filepath.Join(t.TempDir(), "steps"))
	for _, gone := range []bool{false, true} {
		dir, err := a.New()
		testkit.None(t, err)
		cmd := exec.Command("setsid", "sh", "-c", "setsid sleep 3600 >/dev/null & echo $!; [ -n \"$GONE\" ] || read wait; exit 0")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
		if gone {
			cmd.Env = append(cmd.Env, "GONE=1")
		}
		in, err := cmd.StdinPipe()
		testkit.None(t, err)
		out, err := cmd.StdoutPipe()
		testkit.None(t, errors.Join(err, cmd.Start()))
		var pid int
		_, err = fmt.Fscan(out, &pid)
		testkit.None(t, err)
		left, err := process.Of(pid)
		for gone && err == nil { // until it waits to be collected
			if _, err := process.Of(cmd.Process.Pid); errors.Is(err, process.ErrGone) {
				break
			}
		}
		testkit.None(t, errors.Join(err, a.Runs(dir, cmd.Process.Pid), in.Close(), cmd.Wait(), a.Ended(dir)))
		if left.Running() {
			t.Errorf("process %d runs on after a program that was there to be noted: %t", pid, !gone)
			_ = left.End()
		}
		testkit.None(t, a.Discard(dir))
	}
	testkit.None(t, a.Close())
}
