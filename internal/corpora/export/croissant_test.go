package export

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

// croissantDocuments have what records of any format can hold alike.
var croissantDocuments = []Document{
	{ID: "d1", Title: "Elsa (Frozen)", Text: "Elsa\nis a \"character\" & <queen>.\tTab", Key: "41312390", URL: "https://x.example/?title=Elsa&oldid=5", OldID: 5, PageID: 41312390, ExampleID: 3, Train: 2, Dev: 1},
	{ID: "d2", Title: "1918–19 season", Text: "The season.", Key: "t:1918–19 season", URL: "https://x.example/2", ExampleID: 7, Dev: 1},
	{ID: "d3", Title: "None", Text: "Nobody asks.", URL: "https://x.example/3", ExampleID: 8},
}

var croissantQueries = []Query{
	{ID: "q1", Split: nq.Train, Text: "who voices elsa", DocID: "d1"},
	{ID: "q2", Split: nq.Train, Text: "when was elsa made", DocID: "d1"},
	{ID: "q2", Split: nq.Train, Text: "when was elsa made", DocID: "d2"},
	{ID: "q3", Split: nq.Dev, Text: "who won <1918> & why?", DocID: "d2"},
	{ID: "q4", Split: nq.Test, Text: "who lost", DocID: "d2", Grade: 2},
}

// croissants are the folders of testdata/croissant, which tools/golden/croissant.py loads by mlcroissant.
var croissants = map[string]struct {
	formats []Format
	origin  Origin
}{
	"parquet": {[]Format{Parquet, TREC, BEIR}, NaturalQuestions},
	"jsonl":   {[]Format{JSONL}, Generated},
}

// TestCroissant: the folders are as they were when mlcroissant read them.
func TestCroissant(t *testing.T) {
	for name, c := range croissants {
		t.Run(name, func(t *testing.T) {
			m, s := write(t, croissantDocuments, croissantQueries, c.formats...)
			testkit.None(t, WriteCroissant(m.create, Card{Name: "NQ320K-PageID", Origin: c.origin}, &s))
			for _, f := range s.Files {
				sum := sha256.Sum256(m[f.Name].Bytes())
				testkit.Is(t, f.SHA256, hex.EncodeToString(sum[:]), f)
				testkit.Is(t, f.Bytes, int64(m[f.Name].Len()), f)
			}
			if !slices.ContainsFunc(s.Files, func(f File) bool { return f.Name == CroissantFile }) || len(s.Files) != len(m) {
				t.Errorf("files %+v", s.Files)
			}
			folder := filepath.Join("testdata", "croissant", name)
			got := map[string]string{}
			for file, b := range m {
				got[file] = b.String()
			}
			if diff := cmp.Diff(goldens.OfTree(t, folder, got), got); diff != "" {
				t.Errorf("run with -update, then tools/golden/croissant.py (-there +written):\n%s", diff)
			}
		})
	}
}

// TestCroissantRecords: record sets are of files that there are, and say of each field where it is from.
func TestCroissantRecords(t *testing.T) {
	for _, c := range []struct {
		formats []Format
		queries []Query
		want    string
	}{
		{[]Format{Parquet, BEIR, JSONL}, croissantQueries, "documents queries-train queries-dev queries-test qrels-train qrels-dev qrels-test"},
		{[]Format{JSONL}, croissantQueries[:3], "documents queries-train"},
		{[]Format{TREC}, croissantQueries, ""},
	} {
		m, s := write(t, croissantDocuments, c.queries, c.formats...)
		testkit.None(t, WriteCroissant(m.create, Card{Name: "N", Origin: Other}, &s))
		var set croissantSet
		testkit.None(t, json.Unmarshal(m[CroissantFile].Bytes(), &set))
		var names []string
		for _, r := range set.RecordSet {
			names = append(names, r.ID)
			for _, f := range r.Fields {
				if _, ok := m[f.Source.FileObject.ID]; !ok || !strings.HasPrefix(f.ID, r.ID+"/") {
					t.Errorf("field %+v", f)
				}
			}
		}
		if strings.Join(names, " ") != c.want || set.License != "" || len(set.Distribution) != len(m)-1 {
			t.Errorf("%v: %v, licence %q, %d files", c.formats, names, set.License, len(set.Distribution))
		}
	}
	var context any
	testkit.None(t, json.NewDecoder(bytes.NewReader([]byte(croissantContext))).Decode(&context))
}
