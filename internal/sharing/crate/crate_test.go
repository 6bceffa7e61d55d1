package crate

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

// small is a crate of three steps: a download that was left out, a table of two runs' work, and a step with the key of
// another.
func small(t *testing.T) []byte {
	t.Helper()
	at := func(s int64) time.Time { return time.Unix(1_700_000_000+s, 0) }
	data, table := artifacts.Sum([]byte("data")), artifacts.Sum([]byte("table"))
	tree, err := artifacts.Tree("files", []artifacts.File{{Name: "a.csv", Digest: data, Size: 4}})
	testkit.None(t, err)
	var out bytes.Buffer
	c := New(&out, About{
		Work: Work{Title: `A "T"`, Abstract: "About T.", Released: at(9), License: "CC-BY-4.0", Keywords: []string{"x", "y"}, Version: "1.1", Paper: "10.1145/<1>",
			Authors: []Author{{Name: "A. Author", ORCID: "0000-0002-1825-0097", Affiliation: "Here"}, {Name: "B. Writer"}}},
		Workflow: "project/pipelines.hcl", Language: "HCL", Revision: "abc", Store: "store/",
		Variables: map[string]json.RawMessage{"n": json.RawMessage("2"), "on": json.RawMessage("true"), "scale": json.RawMessage(`"toy"`), "seeds": json.RawMessage("[1,2]")},
		Files: []File{{Path: "README.md", Name: "How to use it", Digest: artifacts.Sum([]byte("r")), Size: 1}, {Path: "project/pipelines.hcl", Name: "pipelines.hcl", Digest: artifacts.Sum([]byte("p")), Size: 1},
			{Path: "project/assets/Ä b.txt", Name: "assets/Ä b.txt"}},
		Blob: func(d artifacts.Digest) (string, string) {
			if d == data {
				return "", "https://example.org/a.csv"
			}
			return "store/blobs/" + artifacts.BlobPath(d), ""
		},
	})
	result := func(kind string, run string, end int64, outputs map[string]artifacts.Artifact) *artifacts.Result {
		return &artifacts.Result{Key: artifacts.KeyOf([]byte(kind)), Outputs: outputs, Took: 2 * time.Second, Finished: at(end), Origin: artifacts.Origin{RunID: run}}
	}
	rendered := result("table", "run-2", 9, map[string]artifacts.Artifact{"json": {Type: "table/json", Digest: table, Size: 5}})
	for _, s := range []Step{
		{Address: "step.download.data", Kind: "download", Version: 1, Config: map[string]json.RawMessage{"names": json.RawMessage(`["a.csv"]`)}, License: "CC BY-SA 3.0",
			Result: result("download", "run-1", 3, map[string]artifacts.Artifact{"files": tree})},
		{Address: `table.t["x/y"]`, Rendered: true, Kind: "render_table", Version: 4, Config: map[string]json.RawMessage{"rows": json.RawMessage(`[{"$input":"` + tree.Digest.String() + `"}]`), "caption": json.RawMessage(`"C"`)},
			Inputs: []artifacts.Digest{tree.Digest}, Result: rendered, Signers: []string{"alice:uyk2NrRFxtvaD6OAknF6Df5l3xlYwSLHLoYBkRsQHVo="},
			Used: []Used{{Name: "CPU time", ID: "https://example.org/cpu", Value: 1.5, Unit: "https://qudt.org/vocab/unit/SEC"}}},
		{Address: "module.m.table.t", Rendered: true, Kind: "render_table", Version: 4, Config: map[string]json.RawMessage{"caption": json.RawMessage(`"C"`)}, Result: rendered},
	} {
		testkit.None(t, c.Step(s))
	}
	testkit.None(t, c.Close())
	return out.Bytes()
}

// TestGolden: tools/rocrate checks the golden with other people's programs.
func TestGolden(t *testing.T) {
	goldens.Same(t, filepath.Join("testdata", "ro-crate-metadata.json"), string(small(t)))
}

// TestGraph: every entity is described once, and what is referred to within the crate is.
func TestGraph(t *testing.T) {
	var doc struct {
		Graph []map[string]any `json:"@graph"`
	}
	testkit.None(t, json.Unmarshal(small(t), &doc))
	ids := map[string]bool{}
	for _, e := range doc.Graph {
		id, ok := e["@id"].(string)
		testkit.That(t, ok && !ids[id], id, "is described twice, or has no id")
		ids[id] = true
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			if id, ok := v["@id"].(string); ok && len(v) == 1 && !ids[id] && !strings.HasPrefix(id, "https://w3id.org/ro/crate/") {
				t.Errorf("%s is referred to and not described", id)
			}
			for _, x := range v {
				walk(x)
			}
		}
	}
	for _, e := range doc.Graph {
		walk(e)
	}
}

// TestNothingIsMadeUp: without authors, licence and signers there are none.
func TestNothingIsMadeUp(t *testing.T) {
	var out bytes.Buffer
	c := New(&out, About{Work: Work{Title: "T", Abstract: "D"}, Workflow: "project/p.hcl", Language: "HCL", Store: "store/"})
	testkit.None(t, c.Close())
	for _, word := range []string{"license", "author", "Person", "agent", "citation", "keywords"} {
		if strings.Contains(out.String(), word) {
			t.Errorf("%s:\n%s", word, out.String())
		}
	}
}
