package kinds_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/step"
)

// chosen is a best step's report.
type chosen struct {
	Chosen string
	Value  float64
	Values map[string]float64
	Equals []string
	Report struct{ Percent map[string]float64 }
}

// TestBest: the highest or the lowest development value chooses, of equals the first by
// name, and the chosen one's run and report are passed on as they are. Test scores, which
// are the other way round here, choose nothing, and those of the others are not read.
func TestBest(t *testing.T) {
	l := newLocal(t)
	candidates := map[string]any{}
	runs := map[string]step.Input{}
	for i, name := range []string{"c", "b", "a", "d"} {
		dev := []float64{0.4, 0.5, 0.5, 0.1}[i]
		runs[name] = l.blob("trec/run", fmt.Appendf(nil, "q Q0 %s 1 1 redsi\n", name))
		candidates[name] = map[string]any{
			"dev":    l.blob("train/report", fmt.Appendf(nil, `{"metrics":{"MRR@10":%v},"note":"x"}`, dev)),
			"report": l.blob("evaluate/report", fmt.Appendf(nil, `{"percent":{"mrr_10":%v}}`, 100-100*dev)),
			"run":    runs[name],
		}
	}
	choose := func(changes map[string]any) (*artifacts.Result, error) {
		tree := map[string]any{"candidates": candidates, "field": "metrics.MRR@10"}
		for k, v := range changes {
			tree[k] = v
		}
		return l.do("best", tree)
	}
	for order, want := range map[string]struct {
		name   string
		value  float64
		equals string
	}{"max": {"a", 0.5, "[b]"}, "min": {"d", 0.1, "[]"}} {
		res, err := choose(map[string]any{"order": order})
		errtest.None(t, err)
		var r chosen
		l.json(res.Outputs["report"], &r)
		if r.Chosen != want.name || r.Value != want.value || fmt.Sprint(r.Equals) != want.equals || len(r.Values) != 4 || r.Values["c"] != 0.4 || r.Report.Percent["mrr_10"] != 100-100*want.value {
			t.Errorf("%s: %+v", order, r)
		}
		if got := res.Outputs["run"]; got.Digest != runs[want.name].Artifact.Digest || got.Type != "trec/run" {
			t.Errorf("%s: the run is %v", order, got)
		}
	}
	candidates["d"].(map[string]any)["report"] = l.blob("evaluate/report", []byte("no JSON"))
	if _, err := choose(nil); err != nil {
		t.Errorf("a report that was not chosen: %v", err)
	}
	for _, c := range map[string]struct {
		change map[string]any
		want   string
	}{
		"a report that is no JSON":  {map[string]any{"order": "min"}, "report of candidate d: input is not the expected JSON"},
		"a field that is not there": {map[string]any{"field": "metrics.nDCG@10"}, "candidate a: "},
		"a field that is a text":    {map[string]any{"field": "note"}, `candidate a: field "note" is not a number`},
	} {
		errtest.Says(t, errtest.Of(choose(c.change)), c.want)
	}
	for want, tree := range map[string]map[string]any{
		"candidates: there are no candidates; field: names no number to choose by": {"candidates": map[string]any{}, "field": ""},
		`order: "most" is not one of "max", "min"`:                                 {"candidates": candidates, "field": "x", "order": "most"},
	} {
		if _, err := l.Registry.Lookup("best").Complete(tree); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestBestFields: a field that no report of a candidate has is reported where it stands.
func TestBestFields(t *testing.T) {
	for kind, rest := range map[string]string{"best": "report = step.evaluate.e.report, run = step.evaluate.e.run", "best_model": "model = step.train.t.model, ids = step.atomic_ids.a.ids"} {
		refused(t, `
step "download" "x" { urls = ["x"] }
step "import_corpus" "c" { files = step.download.x.files }
step "atomic_ids" "a" { documents = step.import_corpus.c.documents }
step "train" "t" {
  model     = step.download.x.files
  ids       = step.atomic_ids.a.ids
  corpus    = step.import_corpus.c.corpus
  queries   = step.import_corpus.c.queries
  tokenizer = step.download.x.files
}
step "evaluate" "e" {
  model     = step.train.t.model
  ids       = step.atomic_ids.a.ids
  queries   = step.import_corpus.c.queries
  tokenizer = step.download.x.files
}
step "`+kind+`" "b" {
  field      = "mrr_at_10"
  candidates = { a = { dev = step.train.t.report, `+rest+` } }
}
`, `mrr_at_10`)
	}
}

// TestBestModel: the chosen model's files and identifiers are passed on, none is copied.
func TestBestModel(t *testing.T) {
	l := newLocal(t)
	candidates := map[string]any{}
	models := map[string]artifacts.Artifact{}
	for i, name := range []string{"low", "high"} {
		file := l.blob("files", fmt.Appendf(nil, `{"model":%q}`, name)).Artifact
		tree, err := artifacts.Tree("dsi/model", []artifacts.File{{Name: "config.json", Digest: file.Digest, Size: file.Size}})
		errtest.None(t, err)
		models[name] = tree
		report, err := json.Marshal(map[string]any{"metrics": map[string]any{"MRR@10": float64(i)}})
		errtest.None(t, err)
		candidates[name] = map[string]any{"dev": l.blob("train/report", report), "model": step.In(tree), "ids": l.blob("docid/ids", []byte(name))}
	}
	res, err := l.do("best_model", map[string]any{"candidates": candidates})
	errtest.None(t, err)
	var r chosen
	l.json(res.Outputs["report"], &r)
	if r.Chosen != "high" || r.Values["low"] != 0 || res.Outputs["model"].Digest != models["high"].Digest || l.text(res.Outputs["ids"].Digest) != "high" {
		t.Errorf("%+v: %+v", r, res.Outputs)
	}
}
