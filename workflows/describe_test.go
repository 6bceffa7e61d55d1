package workflows

import (
	"fmt"
	"strings"
	"testing"

	"go.temporal.io/sdk/workflow"
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
