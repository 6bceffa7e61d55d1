package pipeline

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

// linter warns of what is not a mistake but hardly meant. What it says has to be so of
// every pipeline: a warning that is often wrong is read by nobody.
type linter struct {
	f     *frame
	there map[string]bool // whether files that programs are given as arguments exist
}

func (l *linter) lint() {
	for _, n := range l.f.decl.nodes {
		read := l.f.of(n).read
		switch {
		case n.module != nil && !read:
			l.f.Diags.Warn(n.rng, "Unused module", fmt.Sprintf("Nothing refers to %s, so its steps run only where a target names them.", n.name))
		case n.block != nil && n.block.spec.HasPins() && !read:
			l.f.Diags.Warn(n.rng, "Unused source", fmt.Sprintf("Nothing reads %s, but it is still fetched.", n.name))
		case n.block != nil && n.block.typ == "source" && !read:
			l.f.Diags.Warn(n.rng, "Unused source", fmt.Sprintf("Nothing reads %s, but its files are still copied into the store.", n.name))
		}
		if forEach := n.forEach(); forEach != nil && language.WrittenElements(forEach) == 1 {
			l.f.Diags.Warn(forEach.Range(), "for_each of one element", fmt.Sprintf("It makes one instance, so for_each is not needed. Without it, refer to %s, not to an instance of it.", n.name))
		}
		if n.block != nil && n.block.spec != nil {
			l.lintProgram(n)
		}
	}
	l.lintTwins()
	for _, b := range l.f.decl.bodies {
		language.Lint(b.Body, l.f.Diags, Roots())
	}
}

// lintTwins finds steps of different names that are the same work. Instances are left
// alone: that a sweep meets another one in a point is what shared results are for.
func (l *linter) lintTwins() {
	first := map[string]*node{}
	for _, n := range l.f.decl.nodes {
		steps := l.f.of(n).steps
		if n.block == nil || n.block.forEach != nil || n.block.typ != "step" || len(steps) != 1 || steps[0].Pending() {
			continue
		}
		task := steps[0].Task
		id := task.Kind + " " + string(task.Config)
		if other := first[id]; other != nil {
			l.f.Diags.Add(&hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "Same step twice", Subject: &n.rng,
				Detail: fmt.Sprintf("%s is the same work as %s, which is done once. Refer to one of them.", n.name, other.name),
				Extra:  []syntax.Place{{Range: other.rng, Text: "the other one"}}}, nil, n.name)
			continue
		}
		first[id] = n
	}
}

// lint warns of what the kind finds hardly meant in a step.
func (c *stepReader) lint(task step.Task) {
	for _, p := range c.Spec.Lint(task) {
		rng := c.Locate(schema.ParsePath(p.Path))
		c.Diags.Add(&hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "Doubtful value", Subject: &rng, Detail: p.Error()}, c.Of, p.Detail)
	}
	for _, what := range c.Spec.Unkeyed(task) {
		rng := c.Locate(schema.ParsePath("program_libraries"))
		c.Diags.Add(&hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "Not in the key", Subject: &rng, Detail: fmt.Sprintf(
			"The key does not have %s: a change of them goes unnoticed. Give the step an environment block or, for Python, start that of an environment by its path, such as /…/.venv/bin/python; program_libraries = false says that they do not matter.", what)}, c.Of, what)
	}
}
