// Package archtest holds the rules of the tree as tests: who may import whom,
// and that every kind is listed and documented.
package archtest

import (
	"fmt"
	"go/ast"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
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
	{"internal/paper/prose", []string{"internal/pipeline/address", "internal/paper/markdown", "internal/host/git", "internal/system/values", "internal/paper/render"}},
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
	{"internal/model/trial", []string{"internal/corpora/drawn", "internal/corpora/docid", "internal/corpora/safetensors", "internal/host/rates", "internal/host/usage", "step", "internal/model/seq2seq", "internal/model/t5", "internal/model/bert", "internal/model/tensor", "internal/model/train", "internal/model/decode", "internal/model/optimizer"}},
	{"internal/model/tensor", []string{"internal/corpora/splitmix", "internal/corpora/safetensors"}},
	{"internal/model/int8s", []string{"internal/model/tensor", "internal/model/decode/kernel"}},
	{"internal/model/seq2seq", []string{"internal/model/tensor", "internal/model/int8s", "internal/system/atomicfile"}},
	{"internal/model/t5", []string{"internal/model/seq2seq", "internal/model/tensor"}},
	{"internal/model/bart", []string{"internal/model/seq2seq", "internal/model/tensor"}},
	{"internal/model/models", []string{"internal/model/t5", "internal/model/bart", "internal/model/bert", "internal/model/seq2seq", "internal/model/tensor"}},
	{"internal/model/bert", []string{"internal/model/tensor", "internal/model/int8s"}},
	{"internal/model/train/fit", []string{"internal/model/train", "internal/model/seq2seq", "internal/model/tensor", "internal/model/amp", "internal/model/optimizer", "internal/corpora/splitmix"}},
	{"internal/model/train", []string{"internal/corpora/splitmix"}},
	{"internal/model/decode", []string{"internal/model/seq2seq", "internal/model/tensor", "internal/corpora/docid", "internal/corpora/splitmix", "internal/ranking/retrieve/stopping"}},
	{"internal/model/amp", []string{"internal/model/tensor"}},
	{"internal/model/optimizer", []string{"internal/corpora/safetensors", "internal/model/tensor", "internal/model/amp"}},
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

// A room of kinds imports no other room, and what computes in it the room alone.
func init() {
	may := []string{"step", "artifacts", "internal", "kinds/internal/inout"}
	for _, room := range []string{"kinds/general", "kinds/internal/collection", "kinds/internal/ids", "kinds/internal/model", "kinds/internal/ranking", "kinds/results"} {
		rules = append(rules, rule{room, may}, rule{room + "/compute", append(may[:4:4], room)})
	}
}

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
var forTests = []string{"internal/corpora/unpack/goldens", "internal/model/tensor/fakecard", "internal/model/tensor/kernels", "internal/model/tensor/tensortest", "internal/system/testkit"}

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
// people, and change. Of the SDK's own words workflows/failure.go makes types.
func TestNoSearchInMessages(t *testing.T) {
	for _, f := range codeOf(t, "internal/cli", "internal/cli/view", "internal/session", "internal/session/drive", "internal/paper/report", "worker") {
		for n, line := range strings.Split(string(f.text), "\n") {
			if searches.MatchString(line) {
				t.Errorf("%s:%d searches in a message: give the error a type\n%s", f.path, n+1, strings.TrimSpace(line))
			}
		}
	}
}

// apart are folders that are not part of the program.
var apart = []string{"bench", "tools", "internal/archtest", "assets", "examples"}

const picture = "```imports\n"

// TestPicture compares the picture of imports in docs/architecture.md with the imports
// between folders: each names the folders that it imports, all of them below it.
func TestPicture(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "architecture.md")
	b, err := os.ReadFile(path)
	testkit.None(t, err)
	before, rest, ok := strings.Cut(string(b), picture)
	got, after, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatalf("%s has no picture, %q", path, picture)
	}
	var order []string // from the top down
	for line := range strings.Lines(got) {
		folder, _, _ := strings.Cut(line, "->")
		order = append(order, strings.TrimSpace(folder))
	}
	arrows := map[string]map[string]bool{}
	for _, s := range sources(t) {
		from := district(s.folder)
		if s.test || under(from, apart) {
			continue
		}
		if !slices.Contains(order, from) {
			t.Errorf("%s: folder %s is not in the picture of %s", s.path, from, path)
			order = append(order, from)
		}
		for _, imp := range s.imports {
			ours, ok := strings.CutPrefix(imp+"/", module)
			if !ok {
				continue
			}
			to := district(strings.TrimSuffix(ours, "/"))
			if to == from || under(to, apart) {
				continue
			}
			if arrows[from] == nil {
				arrows[from] = map[string]bool{}
			}
			arrows[from][to] = true
			if slices.Index(order, to) < slices.Index(order, from) {
				t.Errorf("%s imports %s: an arrow that goes up, from %s to %s", s.path, ours, from, to)
			}
		}
	}
	var want strings.Builder
	for _, folder := range order {
		to := slices.SortedFunc(maps.Keys(arrows[folder]), func(x, y string) int { return slices.Index(order, x) - slices.Index(order, y) })
		fmt.Fprintf(&want, "%-18s-> %s\n", folder, strings.Join(to, ", "))
	}
	text := strings.ReplaceAll(want.String(), "-> \n", "->\n")
	goldens.Same(t, path, before+picture+text+"```"+after)
}

