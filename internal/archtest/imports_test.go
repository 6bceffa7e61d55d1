// Package archtest holds the rules of the tree as tests: who may import whom,
// and that every kind is listed and documented.
package archtest

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/redsi/redsi/"

// rule says what the packages under a folder may import of ours; libraries that
// only some packages may use are in onlyFrom.
type rule struct {
	folder string
	may    []string
}

var domain = []string{"nq", "wikipedia", "dedup", "serialize", "docid", "metrics", "render", "synth", "export", "tokenize", "fetch", "corpus", "unpack", "msmarco", "collect", "nq320k", "trec", "significance", "bm25", "dense", "topk", "overlap"}

var rules = []rule{
	{"artifacts/storetest", []string{"artifacts", "internal/loopback", "internal/signature"}},
	{"artifacts", []string{"artifacts", "internal/filetype", "internal/atomicfile", "internal/readers", "internal/signature", "internal/system"}},
	{"step", []string{"artifacts"}},
	{"internal/archive", []string{"artifacts", "internal/filetype", "internal/readers", "internal/signature"}},
	{"internal/crate", []string{"artifacts"}},
	{"internal/deposit", nil},
	{"internal/atomicfile", nil},
	{"internal/system", nil},
	{"internal/escape", nil},
	{"internal/filetype", nil},
	{"internal/readers", nil},
	{"internal/splitmix", nil},
	{"internal/heapfloor", nil},
	{"internal/signature", nil},
	{"internal/script", nil},
	{"internal/secret", nil},
	{"internal/loopback", nil},
	{"internal/telemetry", []string{"internal/loopback"}},
	{"internal/lease", []string{"internal/process", "artifacts"}},
	{"internal/nvidia", nil},
	{"internal/usage", []string{"artifacts", "internal/nvidia"}},
	{"internal/livegraph", []string{"internal/loopback", "internal/pipeline"}},
	{"internal/questions", nil},
	{"internal/checklist", []string{"internal/questions", "step", "artifacts", "internal/pipeline", "internal/plan", "internal/report", "internal/render", "internal/usage", "internal/escape", "activities"}},
	{"internal/pipeline", []string{"internal/questions", "step", "internal/filetype", "internal/escape", "internal/secret", "internal/signature"}},
	{"internal/libraries", []string{"artifacts", "internal/atomicfile"}},
	{"internal/lockfile", []string{"step", "internal/fetch", "internal/atomicfile", "artifacts"}},
	{"internal/git", []string{"internal/system"}},
	{"internal/modules", []string{"internal/pipeline", "internal/lockfile", "internal/git"}},
	{"internal/lsp", []string{"internal/pipeline", "internal/process", "step"}},
	{"internal/testfile", []string{"internal/pipeline"}},
	{"internal/plan", []string{"internal/pipeline", "step", "artifacts"}},
	{"internal/estimate", []string{"internal/plan", "internal/pipeline"}},
	{"internal/hours", []string{"internal/estimate", "internal/plan", "internal/roofline", "step"}},
	{"internal/alike", []string{"step", "artifacts", "internal/metrics", "internal/docid", "internal/render", "internal/unpack"}},
	{"internal/attest", []string{"artifacts", "internal/alike", "internal/signature"}},
	{"internal/impact", []string{"internal/plan", "internal/estimate", "internal/pipeline", "step", "artifacts"}},
	{"internal/drawn", nil},
	{"internal/subword", []string{"internal/tokenize"}},
	{"internal/roofline/counted", []string{"internal/drawn", "internal/roofline", "internal/seq2seq", "internal/t5", "internal/bert", "internal/tensor", "internal/train", "internal/decode", "internal/docid", "internal/adafactor"}},
	{"internal/roofline", []string{"internal/nvidia"}},
	{"internal/devserver", []string{"internal/system"}},
	{"internal/payload", nil},
	{"workflows", []string{"internal/plan", "step", "artifacts"}},
	{"internal/prose", nil},
	{"internal/report", []string{"internal/expect", "internal/attest", "internal/signature", "internal/alike", "internal/prose", "internal/usage", "internal/plan", "internal/pipeline", "internal/fetch", "step", "internal/render", "artifacts"}},
	{"internal/view", []string{"internal/expect", "internal/render", "internal/alike", "internal/attest", "internal/prose", "internal/usage", "internal/plan", "internal/estimate", "internal/hours", "internal/roofline", "internal/impact", "step", "internal/pipeline", "internal/report", "internal/escape", "workflows", "artifacts"}},
	{"internal/report", []string{"internal/expect", "internal/prose", "internal/usage", "internal/plan", "internal/pipeline", "internal/fetch", "step", "internal/render", "artifacts"}},
	{"internal/device", []string{"step", "internal/nvidia", "internal/tensor"}},
	{"kinds/internal/inout", []string{"step", "artifacts", "internal"}},
	{"kinds/general", roomMay},
	{"kinds/collection/compute", append(roomMay, "kinds/collection")},
	{"kinds/collection", roomMay},
	{"kinds/ids/compute", append(roomMay, "kinds/ids")},
	{"kinds/ids", roomMay},
	{"kinds/model/compute", append(roomMay, "kinds/model")},
	{"kinds/model", roomMay},
	{"kinds/ranking", roomMay},
	{"kinds/results", roomMay},
	{"kinds", []string{"kinds", "step"}},
	{"activities", []string{"workflows", "step", "artifacts", "internal"}},
	{"worker", []string{"workflows", "activities", "internal"}},
	{"cmd/redsi", nil},
}

