package dvc

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/kinds"
)

// TestConvert: an archive has a project's files, then what becomes of its dvc.yaml; that loads without a warning.
func TestConvert(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal(err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			testkit.None(t, err)
			dir, given := t.TempDir(), a.Files[:0:0]
			for _, f := range a.Files {
				if f.Name == "pipelines.hcl" || f.Name == "notes" {
					continue
				}
				given = append(given, f)
				testkit.Write(t, filepath.Join(dir, filepath.FromSlash(f.Name)), f.Data)
			}
			text, notes, err := Convert(t.Context(), filepath.Join(dir, "dvc.yaml"))
			got := map[string]string{}
			if err != nil {
				got["notes"] = strings.ReplaceAll(err.Error(), dir+"/", "") + "\n"
			} else {
				got = map[string]string{"pipelines.hcl": string(text), "notes": strings.Join(append(notes, ""), "\n")}
			}
			a.Files = given
			for _, f := range []string{"pipelines.hcl", "notes"} {
				if got[f] != "" {
					a.Files = append(a.Files, txtar.File{Name: f, Data: []byte(got[f])})
				}
			}
			goldens.Same(t, name, string(txtar.Format(a)))
			if err != nil {
				return
			}
			_, ds := pipeline.Load(map[string][]byte{filepath.Join(dir, "pipelines.hcl"): text}, pipeline.Options{Registry: kinds.Registry(),
				World: pipeline.World{ReadFile: syntax.ReadFile, List: language.List}, Lint: true})
			for _, d := range ds.List {
				t.Errorf("%s: %s: %s", d.Subject, d.Summary, d.Detail)
			}
		})
	}
}

// A conversion ends when it is told to, whatever it is at.
func TestConvertEnds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dvc.yaml")
	testkit.Write(t, file, "stages: {a: {matrix: {x: [1, 2]}, cmd: 'echo ${item.x}', deps: ['d/${item.x}'], outs: ['o${item.x}']}}")
	for after := range 12 { // questions whether to end
		ctx := &asked{Context: t.Context(), left: after}
		if _, _, err := Convert(ctx, file); !errors.Is(err, context.Canceled) {
			t.Errorf("after %d questions: %v", after, err)
		}
	}
}

// asked is a context that is over after so many questions.
type asked struct {
	context.Context
	left int
}

func (a *asked) Err() error {
	if a.left--; a.left < 0 {
		return context.Canceled
	}
	return nil
}

// Commands get parameters as they get them from DVC (tools/golden/dvc_params.py). Where DVC refuses one, redsi need not.
func TestParameters(t *testing.T) {
	var golden struct{ Rows [][3]*string }
	b, err := os.ReadFile("testdata/params.json")
	testkit.None(t, errors.Join(err, json.Unmarshal(b, &golden)))
	args := func(text string) string {
		out, err := exec.Command("bash", "-c", `printf '<%s>' `+text).Output()
		testkit.None(t, err)
		return string(out)
	}
	for _, row := range golden.Rows {
		format, text, want := *row[0], *row[1], row[2]
		if want == nil {
			continue
		}
		dir := t.TempDir()
		testkit.Write(t, filepath.Join(dir, "p."+format), text)
		testkit.Write(t, filepath.Join(dir, "dvc.yaml"), "vars: [p."+format+"]\nstages: {a: {cmd: 'echo ${x} .'}}")
		made, _, err := Convert(t.Context(), filepath.Join(dir, "dvc.yaml"))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		loaded, ds := pipeline.Load(map[string][]byte{filepath.Join(dir, "pipelines.hcl"): made}, pipeline.Options{Registry: kinds.Registry(), World: pipeline.World{ReadFile: syntax.ReadFile, List: language.List}})
		if ds.HasErrors() {
			t.Errorf("%q: %v", text, ds.List)
			continue
		}
		var c struct{ Script string }
		testkit.None(t, json.Unmarshal(loaded.Steps[0].Task.Config, &c))
		got := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(c.Script), "echo "), " .")
		if got != *want && args(got) != args(*want) {
			t.Errorf("%q is %q to a command, want %q", text, got, *want)
		}
	}
}
