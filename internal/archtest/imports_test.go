// Package archtest holds the rules of the tree as tests: who may import whom,
// and that every kind is listed and documented.
package archtest

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/redsi/redsi/"

// rule says what the packages under a folder may import of ours, where that is less than
// the picture of docs/architecture.md has between folders. FOLDER/. is the package of a
// folder without those below it.
type rule struct {
	folder string
	may    []string
}

var rules = []rule{
	{"internal/stores", []string{"artifacts", "internal/system"}},
	{"internal/stores/storetest", []string{"internal/stores", "artifacts", "internal/system/loopback", "internal/system/readers", "internal/system/signature"}},
	{"internal/sharing/archive", []string{"internal/stores/local", "artifacts", "internal/system/filetype", "internal/system/readers", "internal/system/signature", "internal/system/values"}},
	{"internal/sharing/crate", []string{"artifacts", "internal/system/spdx", "internal/system/values"}},
	{"internal/host/git", []string{"internal/system/."}},
	{"internal/host/telemetry", []string{"internal/system/loopback"}},
	{"internal/host/lease", []string{"internal/host/allocation", "internal/system/process", "internal/system/readers", "artifacts"}},
	{"internal/host/capacity", []string{"internal/host/allocation", "internal/system/words"}},
	{"internal/host/slurm", []string{"internal/host/capacity", "internal/system/shellwords", "internal/system/words"}},
	{"internal/host/usage", []string{"artifacts", "internal/system/readers", "internal/host/nvidia", "internal/system/words", "internal/system/values"}},
	{"internal/host/libraries", []string{"internal/host/script", "internal/stores/hashed", "artifacts", "internal/system/atomicfile", "internal/system/words", "internal/system/values"}},
	{"internal/host/environment/.", []string{"artifacts", "internal/system/atomicfile", "internal/host/libraries", "internal/system/words", "internal/system/values"}},
	{"internal/host/environment/realize", []string{"artifacts", "internal/host/environment/.", "internal/host/libraries", "internal/host/command", "internal/host/scratch", "internal/stores/hashed", "internal/stores/local", "internal/system"}},
	{"internal/host/rates", []string{"step", "internal/system/atomicfile"}},
	{"internal/host/devserver", []string{"internal/system/.", "internal/system/process", "internal/system/readers", "internal/system/shellwords", "internal/host/revision"}},
	{"internal/host/device", []string{"step", "internal/host/nvidia", "internal/host/capacity"}},
	{"workflows", []string{"internal/pipeline/address", "internal/runs", "step", "artifacts"}},
	{"internal/pipeline/console", []string{"internal/pipeline/.", "internal/pipeline/language", "internal/pipeline/plan", "step", "artifacts"}},
	{"internal/pipeline/impact/versions", []string{"internal/pipeline", "internal/host/git", "step", "artifacts"}},
	{"internal/pipeline/dvc", []string{"internal/pipeline/.", "internal/pipeline/syntax", "internal/host/script", "internal/host/tracked"}},
	{"internal/pipeline/starter", []string{"assets", "internal/pipeline", "internal/corpora", "internal/system"}},
	{"internal/pipeline/lockfile/origins", []string{"internal/pipeline", "internal/host/listing", "internal/host/tracked", "internal/corpora/fetch", "step", "artifacts"}},
	{"internal/pipeline/lockfile", []string{"internal/stores/hashed", "internal/host/listing", "step", "internal/corpora/fetch", "internal/system/atomicfile", "internal/system/.", "artifacts", "internal/system/values"}},
	{"internal/pipeline/modules", []string{"internal/pipeline/.", "internal/pipeline/syntax", "internal/pipeline/declare", "internal/pipeline/lockfile", "internal/host/git"}},
	{"internal/pipeline/lsp", []string{"internal/pipeline/declare", "internal/pipeline/.", "internal/pipeline/language", "internal/pipeline/schema", "internal/pipeline/syntax", "internal/pipeline/graph", "internal/pipeline/reference", "internal/system/process", "step"}},
	{"internal/pipeline/testfile", []string{"internal/pipeline/declare", "internal/pipeline/address", "internal/pipeline/.", "internal/pipeline/syntax", "internal/pipeline/language"}},
	{"internal/pipeline/plan", []string{"internal/pipeline/address", "internal/pipeline/.", "internal/pipeline/syntax", "step", "artifacts", "internal/system/values"}},
	{"internal/pipeline/estimate", []string{"internal/pipeline/address", "internal/pipeline/plan", "internal/pipeline/.", "internal/host/rates", "step", "internal/system/words"}},
	{"internal/pipeline/impact", []string{"internal/pipeline/plan", "internal/pipeline/estimate", "internal/pipeline/.", "step", "artifacts"}},
	{"internal/pipeline/format", []string{"internal/pipeline/.", "internal/pipeline/syntax", "internal/system/atomicfile"}},
	{"internal/pipeline/graph", []string{"internal/pipeline/address"}},
	{"internal/pipeline/reference", []string{"internal/pipeline/declare", "internal/pipeline/.", "internal/pipeline/syntax", "internal/pipeline/language", "step", "internal/system/values"}},
	{"internal/pipeline/syntax", []string{"internal/system/escape", "internal/system/filetype", "internal/system/words"}},
	{"internal/pipeline/language", []string{"internal/pipeline/syntax", "step", "artifacts", "internal/system/values"}},
	{"internal/pipeline/local", []string{"internal/host/slurm", "internal/pipeline/declare", "internal/pipeline/language", "internal/pipeline/syntax"}},
	{"internal/pipeline/schema", []string{"internal/pipeline/language", "internal/pipeline/syntax", "internal/host/secret", "step"}},
	{"internal/pipeline/declare", []string{"internal/pipeline/schema", "internal/pipeline/language", "internal/pipeline/syntax", "internal/pipeline/questions", "internal/system/spdx", "step"}},
	{"internal/pipeline/link", []string{"internal/pipeline/declare", "internal/pipeline/language", "internal/pipeline/syntax"}},
	{"internal/pipeline/evaluate", []string{"internal/pipeline/link", "internal/pipeline/declare", "internal/pipeline/schema", "internal/pipeline/language", "internal/pipeline/syntax", "internal/pipeline/address", "step", "artifacts", "internal/system/signature", "internal/system/values", "internal/system/words", "internal/host/environment/.", "internal/host/libraries"}},
	{"internal/pipeline/.", []string{"internal/pipeline/evaluate", "internal/pipeline/declare", "internal/pipeline/language", "internal/pipeline/syntax", "step", "internal/host/environment/."}},
	{"internal/runs", []string{"artifacts", "internal/host/usage", "internal/system/values"}},
	{"internal/paper/prose", []string{"internal/pipeline/address", "internal/paper/markdown", "internal/host/git", "internal/system/values"}},
	{"internal/paper/alike", []string{"step", "artifacts", "internal/ranking/metrics", "internal/corpora/trec", "internal/corpora/npy", "internal/corpora/unpack", "internal/paper/render", "internal/system/words"}},
	{"internal/paper/checklist", []string{"internal/pipeline/address", "internal/host/environment/.", "internal/pipeline/questions", "step", "artifacts", "internal/pipeline/.", "internal/pipeline/plan", "internal/paper/report", "internal/paper/render", "internal/paper/markdown", "internal/host/usage", "internal/system/escape", "internal/system/words"}},
	{"internal/paper/report", []string{"internal/pipeline/address", "internal/host/environment/.", "internal/paper/expect", "internal/paper/attest", "internal/system/atomicfile", "internal/system/signature", "internal/paper/alike", "internal/paper/prose", "internal/host/usage", "internal/pipeline/.", "internal/pipeline/declare", "internal/pipeline/plan", "internal/corpora/fetch", "step", "internal/paper/render", "artifacts", "internal/system/words"}},
	{"internal/paper/attest", []string{"artifacts", "internal/paper/alike", "internal/system/signature", "internal/system/words"}},
	{"internal/paper/render", []string{"internal/system/escape", "internal/system/values", "internal/system/words"}},
	{"internal/session/livegraph", []string{"internal/system/loopback", "internal/pipeline"}},
	{"internal/cli/view", []string{"internal/pipeline/address", "internal/host/environment", "internal/paper", "internal/host/usage", "internal/pipeline/.", "internal/pipeline/syntax", "internal/pipeline/plan", "internal/pipeline/estimate", "internal/pipeline/impact", "internal/system/escape", "internal/system/words", "internal/system/shellwords", "internal/system/signature",
		// What it prints, by the types of those who found it.
		"internal/corpora/collect", "internal/pipeline/lockfile/origins", "internal/pipeline/starter", "internal/ranking/search", "internal/session/belief", "internal/session/compare", "internal/session/doctor", "internal/session/drive", "internal/session/journal", "internal/session/pilots", "internal/session/saved", "internal/session/steplog", "internal/session/why", "internal/session/world", "internal/sharing/archive", "internal/sharing/files", "internal/sharing/pack", "internal/sharing/publish", "internal/sharing/rebuild", "internal/sharing/hub", "internal/sharing/signers", "internal/runs", "workflows", "step", "artifacts"}},
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
	{"kinds/models", []string{"kinds", "step", "internal"}},
	{"kinds", []string{"kinds", "step"}},
	{"internal/corpora/fetch", []string{"assets", "internal/system/.", "internal/system/escape", "internal/system/readers", "internal/system/words", "internal/corpora"}},
	{"internal/corpora", []string{"assets", "internal/system/escape", "internal/system/readers", "internal/system/spool", "internal/system/values", "internal/system/words"}},
	{"internal/ranking/doc2query", []string{"internal/ranking/retrieve", "internal/corpora/dedup", "internal/corpora/nq", "internal/corpora/pytext", "internal/system/values"}},
	{"internal/ranking/retrieve", []string{"internal/corpora/docid", "internal/corpora/dedup", "internal/corpora/pytext"}},
	{"internal/ranking/search", []string{"internal/corpora/unpack", "internal/system/words", "internal/ranking/retrieve", "internal/corpora/docid", "internal/corpora/dedup", "internal/corpora/corpus", "internal/corpora/nq", "internal/system/loopback"}},
	{"internal/ranking", []string{"internal/corpora", "assets", "internal/system/escape", "internal/system/readers", "internal/system/spool", "internal/system/values", "internal/system/words"}},
	{"internal/model/subword", []string{"internal/corpora/tokenize"}},
	{"internal/model/index", []string{"internal/ranking/retrieve", "internal/model/decode", "internal/model/seq2seq", "internal/corpora/docid", "internal/model/subword"}},
	{"internal/model/engine", []string{"internal/ranking/search", "internal/ranking/retrieve", "internal/model/index", "internal/model/decode", "internal/model/models", "internal/model/seq2seq", "internal/model/tensor", "internal/model/subword", "internal/model/here", "internal/corpora/docid", "internal/corpora/dedup", "internal/corpora/corpus", "internal/corpora/nq"}},
	{"internal/model/trial", []string{"internal/corpora/drawn", "internal/corpora/docid", "internal/corpora/safetensors", "internal/host/rates", "internal/host/usage", "step", "internal/model/seq2seq", "internal/model/t5", "internal/model/bert", "internal/model/tensor", "internal/model/train", "internal/model/decode", "internal/model/adafactor"}},
	{"internal/model/tensor", []string{"internal/corpora/splitmix", "internal/corpora/safetensors"}},
	{"internal/model/int8s", []string{"internal/model/tensor", "internal/model/decode/kernel"}},
	{"internal/model/seq2seq", []string{"internal/model/tensor", "internal/model/int8s", "internal/system/atomicfile"}},
	{"internal/model/t5", []string{"internal/model/seq2seq", "internal/model/tensor"}},
	{"internal/model/bart", []string{"internal/model/seq2seq", "internal/model/tensor"}},
	{"internal/model/models", []string{"internal/model/t5", "internal/model/bart", "internal/model/bert", "internal/model/seq2seq", "internal/model/tensor"}},
	{"internal/model/bert", []string{"internal/model/tensor", "internal/model/int8s"}},
	{"internal/model/train/fit", []string{"internal/model/train", "internal/model/seq2seq", "internal/model/tensor", "internal/model/amp", "internal/corpora/splitmix"}},
	{"internal/model/train", []string{"internal/corpora/splitmix"}},
	{"internal/model/decode", []string{"internal/model/seq2seq", "internal/model/tensor", "internal/corpora/docid", "internal/corpora/splitmix", "internal/ranking/retrieve/stopping"}},
	{"internal/model/amp", []string{"internal/model/tensor"}},
	{"internal/model/adafactor", []string{"internal/model/tensor", "internal/model/amp"}},
	{"internal/model/adamw", []string{"internal/model/tensor", "internal/model/amp"}},
}

