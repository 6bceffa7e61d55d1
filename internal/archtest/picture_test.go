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
	{"command line", []string{"cmd/redsi", ".", "internal/cli", "internal/pipeline/testfile", "internal/cli/view", "internal/paper/report", "internal/paper/expect", "internal/paper/checklist", "internal/cli/livegraph", "internal/pipeline/lsp", "internal/session"}},
	{"worker", []string{"worker"}},
	{"activities", []string{"activities"}},
	{"workflows", []string{"workflows"}},
	{"second program", []string{"cmd/redsi-models", "models", "kinds/internal/collection/compute", "kinds/internal/ids/compute", "kinds/internal/model/compute", "internal/model/engine"}},
	{"kinds", []string{"kinds"}},
	{"plan", []string{"internal/pipeline/plan", "internal/pipeline/estimate", "internal/pipeline/hours", "internal/pipeline/impact", "internal/pipeline/modules", "internal/pipeline", "internal/pipeline/lockfile", "internal/paper/alike", "internal/paper/attest"}},
	{"models", []string{"internal/model/index", "internal/model/train/fit", "internal/model/decode", "internal/model/models", "internal/model/seq2seq", "internal/model/t5", "internal/model/bart", "internal/model/bert", "internal/model/adafactor", "internal/model/amp", "internal/model/tensor", "internal/model/here", "internal/model/driver", "internal/model/adamw", "internal/model/subword"}},
	{"documents", []string{"internal/ranking/search", "internal/ranking/retrieve", "internal/model/train", "internal/ranking/doc2query", "internal/ranking/retrieve/stopping", "internal/corpora/safetensors", "internal/sharing/hub", "internal/corpora/synth", "internal/corpora/export", "internal/corpora/msmarco", "internal/corpora/collect", "internal/corpora/nq320k", "internal/corpora/serialize", "internal/corpora/dedup", "internal/corpora/corpus", "internal/corpora/docid", "internal/ranking/metrics", "internal/corpora/wikipedia", "internal/corpora/nq", "internal/corpora/tokenize", "internal/paper/render", "internal/paper/prose", "internal/corpora/unpack", "internal/corpora/fetch", "internal/corpora/trec", "internal/ranking/significance", "internal/ranking/bm25", "internal/ranking/dense", "internal/ranking/topk", "internal/corpora/overlap"}},
	{"compute", []string{"internal/host/compute", "internal/host/stepio", "internal/host/device"}},
	{"step", []string{"step"}},
	{"machine", []string{"internal/host/devserver", "internal/host/payload", "internal/host/telemetry", "internal/host/lease", "internal/host/scratch", "internal/host/cores", "internal/host/usage", "internal/host/command", "internal/host/isolation", "internal/host/libraries"}},
	{"artifacts", []string{"artifacts", "internal/sharing/archive", "internal/sharing/crate", "internal/sharing/deposit"}},
	{"ground", []string{"internal/system", "internal/host/nvidia", "internal/system/process", "internal/system/loopback", "internal/host/script", "internal/host/secret", "internal/system/escape", "internal/system/filetype", "internal/system/atomicfile", "internal/pipeline/questions", "internal/system/readers", "internal/corpora/splitmix", "internal/host/heapfloor", "internal/system/signature", "internal/host/git", "internal/host/roofline", "internal/host/revision"}},
}

// apart are packages that are not part of the program.
var apart = []string{"bench", "tools", "internal/archtest", "internal/system/golden", "internal/corpora/drawn", "internal/model/counted", "internal/model/cardtest", "assets", "examples"}

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
