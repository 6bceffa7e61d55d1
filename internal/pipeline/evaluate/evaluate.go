package evaluate

import (
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/link"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// Evaluate gives declarations their values and makes the steps. With errors, the result is incomplete.
func Evaluate(s *language.Session, t *declare.Tree, given Given, o Options) (*Result, *Opened) {
	r := &run{Session: s, Options: o, links: map[*declare.Module]*link.Links{}, modules: map[string][]byte{}, limits: map[string]int{}}
	f := r.frame(t.Root, "")
	f.variables.set(&givens{t.Root, s.Diags, given})
	f.fixed()
	f.nodes()
	if !s.Diags.Failed() {
		f.links.Unused()
		f.warnPublished()
		if o.Lint {
			(&linter{f, map[string]bool{}}).lint()
		}
	}
	result := f.own
	result.Environments = nil
	f.collect(&result)
	if !s.Diags.Failed() {
		result.Claims = f.claims()
	}
	result.Modules, result.Limits = r.modules, r.limits
	return &result, &Opened{f, syntax.Dir(t.Root.Bodies[0].Name)}
}