// nothing are folders whose packages import nothing of ours.
var nothing = []string{
	"internal/system/.", "internal/system/atomicfile", "internal/system/escape", "internal/system/fault",
	"internal/system/filetype", forAll, "internal/system/loopback", "internal/system/readers",
	"internal/system/shellwords", "internal/system/signature", "internal/system/spdx", "internal/system/spool",
	"internal/system/values", "internal/system/words", "internal/host/heapfloor", "internal/host/revision",
	"internal/host/python", "internal/host/script", "internal/host/secret", "internal/host/payload",
	"internal/host/nvidia", "internal/host/allocation", "internal/host/environment/indextest",
	"internal/pipeline/address", "internal/pipeline/questions", "cmd/redsi", "internal/corpora/drawn",
	"internal/corpora/splitmix", "internal/ranking/retrieve/stopping",
}

// roomMay is what a room of kinds may import: no other room.
var roomMay = []string{"step", "artifacts", "internal", "kinds/internal/inout"}

// onlyFrom names libraries, and packages of ours, and the folders that may import them.
var onlyFrom = map[string][]string{
	"github.com/sugarme/gotch":            {"internal/model/tensor"},
	"github.com/minio/minio-go":           {"internal/stores/s3", "internal/stores/storetest"},
	"github.com/hashicorp/hcl":            {"internal/pipeline", "internal/pipeline/lsp", "internal/pipeline/testfile", "internal/cli"},
	"go.temporal.io":                      {"workflows", "activities", "worker", "internal/host/devserver", "internal/host/payload", "internal/host/telemetry", "internal/session/drive", "internal/cli"},
	module + "internal/pipeline/schema":   {"internal/pipeline"},
	module + "internal/pipeline/link":     {"internal/pipeline"},
	module + "internal/pipeline/evaluate": {"internal/pipeline"},
	module + "activities":                 {"worker", "internal/session/drive", "internal/sharing/rebuild", "internal/cli"},
	"go.opentelemetry.io":                 {"internal/host/telemetry"},
	"github.com/prometheus":               {"internal/host/telemetry"},
	"github.com/daulet/tokenizers":        {"internal/model/subword"},
	"github.com/blevesearch":              {"internal/ranking/bm25"},
	"github.com/clipperhouse":             {"internal/ranking/bm25"},
	"github.com/charmbracelet/log":        {"internal/cli"},
	"mvdan.cc/sh":                         {"internal/host/script"},
	"github.com/spf13/cobra":              {"internal/cli"},
}

