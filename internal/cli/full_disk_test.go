//go:build linux

package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// ownMounts is set in the environment of a test that has mounts of its own.
const ownMounts = "REDSI_TEST_MOUNTS"

// withMounts runs a test again in a process whose mounts are its own, and reports
// whether this is that process.
func withMounts(t *testing.T) bool {
	t.Helper()
	if os.Getenv(ownMounts) != "" {
		testkit.None(t, syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""))
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), ownMounts+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Log("this system gives no mounts of one's own: a full disk is not tried")
		return false
	}
	testkit.None(t, err, out)
	return false
}

// fillDisk takes all that is left on a folder's disk.
func fillDisk(t *testing.T, dir string) (undo func()) {
	t.Helper()
	f, err := os.CreateTemp(dir, "filler-")
	testkit.None(t, err)
	defer f.Close()
	for block := make([]byte, 1<<16); len(block) > 0; {
		if _, err := f.Write(block); errors.Is(err, syscall.ENOSPC) {
			block = block[:len(block)/2]
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		testkit.None(t, os.Remove(f.Name()))
	}
}

// TestFullDisk: a first start on a disk without room ends with what to do, and so does
// one whose disk has room for a beginning only; the folder works once there is room. A
// run whose disk fills up says so while it waits, and goes on when there is room again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	if !withMounts(t) {
		return
	}
	dir := project(t, 1)
	state := filepath.Join(dir, ".redsi", "temporal")
	testkit.None(t, os.MkdirAll(state, 0o755))
	mount := func(flags uintptr, size string) {
		t.Helper()
		testkit.None(t, syscall.Mount("none", state, "tmpfs", flags, "mode=755,size="+size))
	}
	mount(0, "4k")
	t.Cleanup(func() {
		testkit.None(t, syscall.Unmount(state, syscall.MNT_DETACH))
	})
	for _, size := range []string{"4k", "256k", "1m", "4m"} {
		mount(syscall.MS_REMOUNT, size)
		var undo func()
		if size == "4k" {
			undo = fillDisk(t, state)
		}
		startRedsi(t, dir, "run").fails(t, "the Temporal server was not started: the disk of "+state+" has ", "free space there", "another folder with --state")
		if undo != nil {
			undo()
		}
	}
	mount(syscall.MS_REMOUNT, "64m")
	p := startRedsi(t, dir, "run")
	p.succeeds(t)
	testkit.Says(t, p.out.String(), "1 ran")

	testkit.Write(t, filepath.Join(dir, "pipelines.hcl"), `
step "command" "first" {
  argv    = ["sh", "-c", "touch `+dir+`/began; until [ -e `+dir+`/go ]; do sleep 0.1; done; echo 1 > out/out.txt"]
  outputs = ["out.txt"]
}

step "command" "then" { # more than fits into what the database has already
  for_each = toset([for i in range(40) : "n${i}"])
  argv     = ["sh", "-c", "cat in/first/out.txt > out/out.txt; echo ${each.key}"]
  outputs  = ["out.txt"]
  inputs   = { first = step.command.first.out }
}
`)
	p = startRedsi(t, dir, "run")
	awaitTrue(t, "the step runs", func() bool { _, err := os.Stat(filepath.Join(dir, "began")); return err == nil })
	undo := fillDisk(t, state)
	testkit.Write(t, filepath.Join(dir, "go"), "")
	awaitTrue(t, "the run says that the disk is full", func() bool {
		select {
		case <-p.done:
			t.Fatalf("the run has ended: %v\n%s", p.err, p.out)
		default:
		}
		return strings.Contains(p.out.String(), "has 0 kB left: free space there, then it continues")
	})
	undo()
	p.succeeds(t)
	testkit.Says(t, p.out.String(), "41 steps: 0 hit, 41 ran")
}
