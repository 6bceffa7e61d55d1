package kinds_test

import (
	"fmt"
	"path/filepath"
	"testing"
)

// TestOwnCorpus trains and evaluates examples/own_corpus.hcl on files in BEIR's layout and as
// tables, which are the same collection.
func TestOwnCorpus(t *testing.T) {
	l := newLocal(t)
	file := func(name string) string {
		return testdata(t, "corpora", "collect", "testdata", filepath.FromSlash(name))
	}
	run := func(documents, queries, qrels string, steps int) map[string]string {
		out := l.outputs(filepath.Join("..", "examples", "own_corpus.hcl"), map[string]string{
			"documents": list(file(documents)), "queries": list(file(queries)), "qrels": qrels, "steps": fmt.Sprint(steps), "batch": "2",
		})
		digests := map[string]string{}
		for name, a := range out {
			digests[name] = a.Digest.Hex()
		}
		for _, id := range []string{"atomic", "naive", "semantic"} {
			var report struct {
				Queries int
			}
			var curve struct{ Points []struct{ Step int } }
			l.json(out[fmt.Sprintf("step.evaluate.own[%q].report", id)], &report)
			l.json(out[fmt.Sprintf("step.train.own[%q].curve", id)], &curve)
			if report.Queries != 1 || len(curve.Points) == 0 || curve.Points[len(curve.Points)-1].Step != steps {
				t.Errorf("%s: %+v, %+v", id, report, curve)
			}
		}
		return digests
	}
	splits := func(pattern string) string {
		return fmt.Sprintf("{train=%q, dev=%q, test=%q}", file(fmt.Sprintf(pattern, "train")), file(fmt.Sprintf(pattern, "dev")), file(fmt.Sprintf(pattern, "test")))
	}
	beir := run("beir/corpus.jsonl", "beir/queries.jsonl", splits("beir/qrels/%s.tsv"), 2)
	tables := run("csv/documents.csv", "csv/queries.csv", splits("csv/qrels-%s.csv"), 2)
	for name, digest := range beir {
		if name == "step.import_corpus.own.report" || name == "step.export.own.files" || len(name) > 13 && name[:13] == "step.download" {
			continue
		}
		if tables[name] != digest {
			t.Errorf("%s: %s of BEIR's layout, %s of tables", name, digest, tables[name])
		}
	}
}