// forTests are imported by tests and by each other, and by packages whose name ends in test.
var forTests = []string{"internal/corpora/unpack/goldens", "internal/model/tensor/fakecard", "internal/model/tensor/kernels", "internal/model/tensor/tensortest", "internal/system/errtest", "internal/system/filetest"}

// forAll may be imported as the standard library may, and imports nothing of ours.
const forAll = "internal/system/lists"

func TestImports(t *testing.T) {
	for _, f := range sources(t) {
		for _, imp := range f.imports {
			for lib, folders := range onlyFrom {
				if strings.HasPrefix(imp, lib) && !under(f.folder, folders) && !f.test {
					t.Errorf("%s imports %s; only %v may", f.path, imp, folders)
				}
			}
			ours, ok := strings.CutPrefix(imp, module)
			if !ok || f.test || ours == f.folder {
				continue
			}
			if slices.Contains(forTests, ours) {
				if !slices.Contains(forTests, f.folder) && !strings.HasSuffix(f.folder, "test") {
					t.Errorf("%s imports %s, which is for tests alone", f.path, ours)
				}
				continue
			}
			if ours == "internal/cli" && f.folder != "." && f.folder != "internal/cli" {
				t.Errorf("%s imports %s, the command line", f.path, ours)
			}
			if may, ruled := allowed(f.folder); ruled && !under(ours, may) && ours != forAll {
				t.Errorf("%s imports %s; packages under %s may import %v of ours", f.path, ours, f.folder, may)
			}
		}
	}
}

