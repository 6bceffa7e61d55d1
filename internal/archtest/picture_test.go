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
	{"command line", []string{"cmd/redsi", ".", "internal/cli", "internal/testfile", "internal/view", "internal/report", "internal/expect", "internal/checklist", "internal/livegraph", "internal/lsp"}},
	{"worker", []string{"worker"}},
	{"activities", []string{"activities"}},
	{"workflows", []string{"workflows"}},
	{"kinds", []string{"kinds"}},
	{"plan", []string{"internal/plan", "internal/estimate", "internal/hours", "internal/impact", "internal/modules", "internal/pipeline", "internal/lockfile", "internal/alike", "internal/attest"}},
	{"models", []string{"internal/search", "internal/retrieve", "internal/train", "internal/decode", "internal/models", "internal/seq2seq", "internal/t5", "internal/bart", "internal/bert", "internal/adafactor", "internal/amp", "internal/tensor", "internal/device", "internal/doc2query", "internal/adamw", "internal/subword"}},
	{"documents", []string{"internal/hub", "internal/synth", "internal/export", "internal/msmarco", "internal/collect", "internal/nq320k", "internal/serialize", "internal/dedup", "internal/corpus", "internal/docid", "internal/metrics", "internal/wikipedia", "internal/nq", "internal/tokenize", "internal/render", "internal/prose", "internal/unpack", "internal/fetch", "internal/trec", "internal/significance", "internal/bm25", "internal/dense", "internal/topk", "internal/overlap"}},
	{"step", []string{"step"}},
	{"machine", []string{"internal/devserver", "internal/payload", "internal/telemetry", "internal/lease", "internal/scratch", "internal/cores", "internal/usage", "internal/command", "internal/isolation", "internal/libraries"}},
	{"artifacts", []string{"artifacts", "internal/archive", "internal/crate", "internal/deposit"}},
	{"ground", []string{"internal/system", "internal/nvidia", "internal/process", "internal/loopback", "internal/script", "internal/secret", "internal/escape", "internal/filetype", "internal/atomicfile", "internal/questions", "internal/readers", "internal/splitmix", "internal/heapfloor", "internal/signature", "internal/git", "internal/roofline"}},
}

// apart are packages that are no part of the program.
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
		fmt.Fprintf(&want, "%-13s-> %s\n", b.name, strings.Join(to, ", "))
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

// boxOf is the box of a package; "" if it has none.
func boxOf(folder string) string {
	for _, b := range boxes {
		for _, f := range b.folders {
			if folder == f || f != "." && strings.HasPrefix(folder, f+"/") {
				return b.name
			}
		}
	}
	return ""
}
