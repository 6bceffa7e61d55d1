package kinds_test

import (
	"encoding/json"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/mediawiki/wikitest"
	"github.com/redsi/redsi/internal/corpora/wikipedia"
	"github.com/redsi/redsi/internal/system/errtest"
)

// TestPagesAPI: the wiki in place of the dump gives the same documents; what it does not have
// falls back, and is counted; another file of records asks for its own revisions only.
func TestPagesAPI(t *testing.T) {
	t.Parallel()
	l := newLocal(t)
	vars := realData(t)
	targets := []string{`step.dedup.nq["page_id"]`, "step.compare_pages.nq"}
	dump := l.resultsOf(l.part(vars, targets[0]))
	wiki := &wikitest.Wiki{Name: "enwiki", Pages: map[uint64]wikipedia.Entry{}}
	for line := range strings.Lines(string(l.bytes(dump[`step.pages.nq["dump"]`].Outputs["table"]))) {
		var e wikipedia.Entry
		errtest.None(t, json.Unmarshal([]byte(line), &e))
		e.Target = "" // the API does not say
		wiki.Pages[e.OldID] = e
	}
	server := httptest.NewServer(wiki)
	defer server.Close()
	vars["pages_from"], vars["wikipedia_api"], vars["contact"], vars["compare_pages"] = "api", server.URL+"/w/api.php", "me@example.org", "true"
	api := l.resultsOf(l.part(vars, targets...))
	if a, b := dump[targets[0]].Outputs["documents"], api[targets[0]].Outputs["documents"]; a.Digest != b.Digest {
		t.Error("the wiki gives other documents than the dump")
	}
	if why := wiki.Wrong.Load(); why != nil {
		t.Error(*why)
	}
	asked := api[`step.pages_api.nq["api"]`]
	if c := api[`step.compare_pages.nq["api"]`].Counts; c["same"] != 12 || c["different"]+c["only_a"]+c["only_b"] != 0 {
		t.Errorf("compared with the dump: %v", c)
	}
	if c := asked.Counts; c["revisions_wanted"] != 13 || c["revisions_found"] != 12 || c["revisions_missing"] != 1 || c["moved"] != 1 {
		t.Errorf("%v", c)
	}
	if n := strings.Count(string(l.bytes(asked.Outputs["asked"])), "\n"); n != 13 {
		t.Errorf("%d revisions asked", n)
	}
	before := wiki.Requests.Load()
	nqData := testdata(t, "corpora", "nq", "testdata")
	vars["nq_train"] = list(filepath.Join(nqData, "real-pages-train-full.jsonl.gz"), filepath.Join(nqData, "real-pages-dev-full.jsonl.gz"))
	l.resultsOf(l.part(vars, targets[0]))
	if n := wiki.Requests.Load(); before != 2 || n != 3 {
		t.Errorf("%d requests for two files of records, %d with a third", before, n)
	}
}
