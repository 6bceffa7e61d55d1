//go:build linux

package kinds_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/isolation"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
	"github.com/redsi/redsi/step"
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
		b, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		switch name {
		case "pipelines.hcl":
			text = strings.ReplaceAll(text, "n=600", "n=60") // points; what they cost is awk's time
			text = strings.ReplaceAll(text, "\n  outputs ", fmt.Sprintf("\n  isolation = %q\n  outputs ", mode))
		case "points.awk":
			text = change(text)
		}
		filetest.Write(t, filepath.Join(to, name), text)
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
		if !slices.Equal(got, want) {
			t.Errorf("%s: other outputs", mode)
		}
		for _, n := range notes {
			if n != string(mode)+"0" {
				t.Errorf("%s: recorded %s", mode, n)
			}
		}
	}

	undeclared := filepath.Join(t.TempDir(), "noise.txt")
	filetest.Write(t, undeclared, "0.5\n")
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
		filetest.Write(t, name, "")
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
		filetest.Program(t, filepath.Join(dir, name), "#!/bin/sh\necho "+name+"\n")
	}
	t.Setenv("PATH", os.Getenv("PATH")+":"+dir)
	l := newLocal(t)
	try := func(script string) error {
		_, err := l.tryFirst(l.plan(writePipeline(t, fmt.Sprintf("step \"command\" \"x\" {\nscript = %q\nprograms = [\"named\"]\nisolation = \"enforce\"\n}", script)), nil))
		return err
	}
	if err := try("named"); err != nil {
		t.Error(err)
	}
	errtest.Says(t, try("named; other"), "other: command not found")
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
		l := newLocal(t)
		_, err := l.tryFirst(l.plan(file, nil))
		if want := `its key does not have: conf/a.txt. Write code = ["conf/a.txt"]`; err == nil || !strings.Contains(err.Error(), want) || !isPermanent(err) {
			t.Errorf("%s: got %v, want %s, and no retry", mode, err, want)
		}
	}
}
