package kinds_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/plan"
)

// paper is the paper's pipeline file. To load it costs more than most tests.
var paper = filepath.Join("..", "pipelines.hcl")

// loaded are the pipelines that load has read, by texts and variables.
var loaded sync.Map

// load evaluates pipeline files with variables. The paper's are loaded once and shared:
// who builds a plan copies the steps. Others read files that a test may change.
func (l *local) load(src map[string][]byte, vars map[string]string) *pipeline.Pipeline {
	l.t.Helper()
	key := ""
	if _, ok := src[paper]; ok {
		text, err := json.Marshal([]any{src, vars})
		if err != nil {
			l.t.Fatal(err)
		}
		key = string(text)
		if p, ok := loaded.Load(key); ok {
			return p.(*pipeline.Pipeline)
		}
	}
	p, ds := pipeline.Load(src, pipeline.Options{Registry: l.Registry, Vars: vars, ReadFile: os.ReadFile})
	if ds.HasErrors() {
		l.t.Fatal(ds.Err())
	}
	if key != "" {
		loaded.Store(key, p)
	}
	return p
}

// part is plan of the paper from the blocks alone that the targets need, for tests that
// load it with many variables. TestPaperKeys holds the keys of the whole.
func (l *local) part(vars map[string]string, targets ...string) *plan.Plan {
	l.t.Helper()
	src, err := pipeline.Read(paper)
	if err != nil {
		l.t.Fatal(err)
	}
	texts, needs := map[string]string{}, map[string][]string{}
	for name, text := range src {
		f, ds := hclsyntax.ParseConfig(text, name, hcl.InitialPos)
		if ds.HasErrors() {
			l.t.Fatal(ds)
		}
		for _, b := range f.Body.(*hclsyntax.Body).Blocks {
			address := strings.Join(append([]string{b.Type}, b.Labels...), ".")
			if b.Type == "locals" {
				for _, a := range b.Body.Attributes {
					address := "local." + a.Name
					texts[address] = "locals {\n" + string(a.SrcRange.SliceBytes(text)) + "\n}"
					needs[address] = references(&hclsyntax.Body{Attributes: hclsyntax.Attributes{a.Name: a}})
				}
				continue
			}
			if b.Type == "variable" {
				address = "var." + b.Labels[0]
			}
			texts[address], needs[address] = string(b.Range().SliceBytes(text)), references(b.Body)
		}
	}
	var all []string
	taken := map[string]bool{}
	var take func(address string)
	take = func(address string) {
		if text, ok := texts[address]; ok && !taken[address] {
			taken[address] = true
			all = append(all, text)
			for _, a := range needs[address] {
				take(a)
			}
		}
	}
	for _, t := range targets {
		address, _, _ := strings.Cut(t, "[")
		take(address)
	}
	for _, address := range slices.Sorted(keysOf(texts)) {
		if strings.HasPrefix(address, "var.") { // a test may set any
			take(address)
		}
	}
	return l.planOf(paper, l.load(map[string][]byte{paper: []byte(strings.Join(all, "\n"))}, vars), targets...)
}
