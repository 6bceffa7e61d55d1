package kinds_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
	"github.com/redsi/redsi/step"
)

// reports are JSON documents by the step that leaves them, filled path by path.
type reports map[string]map[string]any

func (r reports) set(step, path string, v float64) {
	if r[step] == nil {
		r[step] = map[string]any{}
	}
	at := r[step]
	names := strings.Split(path, ".")
	for _, n := range names[:len(names)-1] {
		if at[n] == nil {
			at[n] = map[string]any{}
		}
		at = at[n].(map[string]any)
	}
	at[names[len(names)-1]] = v
}

// TestPaperFigures draws the figures of pipelines.hcl that show model results
// from reports with the paper's numbers: every number must be read from where it
// stands and match, or, if it is hours, be shown, and what is claimed of them must hold. REDSI_FIGURES names a folder for the pictures.
func TestPaperFigures(t *testing.T) {
	t.Parallel()
	l := newLocal(t)
	src, err := syntax.Read(paper)
	errtest.None(t, err)
	p := l.load(src, nil)
	for name, want := range map[string]struct{ numbers, claims int }{
		"model_scaling": {18, 0}, "model_scaling_and_training": {12, 7}, "identifier_validity": {12, 6}, "budget_decoding": {28, 2},
	} {
		t.Run(name, func(t *testing.T) {
			pl, err := plan.Build("pipelines.hcl", p, l.Registry, []string{"figure." + name})
			errtest.None(t, err)
			task := l.withPaperNumbers(pl.Steps[len(pl.Steps)-1].Task)
			results := l.run(&plan.Plan{Format: pl.Format, Pipeline: "p.hcl", Steps: []plan.Step{{Address: "figure." + name, Task: task}}})
			item := "figure." + name
			j, err := expect.Judge(t.Context(), &plan.Preview{Plan: &plan.Plan{Steps: []plan.Step{{Address: item, Task: task}}}, Items: []plan.Item{{Result: results[0]}}},
				p.Claims, l.Store.Open)
			errtest.None(t, err)
			checks := j.Items[0].Checks
			numbers, claims := len(checks), 0
			for _, c := range j.Claims {
				for _, k := range c.Checks {
					if of, _, _ := address.Cell(k.Cells[0].Cell); of == item {
						checks = append(checks, k)
						claims++
					}
				}
			}
			for _, c := range checks {
				if c.Verdict != render.Matches && c.Verdict != render.Shown && c.Verdict != render.Holds {
					t.Errorf("%s: %s", c.Said(), c.Verdict)
				}
			}
			if numbers != want.numbers || claims != want.claims {
				t.Errorf("%d numbers and %d claims of the paper, want %+v", numbers, claims, want)
			}
			if dir := os.Getenv("REDSI_FIGURES"); dir != "" {
				for _, ext := range []string{"svg", "pdf", "png"} {
					filetest.Write(t, filepath.Join(dir, name+"."+ext), l.bytes(results[0].Outputs[ext]))
				}
			}
		})
	}
}

// withPaperNumbers replaces the steps that a figure reads by reports in which
// its expectations stand.
func (l *local) withPaperNumbers(task step.Task) step.Task {
	l.t.Helper()
	type number struct {
		Value []struct {
			Ref step.Ref `json:"$ref"`
		}
		Field string
	}
	type axis struct{ Scale float64 }
	var c struct {
		X, Y, Y2 axis
		Series   []struct {
			ID, Axis string
			Points   []struct {
				ID   string
				X, Y number
			}
		}
		Expect []struct {
			Cell  string
			Value *float64
		}
	}
	errtest.None(l.t, json.Unmarshal(task.Config, &c))
	expected := map[string]float64{}
	for _, e := range c.Expect {
		if e.Value != nil {
			expected[e.Cell] = *e.Value
		}
	}
	made := reports{}
	for _, s := range c.Series {
		for _, p := range s.Points {
			for suffix, n := range map[string]number{".x": p.X, ".y": p.Y} {
				scale := c.X.Scale
				if suffix == ".y" {
					scale = map[string]float64{"": c.Y.Scale, "y": c.Y.Scale, "y2": c.Y2.Scale}[s.Axis]
				}
				if scale == 0 {
					scale = 1
				}
				for _, v := range n.Value {
					made.set(v.Ref.Step, n.Field, expected[s.ID+"."+p.ID+suffix]/scale)
				}
			}
		}
	}
	bound, err := task.Bind(func(r step.Ref) (artifacts.Artifact, error) {
		b, err := json.Marshal(made[r.Step])
		if err != nil {
			return artifacts.Artifact{}, err
		}
		return l.blobOf("report", b), nil
	})
	errtest.None(l.t, err)
	return bound
}
