package counted

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/redsi/redsi/internal/host/roofline"
)

// TestCounts: counts.json has what operations of the smallest model are counted to have now, the
// memory to a twentieth, since a CPU's kernels take some of their own. tools/counts counts the
// others.
func TestCounts(t *testing.T) {
	again, err := All("tiny")
	if err != nil {
		t.Fatal(err)
	}
	near := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Peak" }, cmpopts.EquateApprox(0.05, 0))
	if d := cmp.Diff(normal(t, Held("tiny")), normal(t, again), near); d != "" {
		t.Errorf("counts.json differs (-there +now); if that is meant, `go run ./tools/counts`:\n%s", d)
	}
}

// normal is what JSON keeps.
func normal(t *testing.T, all []roofline.Counted) (out []roofline.Counted) {
	t.Helper()
	text, err := json.Marshal(all)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}
