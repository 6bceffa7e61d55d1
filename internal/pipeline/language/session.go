package language

import (
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// Session is the state of one load: what has been read, used and asked for.
type Session struct {
	*Files
	Diags *syntax.Collector
	meter *meter

	funcs     map[string]map[string]function.Function            // by folder, for file()
	splats    map[*hclsyntax.AnonSymbolExpr]hclsyntax.Expression // what each splat is taken of
	now       *Awaited                                           // by what is being evaluated; nil outside of nodes
	whole     map[string]cty.Value                               // what the sensitive variables are, without their marks, by name
	dropped   map[string]bool                                    // addresses of steps whose outputs do not stay
	rendering bool                                               // a template of templatefile()
}

// NewSession begins a load; stop, if set, is asked now and then, and its error ends the evaluation.
func NewSession(sources map[string][]byte, w World, d *syntax.Collector, stop func() error) *Session {
	m := &meter{stop: stop}
	return &Session{
		Files: &Files{
			world: w, given: sources, meter: m, Read: map[string][]byte{}, code: map[string]*codeFiles{},
			Found: Found{map[string]map[string][]string{}, map[string]string{}, map[string][]string{}, map[string]bool{}},
		},
		Diags: d, meter: m, dropped: map[string]bool{},
		funcs: map[string]map[string]function.Function{}, splats: map[*hclsyntax.AnonSymbolExpr]hclsyntax.Expression{},
	}
}

// Ended reports whether a limit has ended the evaluation: nothing is evaluated any more.
func (s *Session) Ended() bool { return s.meter.ended != nil }

// ResetMeter lets the next expression use as much as a whole pipeline.
func (s *Session) ResetMeter() { *s.meter = meter{stop: s.meter.stop} }

// Await makes what is evaluated from now on await what a knows of, until back is called.
func (s *Session) Await(a *Awaited) (back func()) {
	outer := s.now
	s.now = a
	return func() { s.now = outer }
}

// Awaits is what the present evaluation awaits; nil outside of one.
func (s *Session) Awaits() *Awaited { return s.now }

// Drop notes that the outputs of a step do not stay.
func (s *Session) Drop(address string) { s.dropped[address] = true }

// SetSecrets notes the values of sensitive variables, without their marks.
func (s *Session) SetSecrets(whole map[string]cty.Value) { s.whole = whole }

// HasSecrets reports whether a variable is sensitive.
func (s *Session) HasSecrets() bool { return len(s.whole) > 0 }
