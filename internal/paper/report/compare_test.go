package report_test

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/paper/report"
)

// TestCompare: another run's number stands below ours with the difference, a cell that is
// the same says so, and steps that are other work are listed.
func TestCompare(t *testing.T) {
	v, store := study(t, "full", 4)
	was := &render.Table{Stubs: []string{"Key"}, Columns: []render.Column{{ID: "n", Title: "N", Format: render.Format{Style: "integer"}}, {ID: "k", Title: "K", Format: render.Format{Style: "fixed"}}},
		Rows: []render.Row{{ID: "one", Titles: []string{"1"}, Cells: map[string]render.Cell{"n": render.Number(40), "k": render.Number(7)}}}}
	var b strings.Builder
	if err := was.JSON(&b); err != nil {
		t.Fatal(err)
	}
	d, n, err := store.Blobs.Put(t.Context(), strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	against := &report.Against{Run: "run0", Same: 2, Changed: []report.Changed{{Step: "step.count.x", Why: []string{`url "/home/someone/x.txt"`}}},
		Results: map[string]*artifacts.Result{"table.x": {Outputs: map[string]artifacts.Artifact{"json": {Type: "table/json", Digest: d, Size: n}}}}}
	s := page(t, v, store, report.Options{Against: against})
	checkLinks(t, s)
	for _, want := range []string{"Compared with run run0", "1 of 2 numbers", `<span class="other"><span class="sr">other run </span>40 · &#43;2</span>`, `<span class="other same">=</span>`, "…/x.txt"} {
		if !strings.Contains(s, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if strings.Contains(s, "someone") {
		t.Error("the page names a folder of a machine")
	}
}
