package kinds_test

import (
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/step"
)

// TestOrderOfIdentifiers: a file of identifiers in another order gives the same model
// and the same evaluation, since documents are paired with them by name.
func TestOrderOfIdentifiers(t *testing.T) {
	f := newTraining(t, newLocal(t))
	ids := f.ids(docid.KindNaive)
	turned := &docid.Set{Kind: ids.Kind, Identifiers: slices.Clone(ids.Identifiers)}
	slices.Reverse(turned.Identifiers)
	var weights, qrels, runs []string
	for _, set := range []*docid.Set{ids, turned} {
		res, err := f.do("train", f.with(map[string]any{"ids": f.set(set), "steps": int64(4), "beams": int64(5)}))
		errtest.None(t, err)
		weights = append(weights, digestOf(res.Outputs["model"], "model.safetensors").Hex())
		e := &asked{local: f.local, ids: set, config: map[string]any{"model": step.In(res.Outputs["model"]), "ids": f.set(set),
			"queries": f.config["queries"], "tokenizer": f.config["tokenizer"], "device": "cpu", "decoding": "constrained"}}
		out := e.evaluate(nil)
		qrels, runs = append(qrels, out["qrels"]), append(runs, out["run"])
	}
	if weights[0] != weights[1] || qrels[0] != qrels[1] || runs[0] != runs[1] {
		t.Errorf("models %v, judgments\n%s\nand\n%s", weights, qrels[0], qrels[1])
	}
}
