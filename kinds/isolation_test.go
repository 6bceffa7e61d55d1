//go:build linux

package kinds_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/isolation"
	"github.com/redsi/redsi/internal/host/scratch"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

func TestMain(m *testing.M) {
	isolation.Helper() // if this process is one
	os.Exit(m.Run())
}

// isolatedStudy is examples/kmeans-study under isolation, with points.awk changed.
func isolatedStudy(t *testing.T, mode isolation.Mode, change func(script string) string) string {
	t.Helper()
	from, to := filepath.Join("..", "examples", "kmeans-study"), t.TempDir()
	for _, name := range []string{"pipelines.hcl", "points.awk", "kmeans.awk"} {
		text := string(readFile(t, filepath.Join(from, name)))
		switch name {
		case "pipelines.hcl":
			text = strings.ReplaceAll(text, "n=600", "n=60") // points; what they cost is awk's time
			text = strings.ReplaceAll(text, "\n  outputs ", fmt.Sprintf("\n  isolation = %q\n  outputs ", mode))
		case "points.awk":
			text = change(text)
		}
		testkit.Write(t, filepath.Join(to, name), text)
	}
	return filepath.Join(to, "pipelines.hcl")
}

// A study that keeps to what it declares has the same results in isolation; one
// that reads a file which it does not declare is caught.
func TestIsolatedStudy(t *testing.T) {
	t.Parallel()
	seeds := map[string]string{"seeds": "1"}
	outputs := func(l *local, file, steps string) (digests []string, notes []string) {
		for _, r := range l.run(l.plan(file, seeds, steps)) {
			digests = append(digests, r.Outputs["out"].Digest.Hex())
			notes = append(notes, fmt.Sprint(r.Env[step.NotePrefix+"isolation"], r.Counts["outside"], r.Env[step.NotePrefix+"isolation, outside its folder and the system it used"]))
		}
		return digests, notes
	}
	same := func(s string) string { return s }
	want, _ := outputs(newLocal(t), isolatedStudy(t, isolation.Off, same), "step.command")
	for _, mode := range []isolation.Mode{isolation.Warn, isolation.Enforce} {
		got, notes := outputs(newLocal(t), isolatedStudy(t, mode, same), "step.command")
		testkit.Deep(t, got, want, mode)
		for _, n := range notes {
			testkit.Is(t, n, string(mode)+"0", mode)
		}
	}

	undeclared := filepath.Join(t.TempDir(), "noise.txt")
	testkit.Write(t, undeclared, "0.5\n")
	// What awk cannot read it takes for empty: without more, the result would just be another.
	reads := func(s string) string {
		return fmt.Sprintf("BEGIN { getline noise < %q }\n", undeclared) + s
	}
	_, notes := outputs(newLocal(t), isolatedStudy(t, isolation.Warn, reads), "step.command.points")
	if !slices.Contains(notes, "warn1read "+undeclared) {
		t.Errorf("warn recorded %q", notes)
	}
	// Of many files of a folder the result names the first, and the log all.
	var many strings.Builder
	for i := range 9 {
		name := fmt.Sprintf("%s.%d", undeclared, i)
		testkit.Write(t, name, "")
		fmt.Fprintf(&many, "BEGIN { getline noise < %q }\n", name)
	}
	l := newLocal(t)
	r := l.run(l.plan(isolatedStudy(t, isolation.Warn, func(s string) string { return many.String() + s }), seeds, "step.command.points"))[0]
	told := r.Env[step.NotePrefix+"isolation, outside its folder and the system it used"]
	log, err := artifacts.ReadBlob(t.Context(), l.Store, r.Log.Digest, artifacts.AnySize)
	if err != nil || !strings.Contains(told, "read 9 files in ") || strings.Contains(told, undeclared+".8") || !strings.Contains(string(log), "  read "+undeclared+".8\n") {
		t.Errorf("told %q, logged %s, %v", told, log, err)
	}
	l = newLocal(t)
	_, err = l.tryFirst(l.plan(isolatedStudy(t, isolation.Enforce, reads), seeds, "step.command.points"))
	if err == nil || !isPermanent(err) || !strings.Contains(err.Error(), "it was refused: read "+undeclared+".") {
		t.Errorf("enforce: %v", err)
	}
}

// A script may start the programs that it names, wherever they are, and no others.
func TestIsolatedScript(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"named", "other"} {
		testkit.Program(t, filepath.Join(dir, name), "#!/bin/sh\necho "+name+"\n")
	}
	t.Setenv("PATH", os.Getenv("PATH")+":"+dir)
	l := newLocal(t)
	try := func(script string) error {
		return testkit.Err(l.tryFirst(l.plan(writePipeline(t, fmt.Sprintf("step \"command\" \"x\" {\nscript = %q\nprograms = [\"named\"]\nisolation = \"enforce\"\n}", script)), nil)))
	}
	testkit.None(t, try("named"))
	testkit.ErrSays(t, try("named; other"), "other: command not found")
}

// A file of the pipeline's folder that a script opens by a path outside of its own, and that is
// not in its key, is an error that names it.
func TestIsolatedCode(t *testing.T) {
	t.Parallel()
	for _, mode := range []isolation.Mode{isolation.Warn, isolation.Enforce} {
		file := study(t, map[string]string{"conf/a.txt": "1\n"})
		folder := filepath.Dir(file)
		write(t, folder, "x.sh", fmt.Sprintf("#!/bin/sh\ncat %s/conf/a.txt > o\n", folder))
		write(t, folder, "p.hcl", fmt.Sprintf("step \"script\" \"x\" {\n  script = \"x.sh\"\n  isolation = %q\n  outputs = [\"o\"]\n}", mode))
		newLocal(t).firstFails(file, `its key does not have: conf/a.txt. Write code = ["conf/a.txt"]`)
	}
}

// inFolder is newLocal with a store of files and steps' folders on one file system.
func inFolder(t *testing.T) *local {
	t.Helper()
	l := newLocal(t)
	root := t.TempDir()
	s := testkit.Value(dir.Open(filepath.Join(root, "store")))(t)
	l.Store, l.Scratch = artifacts.Alone(s), scratch.In(filepath.Join(root, "scratch"))
	return l
}

// blobFile is where a blob lies, and its inode.
func (l *local) blobFile(d artifacts.Digest) (path string, inode uint64) {
	l.t.Helper()
	path, _ = l.Store.Own.Blobs.(artifacts.Local).LocalPath(d)
	info := testkit.Value(os.Stat(path))(l.t)
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
	testkit.Is(t, a.Digest, b.Digest, a, b)
	testkit.Is(t, len(l.text(a.Digest)), 300_000, a, b)
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
	testkit.That(t, errors.As(err, &lost) && lost.Type() == workflows.InputLostError, "got", err)
}
