package process_test

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/system/process"
	"github.com/redsi/redsi/internal/system/testkit"
)

// start runs a program until the test ends, once it has written a line.
func start(t *testing.T, env []string, argv ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = env
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	testkit.None(t, err)
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	testkit.None(t, testkit.Err(bufio.NewReader(out).ReadString('\n')))
	return cmd
}

func TestIdentity(t *testing.T) {
	me, err := process.Self()
	if err != nil || me.PID != os.Getpid() || !me.Running() {
		t.Fatalf("%+v, %v", me, err)
	}
	testkit.Of(t, me)(process.Of(os.Getpid()))
	// The number alone is not the process: one that started at another time, or in another boot.
	for _, other := range []process.Identity{
		{PID: me.PID, Start: "1", Host: me.Host},
		{PID: me.PID, Start: me.Start, Host: process.Host{Machine: me.Machine, Boot: "another", Numbers: me.Numbers}},
		{PID: me.PID, Start: me.Start, Host: process.Host{Machine: me.Machine, Boot: me.Boot, Numbers: "another"}},
		{},
	} {
		if other.Running() {
			t.Errorf("%+v runs", other)
		}
		if err := errors.Join(other.End(), other.EndGroup()); err != nil { // this test would not survive it
			t.Error(err)
		}
	}
}

func TestEnd(t *testing.T) {
	cmd := start(t, nil, "/bin/sh", "-c", "echo; exec sleep 3600")
	id, err := process.Of(cmd.Process.Pid)
	if err != nil || !id.Running() {
		t.Fatal(id, err)
	}
	testkit.None(t, id.End())
	if !id.AwaitEnd(time.Minute) { // it is not collected yet: what is left is not a process
		t.Error("it runs on")
	}
	_ = cmd.Wait()
	testkit.ErrIs(t, testkit.Err(process.Of(cmd.Process.Pid)), process.ErrGone, "of a process that has ended")
	testkit.None(t, errors.Join(id.End(), id.EndGroup()), "a second end")
}

// TestState: a program whose name looks like the end of a name and a state is seen as it is.
func TestState(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("a program's name is beside its state only in /proc")
	}
	named := filepath.Join(t.TempDir(), "a) Z (b")
	testkit.None(t, os.Symlink("/bin/sh", named))
	cmd := start(t, nil, named, "-c", "echo; kill -STOP $$")
	id, err := process.Of(cmd.Process.Pid)
	testkit.None(t, err)
	for end := time.Now().Add(time.Minute); !id.Stopped() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	testkit.Is(t, process.State(id.PID), "T")
	testkit.None(t, errors.Join(cmd.Process.Kill(), testkit.Err(cmd.Process.Wait())))
	testkit.Is(t, process.State(id.PID), "", "of a process that has ended")
}

// TestGivenWhileItStarts: a process that is just becoming another program is found, though the kernel
// says at that moment that it has no environment.
func TestGivenWhileItStarts(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("no process tells another's environment here")
	}
	dir := t.TempDir()
	cmd := start(t, []string{"HOME=" + dir}, "/bin/sh", "-c", `echo; exec /bin/sh -c "$0" "$0"`, `exec /bin/sh -c "$0" "$0"`)
	id, err := process.Of(cmd.Process.Pid)
	testkit.None(t, err)
	for range 1000 {
		if found, err := process.Given(dir, id); err != nil || len(found) != 1 {
			t.Fatalf("%v, %v", found, err)
		}
	}
}

// What a program of a folder started is found by what it was given, though it
// took another working folder and another group.
func TestGiven(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		if found, err := process.Given(t.TempDir(), process.Identity{}); err != nil || found != nil {
			t.Errorf("%v, %v", found, err)
		}
		return
	}
	dir := t.TempDir()
	in := start(t, []string{"HOME=" + dir}, "/bin/sh", "-c", "cd /; echo; exec sleep 3600")
	below := start(t, []string{"TMPDIR=" + filepath.Join(dir, "tmp")}, "/bin/sh", "-c", "echo; exec sleep 3600")
	start(t, []string{"HOME=" + dir + "2", "PWD=" + dir, "X=" + dir}, "/bin/sh", "-c", "echo; exec sleep 3600")
	first, err := process.Of(in.Process.Pid)
	testkit.None(t, err)
	old := first
	old.Start = "0" // its numbers may have begun anew since
	other := first
	other.Boot = "another"
	for _, leader := range []process.Identity{{}, first, old, other} {
		found, err := process.Given(dir, leader)
		testkit.None(t, err)
		got := map[int]bool{}
		for _, id := range found {
			got[id.PID] = true
		}
		if len(got) != 2 || !got[in.Process.Pid] || !got[below.Process.Pid] {
			t.Errorf("found %v since %v, want %d and %d", got, leader, in.Process.Pid, below.Process.Pid)
		}
	}
	// One that was given nothing, and works there.
	cd := start(t, []string{}, "/bin/sh", "-c", "cd '"+dir+"'; echo; exec sleep 3600")
	found, err := process.Given(dir, first)
	testkit.None(t, err)
	if len(found) != 3 || !slices.ContainsFunc(found, func(id process.Identity) bool { return id.PID == cd.Process.Pid }) {
		t.Errorf("found %v, want %d too", found, cd.Process.Pid)
	}
	_ = cd.Process.Kill()
	_ = cd.Wait()
	latest, err := process.Of(below.Process.Pid)
	testkit.None(t, err)
	if found, err := process.Given(dir, latest); err != nil || len(found) == 0 || len(found) > 2 || !slices.Contains(found, latest) {
		t.Errorf("since %v: %v, %v", latest, found, err)
	}
	latest.Start = old.Start
	if found, err := process.Given(dir, latest); err != nil || len(found) != 2 {
		t.Errorf("since the boot: %v, %v", found, err)
	}
}
