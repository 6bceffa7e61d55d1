package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/evaluate"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

// What is wrong with a pipeline, and where.
type (
	Pos         = syntax.Pos
	File        = syntax.File
	Diagnostics = syntax.Diagnostics
	Invalid     = syntax.Invalid
	Style       = syntax.Style
)

// What a load asks of the outside, and what it was told.
type (
	World = language.World
	Found = language.Found
	Made  = language.Made
)

// What a pipeline consists of, as its blocks say it and as the last pass makes it.
type (
	Paper     = declare.Paper
	Asset     = declare.Asset
	Step      = evaluate.Step
	Skipped   = evaluate.Skipped
	Claim     = evaluate.Claim
	Checklist = evaluate.Checklist
	Said      = evaluate.Said
	Bound     = evaluate.Bound
	Results   = evaluate.Results
	Publish   = evaluate.Publish
)

// Scope is what the expressions of a loaded pipeline see, and Expression one that comes later.
type (
	Scope      = evaluate.Opened
	Expression = evaluate.Expression
)

// EnvPrefix is evaluate.EnvPrefix.
const EnvPrefix = evaluate.EnvPrefix

// SourceOf is evaluate.SourceOf.
func SourceOf(t step.Task, pos Pos) (path string, ignore, ok bool) { return evaluate.SourceOf(t, pos) }

// WholeExpression is evaluate.WholeExpression.
func WholeExpression(file string, source []byte) Expression {
	return evaluate.WholeExpression(file, source)
}

// Origin is what a pipeline was loaded from, to load it again: in a worker, once a step decides which steps there are.
type Origin struct {
	Sources map[string][]byte `json:"sources"`
	Found   language.Found    `json:"found"`
	Modules []Module          `json:"modules,omitempty"`
	Vars    map[string]string `json:"vars,omitempty"`    // see Inputs
	Secrets []string          `json:"secrets,omitempty"` // names of sensitive variables

	local, given []string // as Pipeline has them
}

// Origin is what the pipeline was loaded from.
func (p *Pipeline) Origin() *Origin {
	return &Origin{p.Sources, p.Found, p.opened, p.vars, syntax.Keys(p.Secrets), p.Local, p.Given}
}

// Load loads the pipeline again, with options beside the origin: Vars or Env have the sensitive variables, which it lacks.
func (o *Origin) Load(with Options) (*Pipeline, syntax.Diagnostics) {
	vars := map[string]string{}
	maps.Copy(vars, with.Vars)
	maps.Copy(vars, o.Vars)
	with.Vars, with.Found = vars, o.Found
	with.Env = slices.DeleteFunc(slices.Clone(with.Env), func(e string) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(e, evaluate.EnvPrefix), "=")
		return !slices.Contains(o.Secrets, name)
	})
	with.Module = func(folder, source string) (map[string][]byte, error) {
		i := slices.IndexFunc(o.Modules, func(m Module) bool { return m.Folder == folder && m.Source == source })
		if i < 0 {
			return nil, fmt.Errorf("the module %s is not among those that the plan was made of", source)
		}
		return o.Modules[i].Files, nil
	}
	p, ds := Load(o.Sources, with)
	if p != nil {
		p.Local, p.Given = o.local, o.given
	}
	return p, ds
}