// district is the folder of the picture in which a package is: one under internal, or one
// at the top, where the package of the module's root is redsi.
func district(folder string) string {
	parts := strings.SplitN(folder, "/", 3)
	switch {
	case folder == "." || folder == "":
		return "redsi.go"
	case (parts[0] == "internal" || parts[0] == "cmd") && len(parts) > 1:
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// TestDistricts: each folder under internal says in its doc.go what it is.
func TestDistricts(t *testing.T) {
	folders, err := os.ReadDir("..")
	testkit.None(t, err)
	for _, f := range folders {
		if f.Name() == "archtest" || !f.IsDir() {
			continue
		}
		b, err := os.ReadFile(filepath.Join("..", f.Name(), "doc.go"))
		if err != nil || !strings.HasPrefix(string(b), "// Package "+f.Name()+" ") {
			t.Errorf("internal/%s/doc.go does not say what the folder is: %v", f.Name(), err)
		}
	}
}

// TestPure: nothing that redsi links has cgo, and so neither libtorch nor the tokenizers'
// library: these are the second program's. And what reads runs has nothing of what does them.
func TestPure(t *testing.T) {
	cgo := []string{"C", "github.com/sugarme/gotch", "github.com/daulet/tokenizers"}
	if n := without(t, "cmd/redsi", cgo...); n < 50 {
		t.Fatalf("it looked through %d packages only", n)
	}
	for _, folder := range []string{"internal/runs", "internal/session/journal", "internal/session/compare"} {
		without(t, folder, "go.temporal.io/")
	}
	for _, folder := range []string{"internal/session", "internal/session/steplog", "internal/session/why", "internal/sharing/accept", "internal/sharing/transfer"} {
		without(t, folder, module+"workflows", module+"activities")
	}
}

// without tells which packages among those that a program or package links import what it must not
// have, and returns how many there are.
func without(t *testing.T, program string, libraries ...string) int {
	t.Helper()
	imports := map[string][]string{}
	for _, s := range sources(t) {
		if !s.test {
			imports[s.folder] = append(imports[s.folder], s.imports...)
		}
	}
	from := map[string]string{program: program}
	for queue := []string{program}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, imp := range imports[at] {
			if slices.ContainsFunc(libraries, func(lib string) bool { return imp == lib || lib != "C" && strings.HasPrefix(imp, lib) }) {
				t.Errorf("%s links %s, which imports %s (by %s)", program, at, imp, from[at])
			}
			ours, ok := strings.CutPrefix(imp, module)
			if imp+"/" == module {
				ours, ok = ".", true
			}
			if ok && from[ours] == "" {
				from[ours] = from[at] + " -> " + ours
				queue = append(queue, ours)
			}
		}
	}
	return len(from)
}

// outputs are names of what a verb prints to.
var outputs = map[string]bool{"Out": true, "Err": true, "Stdout": true, "Stderr": true, "out": true, "errw": true}

// TestOnlyViewPrints finds verbs that print past package view, which escapes what a
// terminal would obey.
func TestOnlyViewPrints(t *testing.T) {
	escaped := 0
	for _, f := range codeOf(t, "internal/cli") {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			fun, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			switch pkg, _ := fun.X.(*ast.Ident); {
			case output(fun.X) && strings.HasPrefix(fun.Sel.Name, "Write"):
				t.Errorf("%s: a verb writes past package view", f.line(call))
			case pkg == nil:
			case pkg.Name == "view" && strings.HasPrefix(fun.Sel.Name, "Print"):
				escaped++
			case pkg.Name == "fmt" && strings.HasPrefix(fun.Sel.Name, "Print"),
				(pkg.Name == "fmt" || pkg.Name == "io") && len(call.Args) > 0 && output(call.Args[0]) && !strings.HasPrefix(fun.Sel.Name, "Sprint"):
				t.Errorf("%s: %s.%s prints; view.Printf, view.Println and view.Copy do", f.line(call), pkg.Name, fun.Sel.Name)
			}
			return true
		})
	}
	if escaped < 20 {
		t.Fatalf("only %d calls of view.Printf found: the test looks in the wrong place", escaped)
	}
}

// output reports whether an argument is a verb's output: a.Out, os.Stderr, out.
func output(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return outputs[e.Sel.Name]
	case *ast.Ident:
		return outputs[e.Name]
	}
	return false
}
