package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/scratch"
	"github.com/redsi/redsi/internal/paper/alike"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// fit makes a model that is another one each time: its bytes are a number, which grows.
type fit struct {
	Name string `hcl:"name" help:"of the model"`
}

// ask says of a model what its number is, in percent.
type ask struct {
	Model   step.Input `hcl:"model" help:"the model"`
	Queries int        `hcl:"queries" help:"how many"`
}

// models are the two kinds, on a store; next is the number of the next model.
type models struct {
	*Activities
	next  float64
	asked []float64 // models that were evaluated
}

func newModels(t *testing.T) *models {
	m := &models{next: 50}
	write := func(x *step.IO, output, format string, args ...any) error {
		w, err := x.Create(output)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, format, args...); err != nil {
			return err
		}
		return w.Close()
	}
	rule := step.Evaluated{By: "ask", Output: "report", Fields: map[string]step.Margin{"mrr": {Abs: 1}}, Of: "queries", Chance: 0.5}
	reg := step.NewRegistry(
		step.Define(step.Kind[fit]{Name: "fit", Version: 1, Doc: "d",
			Outputs: []step.Output{{Name: "model", Type: "m", Alike: rule}, {Name: "log", Type: "l", Alike: step.OfTheRun{}}},
			Run: func(_ context.Context, x *step.IO, c fit) error {
				m.next++
				if err := write(x, "log", "made as number %v", m.next); err != nil {
					return err
				}
				return write(x, "model", "%v", m.next)
			}}),
		step.Define(step.Kind[ask]{Name: "ask", Version: 1, Doc: "d", Outputs: []step.Output{{Name: "report", Type: "r"}},
			Run: func(_ context.Context, x *step.IO, c ask) error {
				r, err := x.Open(c.Model)
				if err != nil {
					return err
				}
				defer r.Close()
				var n float64
				if _, err := fmt.Fscan(r, &n); err != nil {
					return err
				}
				m.asked = append(m.asked, n)
				if _, err := io.Copy(io.Discard, r); err != nil {
					return err
				}
				return write(x, "report", `{"mrr": %v, "queries": %d}`, n, c.Queries)
			}}))
	m.Activities = &Activities{Store: artifacts.Alone(mem.New()), Registry: reg, Log: slog.New(slog.DiscardHandler), Scratch: scratch.In(t.TempDir())}
	return m
}

func (m *models) task(t *testing.T, kind string, tree map[string]any) (artifacts.Digest, step.Task) {
	t.Helper()
	task, err := step.NewTask(m.Registry.Lookup(kind), tree)
	testkit.None(t, err)
	key, _, err := m.Registry.Key(task)
	testkit.None(t, err)
	return key, task
}

// TestRebuildModel: a model with other bytes is judged by what is evaluated from it, on
// both; what was made is kept beside what stands, and says what it is.
func TestRebuildModel(t *testing.T) {
	ctx := context.Background()
	m := newModels(t)
	key, task := m.task(t, "fit", map[string]any{"name": "a"})
	first, err := m.Rebuild(ctx, "step.fit.a", key, task, RebuildOptions{}) // the first result
	if err != nil || first.Stands == nil || !first.First {
		t.Fatal(first, err)
	}
	readers := func(queries int) RebuildOptions {
		_, asks := m.task(t, "ask", map[string]any{"model": step.In(first.Stands.Outputs["model"]), "queries": json.Number(fmt.Sprint(queries))})
		return RebuildOptions{Readers: func(_ context.Context, output, kind string) ([]Reader, error) {
			testkit.Is(t, output, "model")
			testkit.Is(t, kind, "ask")
			return []Reader{{"step.ask.a", asks}}, nil
		}}
	}
	within, err := m.Rebuild(ctx, "step.fit.a", key, task, readers(10_000))
	if err != nil || within.First || within.Verdict != alike.Within || !slices.Equal(m.asked, []float64{51, 52}) {
		t.Fatalf("%+v %v, asked %v", within.Comparison, err, m.asked)
	}
	if w := within.Worst(); w.Path != "step.ask.a mrr" || w.Stands != "51" || w.Made != "52" || *w.By != 1 || *w.Allowed != 1 {
		t.Errorf("worst %+v", w)
	}
	if by := within.Outputs[1].By; !slices.Equal(by, []string{"step.ask.a"}) || !slices.Equal(within.OfTheRun(), []string{"log"}) {
		t.Errorf("%+v", within.Outputs)
	}
	differs, err := m.Rebuild(ctx, "step.fit.a", key, task, readers(10_000))
	if err != nil || differs.Verdict != alike.Differs || !slices.Equal(m.asked, []float64{51, 52, 53}) { // what stands was asked already
		t.Fatalf("%+v %v, asked %v", differs.Comparison, err, m.asked)
	}
	few, err := m.Rebuild(ctx, "step.fit.a", key, task, readers(100)) // 3 apart, and 5 by chance
	if err != nil || few.Verdict != alike.Within {
		t.Fatalf("%+v %v", few.Comparison, err)
	}
	alone, err := m.Rebuild(ctx, "step.fit.a", key, task, RebuildOptions{})
	if err != nil || alone.Verdict != alike.Differs {
		t.Fatalf("a model that nothing evaluates: %+v %v", alone.Comparison, err)
	}
	if now, err := artifacts.Lookup(ctx, m.Store, key); err != nil || now.OutputsDigest() != first.Stands.OutputsDigest() {
		t.Errorf("the result that stands is another: %v %v", now, err)
	}
	for want, r := range map[string]Rebuilt{"within": within, "differs": differs} {
		doc, err := m.Store.Own.Records.Get(ctx, artifacts.NondeterminismName(key, r.Made.OutputsDigest()))
		testkit.None(t, err)
		var kept artifacts.Result
		if err := kept.UnmarshalJSON(doc); err != nil || kept.Env["step: rebuilt"] != want {
			t.Errorf("labelled %q, want %q (%v)", kept.Env["step: rebuilt"], want, err)
		}
	}
}
