package counted

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/host/roofline"
)

// TestCounts: counts.json has what operations of the smallest model are counted to have now, the
// memory to a twentieth, since a CPU's kernels take some of their own. With -update all models are counted and written,
// which takes two minutes.
func TestCounts(t *testing.T) {
	names := Models[:1]
	if *goldens.Update {
		names = Models
	}
	var again []roofline.Counted
	for _, name := range names {
		counts, err := All(name)
		if err != nil {
			t.Fatal(name, err)
		}
		again = append(again, counts...)
	}
	text, err := json.MarshalIndent(again, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	var there, now []roofline.Counted
	for text, list := range map[string]*[]roofline.Counted{goldens.Of(t, "../../host/roofline/counts.json", string(text)+"\n"): &there, string(text): &now} {
		if err := json.Unmarshal([]byte(text), list); err != nil {
			t.Fatal(err)
		}
	}
	there = slices.DeleteFunc(there, func(c roofline.Counted) bool { return !slices.Contains(names, c.By) })
	near := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Peak" }, cmpopts.EquateApprox(0.05, 0))
	if d := cmp.Diff(there, now, near); d != "" {
		t.Errorf("counts.json differs (-there +now); -update writes it:\n%s", d)
	}
}
