package kinds_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/errtest"
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
		errtest.None(l.t, err)
		key = string(text)
		if p, ok := loaded.Load(key); ok {
			return p.(*pipeline.Pipeline)
		}
	}
	p, ds := pipeline.Load(src, pipeline.Options{Registry: l.Registry, Vars: vars, World: pipeline.World{ReadFile: os.ReadFile, List: language.List}, Module: declare.LocalModule})
	errtest.None(l.t, ds.Err())
	if key != "" {
		loaded.Store(key, p)
	}
	return p
}

// part is plan of the paper from the blocks alone that the targets need, for tests that
// load it with many variables. TestPaperKeys holds the keys of the whole.
func (l *local) part(vars map[string]string, targets ...string) *plan.Plan {
	l.t.Helper()
	src, err := syntax.Read(paper)
	errtest.None(l.t, err)
	whole := world{map[string]string{}, map[string][]string{}}
	for name, text := range src {
		w := readWorld(l.t, name, string(text))
		maps.Copy(whole.blocks, w.blocks)
		maps.Copy(whole.needs, w.needs)
	}
	var asked, texts []string
	for name := range vars {
		asked = append(asked, "var."+name)
	}
	for _, t := range targets {
		address, _, _ := strings.Cut(t, "[")
		asked = append(asked, address)
	}
	for _, address := range whole.wanted(l.t, world{needs: map[string][]string{"the test": asked}}) {
		texts = append(texts, whole.blocks[address])
	}
	return l.planOf(paper, l.load(map[string][]byte{paper: []byte(strings.Join(texts, "\n"))}, vars), targets...)
}
