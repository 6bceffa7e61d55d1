package kinds_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/pipeline/plan"
)

// TestOutputs holds the output digests of every kind of pipelines.hcl at toy
// scale with all types of identifiers, up to the trained models, and of MS MARCO's. A kind that gives
// other bytes under the same version would serve stale results: raise its Version,
// then -update.
func TestOutputs(t *testing.T) {
	t.Parallel()
	l := newLocal(t)
	var lines []string
	kinds := map[string]bool{}
	for _, pl := range []*plan.Plan{
		l.exact(filepath.Join("..", "pipelines.hcl"), map[string]string{"scale": "toy", "more_identifiers": `["residual"]`}),
		l.plan(filepath.Join("..", "examples", "msmarco.hcl"), map[string]string{"scale": "toy"}, "step.import_corpus.documents"),
		l.plan(filepath.Join("..", "examples", "systems.hcl"), nil, "step.title_ids.documents", "step.keyword_ids.documents"),
	} {
		for i, res := range l.run(pl) {
			spec := l.Registry.Lookup(pl.Steps[i].Task.Kind)
			kinds[spec.Name] = true
			for name, a := range res.Outputs {
				lines = append(lines, fmt.Sprintf("%s@%d %s.%s %s", spec.Name, spec.Version, pl.Steps[i].Address, name, a.Digest.Hex()))
			}
		}
	}
	for _, name := range []string{"import_model", "import_trained", "source"} {
		kinds[name] = true // their outputs are foreign files: TestImportModel, TestImportTrained, script source
	}
	slices.Sort(lines)
	for _, k := range l.Registry.Kinds() {
		if !k.Hidden && !k.Claim && !kinds[k.Name] && !slices.Contains(append(computed, "pages_api", "page_table", "compare_pages", "package", "compare_package", "command", "python", "script", "effects", "export_model", "import_model", "import_trained", "import_run", "import_qrels", "export_run", "fuse", "score", "compare", "agree", "import_embeddings", "overlap", "import_ids", "best", "best_model"), k.Name) {
			t.Errorf("the pipelines have no step of kind %s, so its output is not held", k.Name)
		}
	}
	got := strings.Join(lines, "\n") + "\n"
	compareOutputs(t, goldens.Of(t, filepath.Join("testdata", "outputs.golden"), got), got)
}

func compareOutputs(t *testing.T, want, got string) {
	t.Helper()
	digest := map[string]string{}
	for line := range strings.Lines(want) {
		at := strings.LastIndexByte(line, ' ')
		digest[line[:at]] = line[at:]
	}
	for line := range strings.Lines(got) {
		at := strings.LastIndexByte(line, ' ')
		switch old, ok := digest[line[:at]]; {
		case !ok:
			t.Errorf("%s is not in outputs.golden; run with -update", line[:at])
		case old != line[at:]:
			kind, _, _ := strings.Cut(line, " ")
			t.Errorf("%s has different bytes than before under %s: bump Version, then -update (an input that changed may be the cause: look at the first in the plan)", line[:at], kind)
		}
	}
}
