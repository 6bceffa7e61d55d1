//go:build linux

package kinds_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/scratch"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// inFolder is newLocal with a store of files and steps' folders on one file system.
func inFolder(t *testing.T) *local {
	t.Helper()
	l := newLocal(t)
	root := t.TempDir()
	s, err := dir.Open(filepath.Join(root, "store"))
	errtest.None(t, err)
	l.Store, l.Scratch = artifacts.Alone(s), scratch.In(filepath.Join(root, "scratch"))
	return l
}

// blobFile is where a blob lies, and its inode.
func (l *local) blobFile(d artifacts.Digest) (path string, inode uint64) {
	l.t.Helper()
	path, _ = l.Store.Own.Blobs.(artifacts.Local).LocalPath(d)
	info, err := os.Stat(path)
	errtest.None(l.t, err)
	return path, info.Sys().(*syscall.Stat_t).Ino
}

const largePipeline = `
step "command" "make" {
  script  = "head -c 300000 /dev/zero > out/data; echo 1 >> out/data; echo small > out/few; cp out/data out/sub/data; stat -c %%i out/data"
  outputs = ["data", "few", "sub/"]
}
step "command" "read" {
  script    = "stat -Lc %%i in/tree/data in/one in/tree/sub/data; cat in/tree/few; cmp in/tree/data in/one; %s; tail -c 2 in/one; tail -c 2"
  inputs    = { tree = step.command.make.out, one = step.command.make.out["data"] }
  stdin     = step.command.make.out["data"]
  isolation = "%s"
  %s
}
`

// TestCommandBytes: large outputs become the store's by a rename, and large inputs are those very files,
// whatever the program tries; small ones are copies.
func TestCommandBytes(t *testing.T) {
	for _, isolation := range []string{"off", "warn", "enforce"} {
		t.Run(isolation, func(t *testing.T) {
			l := inFolder(t)
			spoil := "(echo 2 >> in/one) || chmod 600 in/one || rm -f in/one || mv -f in/tree/few in/one"
			got := l.run(l.plan(writePipeline(t, fmt.Sprintf(largePipeline, spoil+" || true", isolation, "")), nil))
			made := got[0].Outputs["out"]
			data, _ := made.File("data")
			_, inode := l.blobFile(data.Digest)
			lines := strings.Split(l.text(got[1].Outputs["stdout"].Digest), "\n")
			printed := fmt.Sprint(inode)
			if note := got[1].Env[step.NotePrefix+"large inputs"]; note != "3 mounted" {
				if os.Geteuid() == 0 && !strings.Contains(note, "not permitted") {
					t.Fatalf("large inputs: %q", note)
				}
				t.Skip("this account may not mount: ", note)
			}
			if lines[0] != printed || lines[1] != printed || lines[2] != printed || lines[3] != "small" || strings.Join(lines[len(lines)-3:], " ") != "1 1 " {
				t.Errorf("the program saw %q; the blob is %s", lines, printed)
			}
			if b := l.text(data.Digest); len(b) != 300_002 { // verified as it is read
				t.Errorf("the blob has %d bytes", len(b))
			}
		})
	}
}

// TestCommandMoved: a file that a program wrote is the blob.
func TestCommandMoved(t *testing.T) {
	l := inFolder(t)
	got := l.run(l.plan(writePipeline(t, `step "command" "make" {
  script  = "head -c 300000 /dev/zero > out/data; ln out/data out/again; head -c 300001 /dev/zero > out/moved; stat -c %i out/moved"
  outputs = ["data", "again", "moved"]
}`), nil))
	f, _ := got[0].Outputs["out"].File("moved")
	if _, inode := l.blobFile(f.Digest); l.text(got[0].Outputs["stdout"].Digest) != fmt.Sprintln(inode) {
		t.Errorf("the blob is %d, the program wrote %s", inode, l.text(got[0].Outputs["stdout"].Digest))
	}
	a, _ := got[0].Outputs["out"].File("data")
	b, _ := got[0].Outputs["out"].File("again")
	if a.Digest != b.Digest || len(l.text(a.Digest)) != 300_000 {
		t.Errorf("two names of a file: %v, %v", a, b)
	}
}

// TestCommandCopies: with copy_inputs a program may move its inputs; else its failure says so.
func TestCommandCopies(t *testing.T) {
	l := inFolder(t)
	file := writePipeline(t, fmt.Sprintf(largePipeline, "mv in/one out/one; rm in/tree/data; ln -s ../out/one in/one", "off", `outputs = ["one"]
  copy_inputs = true`))
	got := l.run(l.plan(file, nil))
	data, _ := got[0].Outputs["out"].File("data")
	if one, _ := got[1].Outputs["out"].File("one"); one.Digest != data.Digest {
		t.Errorf("it left %v", one)
	}
	_, err := l.try(l.plan(writePipeline(t, fmt.Sprintf(largePipeline, "rm in/one", "off", "")), nil))
	if os.Geteuid() == 0 && err == nil || err != nil && !strings.Contains(err.Error(), "copy_inputs = true") {
		t.Errorf("got %v", err)
	}
}

// TestCommandSpoilt: an input that somebody changes while the program reads it is lost, as one that was
// spoilt before.
func TestCommandSpoilt(t *testing.T) {
	l := inFolder(t)
	made := l.run(l.plan(writePipeline(t, fmt.Sprintf(largePipeline, "true", "off", "")), nil, "step.command.make"))
	data, _ := made[0].Outputs["out"].File("data")
	path, _ := l.blobFile(data.Digest)
	_, err := l.try(l.plan(writePipeline(t, fmt.Sprintf(largePipeline, fmt.Sprintf("chmod 600 %s && echo 2 >> %[1]s", path), "off", "")), nil))
	var lost *temporal.ApplicationError
	if !errors.As(err, &lost) || lost.Type() != workflows.InputLostError {
		t.Errorf("got %v", err)
	}
}