// allowed returns what a folder may import, and whether a rule covers it: its own, or else
// that of the nearest folder above it.
func allowed(folder string) ([]string, bool) {
	for in := folder; in != "."; in = filepath.Dir(in) {
		switch {
		case slices.Contains(nothing, in):
			return []string{in}, true
		case slices.Contains(nothing, folder+"/."):
			return nil, true
		}
		for _, r := range rules {
			switch r.folder {
			case in:
				return append(slices.Clone(r.may), in), true
			case folder + "/.":
				return r.may, true
			}
		}
	}
	return nil, false
}

func under(path string, folders []string) bool {
	for _, f := range folders {
		if path == f || path+"/." == f || strings.HasPrefix(path, f+"/") {
			return true
		}
	}
	return false
}

var defined = regexp.MustCompile(`(?m)^var (\w+) = step\.Define\(`)

// TestEveryKindIsListed finds step kinds that nobody put into kinds.go.
func TestEveryKindIsListed(t *testing.T) {
	var list strings.Builder
	for _, f := range codeOf(t, "kinds") {
		list.Write(f.text)
	}
	found := 0
	for _, f := range sources(t) {
		if !strings.HasPrefix(f.folder, "kinds/") {
			continue
		}
		for _, m := range defined.FindAllStringSubmatch(string(f.text), -1) {
			found++
			if name := path.Base(f.folder) + "." + m[1]; !strings.Contains(list.String(), name+",") {
				t.Errorf("%s defines %s, which kinds.go does not list", f.path, name)
			}
		}
	}
	if found < 25 {
		t.Fatalf("only %d kinds found: the test looks in the wrong place", found)
	}
}

