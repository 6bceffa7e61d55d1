package workflows

import (
	"fmt"
	"strings"
	"testing"

	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/internal/runs"
)

// Of hits in more groups than the page shows none is lost from its sum.
func TestHitsShown(t *testing.T) {
	var r run
	for i := range 100 {
		for range 2 {
			r.from = AddHit(r.from, fmt.Sprintf(`step.fit.x%d["a"]`, i), "1")
		}
	}
	var b strings.Builder
	r.describeHits(&b, &workflow.Info{Namespace: "default"})
	last := fmt.Sprintf("| `step.fit.x%d` | 2 | [`1`](/namespaces/default/workflows?query=WorkflowId", blocksShown-1)
	if text := b.String(); !strings.Contains(text, last) || !strings.HasSuffix(text, fmt.Sprintf("\n| others | %d | |\n", 2*(100-blocksShown))) {
		t.Error(text)
	}
}

// The steps of each instance of a module are a block of their own.
func TestBlocksShown(t *testing.T) {
	r := run{progress: &progress{}}
	for _, address := range []string{`module.m["a.b"].step.fit.x["1"]`, `module.m["a.b"].step.fit.x["2"]`, `module.m["[c]"].step.fit.x["1"]`, `module.m["[c]"].table.t`} {
		r.steps = append(r.steps, StepState{Address: address, Status: runs.Hit})
		r.from = AddHit(r.from, address, "1")
	}
	var b strings.Builder
	r.describeBlocks(&b)
	r.describeHits(&b, &workflow.Info{Namespace: "default"})
	for block, n := range map[string]int{`module.m["a.b"].step.fit.x`: 2, `module.m["[c]"].step.fit.x`: 1, `module.m["[c]"].table.t`: 1} {
		if row := fmt.Sprintf("| `%s` | %d |", block, n); strings.Count(b.String(), row) != 2 {
			t.Errorf("%s is not there of the run and of its hits:\n%s", row, b.String())
		}
	}
}
