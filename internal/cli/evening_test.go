package cli

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/corpora/rehearsal"
	"github.com/redsi/redsi/internal/system/testkit"
)

// What `make evening` sets, in place of a few records and updates.
var (
	eveningShare   = flag.Float64("share", 0, "TestEvening: share of the sample's records, with models of T5-Efficient-Tiny's shape")
	eveningUpdates = flag.Int("updates", 2, "TestEvening: updates of each training")
	eveningOut     = flag.String("out", "", "TestEvening: folder for tables, figures and the report")
)

// TestEvening runs scale sample of the paper against a server that has what it downloads: real
// articles under other names, and models of a few thousand parameters beside their vocabularies. A
// connection that is cut is continued; a second run finds everything done, and asks nobody.
func TestEvening(t *testing.T) {
	t.Parallel()
	tiny := rehearsal.Shape{Layers: 1, Width: 16, Inner: 32, Heads: 2, PerHead: 8}
	size := rehearsal.Size{Dev: 3, Train: 25, T5: tiny, BERT: tiny}
	if *eveningShare > 0 {
		size = rehearsal.Size{Dev: int(7830 * *eveningShare / 5), Train: int(6147 * *eveningShare), T5: rehearsal.EfficientTiny, BERT: rehearsal.SmallBERT}
	}
	served := rehearsal.New(size)
	const cutAt = 200_000
	var cut sync.Once
	served.Sent = func(r *http.Request, n int64) {
		if strings.Contains(r.URL.Path, "nq-train-00") && n > cutAt {
			cut.Do(func() { panic(http.ErrAbortHandler) })
		}
	}
	server := httptest.NewServer(served)
	defer server.Close()
	p := newPaper(t)
	p.args = slices.DeleteFunc(p.args, func(a string) bool { return a == "scale=toy" || a == "--var" })
	if *eveningOut != "" {
		p.out = *eveningOut
	}
	for _, v := range append(rehearsal.Variables(server.URL), "scale=sample", fmt.Sprint("sample_updates=", *eveningUpdates)) {
		p.args = append(p.args, "--var", v)
	}
	var first, again struct {
		Hit, Ran int
		Rendered []struct{ Address, Path string }
	}
	began := time.Now()
	p.json(&first, "run", "--json", "--yes", "--out", p.out)
	if *eveningOut != "" {
		t.Logf("the run took %s\n%s", time.Since(began).Round(time.Second), p.run("report", "--out", filepath.Join(p.out, "report.html")))
	}
	testkit.That(t, first.Ran >= 100 && first.Hit == 0, first.Ran, "ran", first.Hit, "hit")
	if why := served.Wiki.Wrong.Load(); why != nil {
		t.Error(*why)
	}
	lock, err := os.ReadFile(filepath.Join(p.args[1], "redsi.lock"))
	testkit.None(t, err)
	files := 0
	for name, of := range served.Served() {
		if name == "/w/api.php" {
			continue
		}
		if files++; !strings.Contains(string(lock), server.URL+name) {
			t.Errorf("redsi.lock does not name %s", name)
		}
		requests := int64(1)
		if strings.Contains(name, "nq-train-00") {
			requests = 2 // it was cut off
		}
		if b, _ := of.File(); of.Requests.Load() != requests || of.Sent.Load() != int64(len(b)) {
			t.Errorf("%s of %d bytes: %d requests, %d bytes sent", name, len(b), of.Requests.Load(), of.Sent.Load())
		}
	}
	testkit.Is(t, files, 10)
	server.Close()
	p.json(&again, "run", "--json", "--yes", "--out", p.out)
	if again.Ran != 0 || again.Hit != first.Ran || len(again.Rendered) != len(first.Rendered) {
		t.Errorf("again %d ran, %d hit, %d files; before %d ran, %d files", again.Ran, again.Hit, len(again.Rendered), first.Ran, len(first.Rendered))
	}
	tables := map[string]bool{}
	for _, f := range again.Rendered {
		if tables[f.Address] = true; !slices.Contains(first.Rendered, f) {
			t.Errorf("%s is written anew", f.Path)
		}
	}
	for _, name := range []string{"table.dedup_counts", "table.page_id_resolution", "table.nq320k_identifier_comparison", "table.decoding_by_model_scale", "table.baselines"} {
		if !tables[name] {
			t.Errorf("%s is not there", name)
		}
	}
}