// TestEveryPackageSaysWhatItIs asks for a package comment.
func TestEveryPackageSaysWhatItIs(t *testing.T) {
	said := map[string]bool{}
	for _, f := range sources(t) {
		said[f.folder] = said[f.folder] || regexp.MustCompile(`(?m)^// (Package|Command) [\w-]+ `).Match(f.text)
	}
	for folder, ok := range said {
		if !ok {
			t.Errorf("no file of %s says in a package comment what it owns", folder)
		}
	}
}

// searches is code that decides by what an error says. It sees a line, and not what a
// variable may hold: it is a reminder, not a proof.
var searches = regexp.MustCompile(`(strings\.(Contains|HasPrefix|HasSuffix|Cut|Index|EqualFold)|regexp\.Match)\w*\(.*\.(Error|Message)\(\)|\.(Error|Message)\(\)(\[| [=!]= )`)

// What shows errors goes by their types and fields, never by their words: those are for
// people, and change. Of the SDK's own words workflows/versions.go makes types.
func TestNoSearchInMessages(t *testing.T) {
	for _, f := range codeOf(t, "internal/cli", "internal/cli/view", "internal/session", "internal/session/drive", "internal/paper/report", "worker") {
		for n, line := range strings.Split(string(f.text), "\n") {
			if searches.MatchString(line) {
				t.Errorf("%s:%d searches in a message: give the error a type\n%s", f.path, n+1, strings.TrimSpace(line))
			}
		}
	}
}
