package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/paper/alike"
	"github.com/redsi/redsi/internal/sharing/rebuild"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/step"
)

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
	err := os.WriteFile(file, []byte(`
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
`), 0o644)
	errtest.None(t, err)
	reg := modelKinds()
	redsi := func(args ...string) []byte {
		t.Helper()
		var out, errs bytes.Buffer
		args = append(args, "-f", file, "--state", filepath.Join(dir, "state"))
		if code := execute(context.Background(), reg, args, &out, &errs, Paper{}); code != fault.CodeOK {
			t.Fatalf("redsi %v: exit %d\n%s", args, code, errs.String())
		}
		return out.Bytes()
	}
	rebuilt := func(args ...string) (all rebuild.All) {
		t.Helper()
		errtest.None(t, json.Unmarshal(redsi(append([]string{"verify", "--json", "--rebuild"}, args...)...), &all))
		return all
	}
	redsi("run")
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
	plan := redsi("plan", "--detailed-exitcode")
	if !bytes.Contains(plan, []byte("6 hit")) {
		t.Errorf("what stands is another:\n%s", plan)
	}
}
