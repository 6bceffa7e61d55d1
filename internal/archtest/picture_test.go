package archtest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// box is a part of the picture of docs/architecture.md: packages that a reader takes for one.
type box struct {
	name    string
	folders []string
}

// boxes are ordered as the picture is: what is above may import what is below.
var boxes = []box{
	{"command line", []string{"cmd/redsi", ".", "internal/cli", "internal/testfile", "internal/view", "internal/report", "internal/expect", "internal/checklist", "internal/livegraph", "internal/lsp", "internal/session"}},
	{"worker", []string{"worker"}},
	{"activities", []string{"activities"}},
	{"workflows", []string{"workflows"}},
	{"second program", []string{"cmd/redsi-models", "models", "kinds/collection/compute", "kinds/ids/compute", "kinds/model/compute", "internal/search/engine"}},
	{"kinds", []string{"kinds"}},
	{"plan", []string{"internal/plan", "internal/estimate", "internal/hours", "internal/impact", "internal/modules", "internal/pipeline", "internal/lockfile", "internal/alike", "internal/attest"}},
	{"models", []string{"internal/retrieve/index", "internal/train/fit", "internal/decode", "internal/models", "internal/seq2seq", "internal/t5", "internal/bart", "internal/bert", "internal/adafactor", "internal/amp", "internal/tensor", "internal/device/here", "internal/nvidia/driver", "internal/adamw", "internal/subword"}},
	{"documents", []string{"internal/search", "internal/retrieve", "internal/train", "internal/doc2query", "internal/decode/stopping", "internal/tensor/safetensors", "internal/hub", "internal/synth", "internal/export", "internal/msmarco", "internal/collect", "internal/nq320k", "internal/serialize", "internal/dedup", "internal/corpus", "internal/docid", "internal/metrics", "internal/wikipedia", "internal/nq", "internal/tokenize", "internal/render", "internal/prose", "internal/unpack", "internal/fetch", "internal/trec", "internal/significance", "internal/bm25", "internal/dense", "internal/topk", "internal/overlap"}},
	{"compute", []string{"internal/compute", "internal/stepio", "internal/device"}},
	{"step", []string{"step"}},
	{"machine", []string{"internal/devserver", "internal/payload", "internal/telemetry", "internal/lease", "internal/scratch", "internal/cores", "internal/usage", "internal/command", "internal/isolation", "internal/libraries"}},
	{"artifacts", []string{"artifacts", "internal/archive", "internal/crate", "internal/deposit"}},
	{"ground", []string{"internal/system", "internal/nvidia", "internal/process", "internal/loopback", "internal/script", "internal/secret", "internal/escape", "internal/filetype", "internal/atomicfile", "internal/questions", "internal/readers", "internal/splitmix", "internal/heapfloor", "internal/signature", "internal/git", "internal/roofline", "internal/revision"}},
}

// apart are packages that are not part of the program.
var apart = []string{"bench", "tools", "internal/archtest", "internal/golden", "internal/drawn", "internal/roofline/counted", "internal/cardtest", "assets", "examples"}

const picture = "```imports\n"

// TestPicture compares the picture of imports in docs/architecture.md with the imports:
// each box names the boxes that it imports, all of them below it.
func TestPicture(t *testing.T) {
	arrows := map[string]map[string]bool{}
	place := map[string]int{}
	for i, b := range boxes {
		place[b.name] = i
	}
	for _, s := range sources(t) {
		folder := filepath.ToSlash(filepath.Dir(s.path))
		if strings.HasSuffix(s.path, "_test.go") || under(folder, apart) {
			continue
		}
		from := boxOf(folder)
		if from == "" {
			t.Errorf("package %s is in no box of the picture", folder)
			continue
		}
		for _, imp := range s.imports {
			ours, ok := strings.CutPrefix(imp, module)
			if !ok || under(ours, apart) {
				continue
			}
			if to := boxOf(ours); to != from {
				if arrows[from] == nil {
					arrows[from] = map[string]bool{}
				}
				arrows[from][to] = true
				if place[to] < place[from] {
					t.Errorf("%s imports %s: an arrow that goes up, from %s to %s", s.path, ours, from, to)
				}
			}
		}
	}
	var want strings.Builder
	for _, b := range boxes {
		to := slices.SortedFunc(maps.Keys(arrows[b.name]), func(x, y string) int { return place[x] - place[y] })
		fmt.Fprintf(&want, "%-15s-> %s\n", b.name, strings.Join(to, ", "))
	}
	path := filepath.Join("..", "..", "docs", "architecture.md")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), picture)
	got, after, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatalf("%s has no picture, %q", path, picture)
	}
	text := strings.ReplaceAll(want.String(), "-> \n", "\n")
	if *update {
		if err := os.WriteFile(path, []byte(before+picture+text+"```"+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != text {
		t.Errorf("docs/architecture.md shows other imports (`go test ./internal/archtest -update`):\n%s\nthey are\n%s", got, text)
	}
}

// boxOf is the box of a package, by its own folder or the nearest above it; "" if it has none.
func boxOf(folder string) (name string) {
	longest := -1
	for _, b := range boxes {
		for _, f := range b.folders {
			if (folder == f || f != "." && strings.HasPrefix(folder, f+"/")) && len(f) > longest {
				name, longest = b.name, len(f)
			}
		}
	}
	return name
}

// TestPure: nothing that redsi links has cgo, and so neither libtorch nor the tokenizers'
// library: these are the second program's.
func TestPure(t *testing.T) {
	imports := map[string][]string{}
	for _, s := range sources(t) {
		if folder := filepath.ToSlash(filepath.Dir(s.path)); !strings.HasSuffix(s.path, "_test.go") {
			imports[folder] = append(imports[folder], s.imports...)
		}
	}
	from := map[string]string{"cmd/redsi": "redsi"}
	for queue := []string{"cmd/redsi"}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, imp := range imports[at] {
			if imp == "C" || strings.HasPrefix(imp, "github.com/sugarme/gotch") || strings.HasPrefix(imp, "github.com/daulet/tokenizers") {
				t.Errorf("redsi links %s, which imports %s (by %s)", at, imp, from[at])
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
	if len(from) < 50 {
		t.Fatalf("it looked through %d packages only", len(from))
	}
}
