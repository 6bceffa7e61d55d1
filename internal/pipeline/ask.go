package pipeline

import (
	"fmt"
	"regexp"

	"github.com/hashicorp/hcl/v2"

	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// questions are those whose answers could mend errors: of variables that nobody has set and
// whose names stand where something is wrong. The errors say how else to set them.
func (s *Scope) questions(ds syntax.Diagnostics) (all []syntax.Question) {
	for _, name := range syntax.Keys(s.f.variables.of) {
		v := s.f.variables.of[name]
		if v.ask == "" || v.given {
			continue
		}
		named := regexp.MustCompile(`\bvar\.` + regexp.QuoteMeta(name) + `\b`)
		asked := false
		for _, d := range ds.List {
			if d.Severity != hcl.DiagError || *d.Subject != v.rng && !named.Match(d.Subject.SliceBytes(s.f.Diags.Source(d.Subject.Filename))) {
				continue
			}
			if *d.Subject != v.rng {
				d.Detail += fmt.Sprintf("\nNobody has set var.%s yet: give it with --var %s=…, or in %s.", name, name, syntax.LocalFile)
			}
			asked = true
		}
		if asked {
			all = append(all, syntax.Question{Variable: name, Text: v.ask})
		}
	}
	return all
}
