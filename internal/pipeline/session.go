package pipeline

import (
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// lang is the state of one load: what has been read, used and asked for.
type lang struct {
	*fileStore
	diags *syntax.Collector
	meter *meter

	funcs     map[string]map[string]function.Function            // by folder, for file()
	splats    map[*hclsyntax.AnonSymbolExpr]hclsyntax.Expression // what each splat is taken of
	now       *awaited                                           // by what is being evaluated; nil outside of nodes
	whole     map[string]cty.Value                               // what the sensitive variables are, without their marks, by name
	dropped   map[string]bool                                    // addresses of steps whose outputs do not stay
	rendering bool                                               // a template of templatefile()
}

// newLang begins a load; stop, if set, is asked now and then, and its error ends the evaluation.
func newLang(sources map[string][]byte, w World, d *syntax.Collector, stop func() error) *lang {
	m := &meter{stop: stop}
	return &lang{
		fileStore: &fileStore{
			world: w, given: sources, meter: m, read: map[string][]byte{}, code: map[string]*codeFiles{},
			found: Found{map[string]map[string][]string{}, map[string]string{}, map[string][]string{}, map[string]bool{}},
		},
		diags: d, meter: m, dropped: map[string]bool{},
		funcs: map[string]map[string]function.Function{}, splats: map[*hclsyntax.AnonSymbolExpr]hclsyntax.Expression{},
	}
}

// ended reports whether a limit has ended the evaluation: nothing is evaluated any more.
func (s *lang) ended() bool { return s.meter.ended != nil }

// again lets the next expression use as much as a whole pipeline.
func (s *lang) again() { *s.meter = meter{stop: s.meter.stop} }

// await makes what is evaluated from now on await what a knows of, until back is called.
func (s *lang) await(a *awaited) (back func()) {
	outer := s.now
	s.now = a
	return func() { s.now = outer }
}

// awaits is what the present evaluation awaits; nil outside of one.
func (s *lang) awaits() *awaited { return s.now }

// drop notes that the outputs of a step do not stay.
func (s *lang) drop(address string) { s.dropped[address] = true }

// keep notes the values of sensitive variables, without their marks.
func (s *lang) keep(whole map[string]cty.Value) { s.whole = whole }

// hasSecrets reports whether a variable is sensitive.
func (s *lang) hasSecrets() bool { return len(s.whole) > 0 }
