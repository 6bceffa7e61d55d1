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
	{"artifacts/storetest", []string{"artifacts", "internal/system/loopback", "internal/system/signature"}},
	{"artifacts", []string{"artifacts", "internal/system/filetype", "internal/system/atomicfile", "internal/system/readers", "internal/system/signature", "internal/system"}},
	{"step", []string{"artifacts"}},
	{"internal/sharing/archive", []string{"artifacts", "internal/system/filetype", "internal/system/readers", "internal/system/signature"}},
	{"internal/sharing/crate", []string{"artifacts"}},
	{"internal/sharing/deposit", nil},
	{"internal/system/atomicfile", nil},
	{"internal/system", nil},
	{"internal/system/escape", nil},
	{"internal/system/filetype", nil},
	{"internal/system/readers", nil},
	{"internal/corpora/splitmix", nil},
	{"internal/host/heapfloor", nil},
	{"internal/system/signature", nil},
	{"internal/host/script", nil},
	{"internal/host/secret", nil},
	{"internal/system/loopback", nil},
	{"internal/host/telemetry", []string{"internal/system/loopback"}},
	{"internal/host/lease", []string{"internal/system/process", "artifacts"}},
	{"internal/host/nvidia", nil},
	{"internal/host/usage", []string{"artifacts", "internal/host/nvidia"}},
	{"internal/cli/livegraph", []string{"internal/system/loopback", "internal/pipeline"}},
	{"internal/pipeline/questions", nil},
	{"internal/paper/checklist", []string{"internal/pipeline/questions", "step", "artifacts", "internal/pipeline", "internal/pipeline/plan", "internal/paper/report", "internal/paper/render", "internal/host/usage", "internal/system/escape", "activities"}},
	{"internal/pipeline", []string{"internal/pipeline/questions", "step", "internal/system/filetype", "internal/system/escape", "internal/host/secret", "internal/system/signature"}},
	{"internal/host/libraries", []string{"artifacts", "internal/system/atomicfile"}},
	{"internal/pipeline/lockfile", []string{"step", "internal/corpora/fetch", "internal/system/atomicfile", "artifacts"}},
	{"internal/host/git", []string{"internal/system"}},
	{"internal/pipeline/modules", []string{"internal/pipeline", "internal/pipeline/lockfile", "internal/host/git"}},
	{"internal/pipeline/lsp", []string{"internal/pipeline", "internal/system/process", "step"}},
	{"internal/pipeline/testfile", []string{"internal/pipeline"}},
	{"internal/pipeline/plan", []string{"internal/pipeline", "step", "artifacts"}},
	{"internal/pipeline/estimate", []string{"internal/pipeline/plan", "internal/pipeline"}},
	{"internal/pipeline/hours", []string{"internal/pipeline/estimate", "internal/pipeline/plan", "internal/host/roofline", "step"}},
	{"internal/paper/alike", []string{"step", "artifacts", "internal/ranking/metrics", "internal/corpora/docid", "internal/paper/render", "internal/corpora/unpack"}},
	{"internal/paper/attest", []string{"artifacts", "internal/paper/alike", "internal/system/signature"}},
	{"internal/pipeline/impact", []string{"internal/pipeline/plan", "internal/pipeline/estimate", "internal/pipeline", "step", "artifacts"}},
	{"internal/corpora/drawn", nil},
	{"internal/model/subword", []string{"internal/corpora/tokenize"}},
	{"internal/model/counted", []string{"internal/corpora/drawn", "internal/host/roofline", "internal/model/seq2seq", "internal/model/t5", "internal/model/bert", "internal/model/tensor", "internal/model/train", "internal/model/decode", "internal/corpora/docid", "internal/model/adafactor"}},
	{"internal/host/roofline", []string{"internal/host/nvidia"}},
	{"internal/host/devserver", []string{"internal/system"}},
	{"internal/host/payload", nil},
	{"workflows", []string{"internal/pipeline/plan", "step", "artifacts"}},
	{"internal/paper/prose", nil},
	{"internal/paper/report", []string{"internal/paper/expect", "internal/paper/attest", "internal/system/signature", "internal/paper/alike", "internal/paper/prose", "internal/host/usage", "internal/pipeline/plan", "internal/pipeline", "internal/corpora/fetch", "step", "internal/paper/render", "artifacts"}},
	{"internal/cli/view", []string{"internal/paper/expect", "internal/paper/render", "internal/paper/alike", "internal/paper/attest", "internal/paper/prose", "internal/host/usage", "internal/pipeline/plan", "internal/pipeline/estimate", "internal/pipeline/hours", "internal/host/roofline", "internal/pipeline/impact", "step", "internal/pipeline", "internal/paper/report", "internal/system/escape", "workflows", "artifacts"}},
	{"internal/paper/report", []string{"internal/paper/expect", "internal/paper/prose", "internal/host/usage", "internal/pipeline/plan", "internal/pipeline", "internal/corpora/fetch", "step", "internal/paper/render", "artifacts"}},
	{"internal/host/device", []string{"step", "internal/host/nvidia", "internal/model/tensor"}},
	{"kinds/internal/inout", []string{"step", "artifacts", "internal"}},
	{"kinds/general", roomMay},
	{"kinds/internal/collection/compute", append(roomMay, "kinds/internal/collection")},
	{"kinds/internal/collection", roomMay},
	{"kinds/internal/ids/compute", append(roomMay, "kinds/internal/ids")},
	{"kinds/internal/ids", roomMay},
	{"kinds/internal/model/compute", append(roomMay, "kinds/internal/model")},
	{"kinds/internal/model", roomMay},
	{"kinds/internal/ranking", roomMay},
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
	"github.com/sugarme/gotch":     {"internal/model/tensor"},
	"github.com/minio/minio-go":    {"artifacts/s3", "artifacts/storetest"},
	"github.com/hashicorp/hcl":     {"internal/pipeline", "internal/pipeline/lsp", "internal/pipeline/testfile", "internal/cli"},
	"go.temporal.io":               {"workflows", "activities", "worker", "internal/host/devserver", "internal/host/payload", "internal/host/telemetry", "internal/cli"},
	"go.opentelemetry.io":          {"internal/host/telemetry"},
	"github.com/prometheus":        {"internal/host/telemetry"},
	"github.com/daulet/tokenizers": {"internal/model/subword"},
	"github.com/blevesearch":       {"internal/ranking/bm25"},
	"github.com/clipperhouse":      {"internal/ranking/bm25"},
	"github.com/charmbracelet/log": {"internal/cli"},
	"mvdan.cc/sh":                  {"internal/host/script"},
	"github.com/spf13/cobra":       {"internal/cli"},
}

