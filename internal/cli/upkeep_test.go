package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/alike"
	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/sharing/rebuild"
	"github.com/redsi/redsi/internal/stores/open"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// TestDamagedChecks: JSON that something stands behind is not what the table had.
func TestDamagedChecks(t *testing.T) {
	dir := t.TempDir()
	store, err := open.Store(t.Context(), dir)
	testkit.None(t, err)
	d := storetest.Put(t, store, []byte(`{"stubs": []}`))
	r := &artifacts.Result{Outputs: map[string]artifacts.Artifact{"json": {Type: "table/json", Digest: d}}}
	testkit.None(t, testkit.Err(expect.Result(t.Context(), "table.x", []byte(`{}`), r, store.Blobs.Open)))
	blobs, err := filepath.Glob(filepath.Join(dir, "blobs", "*", "*"))
	if err != nil || len(blobs) != 1 {
		t.Fatalf("%q, %v", blobs, err)
	}
	testkit.None(t, errors.Join(os.Chmod(blobs[0], 0o644), os.WriteFile(blobs[0], []byte(`{"stubs": []} `), 0o644)))
	var damaged *artifacts.IntegrityError
	if _, err := expect.Result(t.Context(), "table.x", []byte(`{}`), r, store.Blobs.Open); !errors.As(err, &damaged) {
		t.Errorf("a damaged blob: %v", err)
	}
}

// fitted is a kind that leaves another model each time, and asking one that says how good
// a model is.
type fitted struct {
	Seed int `hcl:"seed" help:"of the model"`
}

type asking struct {
	Model   step.Input `hcl:"model" help:"the model"`
	Queries int        `hcl:"queries" help:"how many"`
}

func modelKinds() *step.Registry {
	write := func(x *step.IO, output, text string) error {
		w, err := x.Create(output)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
		return w.Close()
	}
	made := 0
	return step.NewRegistry(
		step.Define(step.Kind[fitted]{Name: "fit", Version: 1, Doc: "Fit.", Inline: true,
			Outputs: []step.Output{{Name: "model", Type: "m", Alike: step.Evaluated{By: "ask", Output: "report", Fields: map[string]step.Margin{"mrr": {Abs: 1}}}}},
			Run: func(_ context.Context, x *step.IO, c fitted) error {
				made++
				return write(x, "model", fmt.Sprint(c.Seed+made/3)) // the third one is another
			}}),
		step.Define(step.Kind[asking]{Name: "ask", Version: 1, Doc: "Ask.", Inline: true, Outputs: []step.Output{{Name: "report", Type: "r"}},
			Run: func(_ context.Context, x *step.IO, c asking) error {
				r, err := x.Open(c.Model)
				if err != nil {
					return err
				}
				defer r.Close()
				b, err := io.ReadAll(r)
				if err != nil {
					return err
				}
				return write(x, "report", fmt.Sprintf(`{"mrr": %s, "queries": %d}`, b, c.Queries))
			}}))
}

// TestRebuildAsks: the steps that evaluate a model are found in the whole pipeline, though
// the model needs none of them, and those of other models are left alone.
func TestRebuildAsks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "pipelines.hcl")
	testkit.Write(t, file, `
step "fit" "a" {
  for_each = toset(["x", "y"])
  seed     = each.key == "x" ? 50 : 70
}
step "ask" "few" {
  model   = step.fit.a["x"].model
  queries = 10
}
step "ask" "many" {
  for_each = toset(["100", "200"])
  model    = step.fit.a["x"].model
  queries  = tonumber(each.key)
}
step "ask" "other" {
  model   = step.fit.a["y"].model
  queries = 10
}
`)
	p := &paper{t: t, kinds: modelKinds(), args: []string{"-f", file, "--state", filepath.Join(dir, "state")}}
	rebuilt := func(args ...string) (all rebuild.All) {
		t.Helper()
		p.json(&all, append([]string{"verify", "--json", "--rebuild"}, args...)...)
		return all
	}
	p.run("run")
	got := rebuilt(`step.fit.a["x"]`)
	if got.Within != 1 || len(got.Steps) != 1 {
		t.Fatalf("%+v", got)
	}
	f := got.Steps[0].Outputs[0]
	want := []string{"step.ask.few", `step.ask.many["100"]`, `step.ask.many["200"]`}
	if f.Verdict != alike.Within || !slices.Equal(f.By, want) || got.Steps[0].Attestation == "" {
		t.Errorf("%+v, attested as %q", f, got.Steps[0].Attestation)
	}
	if late := rebuilt(`step.fit.a`, "--budget", "1ns"); len(late.LeftOut) != 2 || len(late.Steps) != 0 || late.LeftOut[0].ExpectsS <= 0 {
		t.Errorf("%+v", late)
	}
	plan := p.run("plan", "--detailed-exitcode")
	if !bytes.Contains(plan, []byte("6 hit")) {
		t.Errorf("what stands is another:\n%s", plan)
	}
}