// roomMay is what a room of kinds may import: no other room.
var roomMay = []string{"step", "artifacts", "internal", "kinds/internal/inout"}

// onlyFrom names libraries and the folders that may import them.
var onlyFrom = map[string][]string{
	"github.com/sugarme/gotch":     {"internal/tensor"},
	"github.com/minio/minio-go":    {"artifacts/s3", "artifacts/storetest"},
	"github.com/hashicorp/hcl":     {"internal/pipeline", "internal/lsp", "internal/testfile", "internal/cli"},
	"go.temporal.io":               {"workflows", "activities", "worker", "internal/devserver", "internal/payload", "internal/telemetry", "internal/cli"},
	"go.opentelemetry.io":          {"internal/telemetry"},
	"github.com/prometheus":        {"internal/telemetry"},
	"github.com/daulet/tokenizers": {"internal/subword"},
	"github.com/blevesearch":       {"internal/bm25"},
	"github.com/clipperhouse":      {"internal/bm25"},
	"github.com/charmbracelet/log": {"internal/cli"},
	"mvdan.cc/sh":                  {"internal/script"},
	"github.com/spf13/cobra":       {"internal/cli"},
}

// exceptions are packages of ours that the domain may use among itself; the
// model packages form a chain of their own.
var chain = map[string][]string{
	"internal/tensor":          {"internal/splitmix"},
	"internal/seq2seq":         {"internal/tensor", "internal/atomicfile"},
	"internal/t5":              {"internal/seq2seq", "internal/tensor"},
	"internal/bart":            {"internal/seq2seq", "internal/tensor"},
	"internal/models":          {"internal/t5", "internal/bart", "internal/bert", "internal/seq2seq", "internal/tensor"},
	"internal/bert":            {"internal/tensor"},
	"internal/train":           {"internal/splitmix"},
	"internal/train/fit":       {"internal/train", "internal/seq2seq", "internal/tensor", "internal/splitmix", "internal/amp"},
	"internal/decode":          {"internal/seq2seq", "internal/tensor", "internal/docid", "internal/splitmix"},
	"internal/decode/stopping": nil,
	"internal/doc2query":       {"internal/retrieve", "internal/dedup", "internal/nq"},
	"internal/retrieve":        {"internal/decode/stopping", "internal/docid", "internal/dedup"},
	"internal/retrieve/index":  {"internal/retrieve", "internal/decode", "internal/seq2seq", "internal/docid", "internal/subword"},
	"internal/amp":             {"internal/tensor"},
	"internal/adafactor":       {"internal/tensor", "internal/amp"},
	"internal/adamw":           {"internal/tensor", "internal/amp"},
	"internal/search":          {"internal/retrieve", "internal/decode", "internal/models", "internal/seq2seq", "internal/tensor", "internal/docid", "internal/subword", "internal/device/here", "internal/dedup", "internal/corpus", "internal/nq", "internal/loopback"},
}

func TestImports(t *testing.T) {
	for _, f := range sources(t) {
		folder := filepath.ToSlash(filepath.Dir(f.path))
		test := strings.HasSuffix(f.path, "_test.go")
		for _, imp := range f.imports {
			for lib, folders := range onlyFrom {
				if strings.HasPrefix(imp, lib) && !under(folder, folders) && !test {
					t.Errorf("%s imports %s; only %v may", f.path, imp, folders)
				}
			}
			ours, ok := strings.CutPrefix(imp, module)
			if !ok || test || ours == folder {
				continue
			}
			if ours == "internal/tensor/fakecard" || ours == "internal/tensor/near" || ours == "internal/tensor/kernels" {
				t.Errorf("%s imports %s, which is for tests alone", f.path, ours)
			}
			if ours == "internal/cli" && folder != "." && folder != "internal/cli" {
				t.Errorf("%s imports %s, the command line", f.path, ours)
			}
			if may, ruled := allowed(folder); ruled && !under(ours, may) {
				t.Errorf("%s imports %s; packages under %s may import %v of ours", f.path, ours, folder, may)
			}
		}
	}
}

// allowed returns what a folder may import, and whether a rule covers it.
func allowed(folder string) ([]string, bool) {
	for _, d := range domain {
		if under(folder, []string{"internal/" + d}) {
			var may []string
			for _, o := range domain {
				may = append(may, "internal/"+o)
			}
			return append(may, "assets", "internal/escape", "internal/readers", "internal/splitmix"), true
		}
	}
	for in := folder; in != "."; in = filepath.Dir(in) { // a package's own rule before that of a folder above it
		if may, ok := chain[in]; ok {
			return append([]string{in}, may...), true
		}
	}
	for _, r := range rules {
		if under(folder, []string{r.folder}) {
			return append(r.may, r.folder), true
		}
	}
	return nil, false
}

func under(path string, folders []string) bool {
	for _, f := range folders {
		if path == f || strings.HasPrefix(path, f+"/") {
			return true
		}
	}
	return false
}

type source struct {
	path    string
	imports []string
}

// sources parses the imports of every Go file of the module.
func sources(t *testing.T) []source {
	t.Helper()
	root := filepath.Join("..", "..")
	var out []source
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if strings.HasPrefix(d.Name(), ".") && rel != "." || d.Name() == "testdata" || nested(path) && rel != "." {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		s := source{path: rel}
		for _, i := range f.Imports {
			p, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			s.imports = append(s.imports, p)
		}
		out = append(out, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 50 {
		t.Fatalf("only %d Go files found: the test looks in the wrong place", len(out))
	}
	return out
}

// nested reports whether a folder is a module of its own.
func nested(path string) bool {
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil
}