// exceptions are packages of ours that the domain may use among itself; the
// model packages form a chain of their own.
var chain = map[string][]string{
	"internal/model/tensor":              {"internal/corpora/splitmix"},
	"internal/model/seq2seq":             {"internal/model/tensor", "internal/system/atomicfile"},
	"internal/model/t5":                  {"internal/model/seq2seq", "internal/model/tensor"},
	"internal/model/bart":                {"internal/model/seq2seq", "internal/model/tensor"},
	"internal/model/models":              {"internal/model/t5", "internal/model/bart", "internal/model/bert", "internal/model/seq2seq", "internal/model/tensor"},
	"internal/model/bert":                {"internal/model/tensor"},
	"internal/model/train":               {"internal/corpora/splitmix"},
	"internal/model/train/fit":           {"internal/model/train", "internal/model/seq2seq", "internal/model/tensor", "internal/corpora/splitmix", "internal/model/amp"},
	"internal/model/decode":              {"internal/model/seq2seq", "internal/model/tensor", "internal/corpora/docid", "internal/corpora/splitmix"},
	"internal/ranking/retrieve/stopping": nil,
	"internal/ranking/doc2query":         {"internal/ranking/retrieve", "internal/corpora/dedup", "internal/corpora/nq"},
	"internal/ranking/retrieve":          {"internal/ranking/retrieve/stopping", "internal/corpora/docid", "internal/corpora/dedup"},
	"internal/model/index":               {"internal/ranking/retrieve", "internal/model/decode", "internal/model/seq2seq", "internal/corpora/docid", "internal/model/subword"},
	"internal/model/amp":                 {"internal/model/tensor"},
	"internal/model/adafactor":           {"internal/model/tensor", "internal/model/amp"},
	"internal/model/adamw":               {"internal/model/tensor", "internal/model/amp"},
	"internal/ranking/search":            {"internal/ranking/retrieve", "internal/model/decode", "internal/model/models", "internal/model/seq2seq", "internal/model/tensor", "internal/corpora/docid", "internal/model/subword", "internal/model/here", "internal/corpora/dedup", "internal/corpora/corpus", "internal/corpora/nq", "internal/system/loopback"},
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
			if ours == "internal/model/tensor/fakecard" || ours == "internal/model/tensor/near" || ours == "internal/model/tensor/kernels" {
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
			return append(may, "assets", "internal/system/escape", "internal/system/readers", "internal/corpora/splitmix"), true
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
