package hub

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/testkit"
)

const datasetCard = `---
license: cc-by-sa-3.0
configs:
- config_name: documents
  data_files: parquet/documents.parquet
- config_name: queries
  data_files:
  - split: train
    path: parquet/queries-train.parquet
  - split: dev
    path:
    - parquet/queries-dev-*.parquet
---

# A dataset
`

func TestCheck(t *testing.T) {
	dataset := []artifacts.File{{Name: Card, Size: 10}, {Name: "parquet/documents.parquet", Size: 10}, {Name: "parquet/queries-train.parquet", Size: 10}, {Name: "parquet/queries-dev-0.parquet", Size: 10}}
	model := []artifacts.File{{Name: Card, Size: 10}}
	for _, name := range modelFiles {
		model = append(model, artifacts.File{Name: name, Size: 10})
	}
	for _, test := range []struct {
		name  string
		kind  Kind
		card  string
		files []artifacts.File
		want  []string // what the error says; none: no error
	}{
		{"dataset", Dataset, datasetCard, dataset, nil},
		{"model", Model, "---\nlicense: apache-2.0\nlibrary_name: transformers\n---\n", model, nil},
		{"no metadata", Dataset, "# A dataset\n", dataset, []string{"README.md: it does not begin with metadata"}},
		{"no license", Dataset, "---\nlanguage: en\n---\n", dataset, []string{"have no license"}},
		{"no YAML", Dataset, "---\n\tlicense: [\n---\n", dataset, []string{"README.md: "}},
		{"missing data", Dataset, datasetCard, dataset[:2],
			[]string{"config queries: there is no file parquet/queries-train.parquet", "no file parquet/queries-dev-*.parquet"}},
		{"missing weights", Model, "---\nlicense: apache-2.0\n---\n", model[:3], []string{"no library_name", "there is no model.safetensors"}},
		{"large and empty", Dataset, datasetCard, append([]artifacts.File{{Name: "a", Size: 0}, {Name: "b", Size: 51 << 30}}, dataset...), []string{"a is empty", "b has 54760833024 bytes"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := Check(test.kind, []byte(test.card), test.files)
			if err == nil != (test.want == nil) {
				t.Fatalf("error %v, want %q", err, test.want)
			}
			testkit.ErrSays(t, err, test.want...)
		})
	}
}

func TestAttributes(t *testing.T) {
	got := string(Attributes([]artifacts.File{{Name: "a b/large.json", Size: 11 << 20}, {Name: "small.json", Size: 10}, {Name: "x.parquet", Size: 11 << 20}}))
	testkit.Says(t, got, "*.parquet filter=lfs diff=lfs merge=lfs -text\n", "/a[[:space:]]b/large.json filter=lfs")
	testkit.That(t, !strings.Contains(got, "small") && !strings.Contains(got, "x.parquet"), "too much", got)
}

func TestKindOf(t *testing.T) {
	for typ, want := range map[string]Kind{"hub/dataset": Dataset, "hub/model": Model} {
		if k, ok := KindOf(typ); k != want || !ok {
			t.Errorf("%s: %s, %v", typ, k, ok)
		}
	}
	for _, typ := range []string{"files", "hub/space", "hub/"} {
		if k, ok := KindOf(typ); ok {
			t.Errorf("%s is %s", typ, k)
		}
	}
}
