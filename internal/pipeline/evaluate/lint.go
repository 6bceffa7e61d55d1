package evaluate

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

func (l *linter) lint() {
	for _, n := range l.f.decl.Nodes {
		read := l.f.of(n).read
		switch {
		case n.Call != nil && !read:
			l.f.Diags.Warn(n.Range, "Unused module", fmt.Sprintf("Nothing refers to %s, so its steps run only where a target names them.", n.Name))
		case n.Block != nil && n.Block.Spec.HasPins() && !read:
			l.f.Diags.Warn(n.Range, "Unused source", fmt.Sprintf("Nothing reads %s, but it is still fetched.", n.Name))
		case n.Block != nil && n.Block.Type == "source" && !read:
			l.f.Diags.Warn(n.Range, "Unused source", fmt.Sprintf("Nothing reads %s, but its files are still copied into the store.", n.Name))
		}
		if forEach := n.ForEach(); forEach != nil && language.WrittenElements(forEach) == 1 {
			l.f.Diags.Warn(forEach.Range(), "for_each of one element", fmt.Sprintf("It makes one instance, so for_each is not needed. Without it, refer to %s, not to an instance of it.", n.Name))
		}
		if n.Block != nil && n.Block.Spec != nil {
			l.lintProgram(n)
		}
	}
	l.lintTwins()
	for _, b := range l.f.decl.Bodies {
		language.Lint(b.Body, l.f.Diags, declare.Roots())
	}
}

// lintTwins finds steps with two names that do the same work. Sweeps may meet in an instance: results are shared.
func (l *linter) lintTwins() {
	first := map[string]*declare.Node{}
	for _, n := range l.f.decl.Nodes {
		steps := l.f.of(n).steps
		if n.Block == nil || n.Block.ForEach != nil || n.Block.Type != "step" || len(steps) != 1 || steps[0].Pending() {
			continue
		}
		task := steps[0].Task
		id := task.Kind + " " + string(task.Config)
		if other := first[id]; other != nil {
			l.f.Diags.Add(&hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "Same step twice", Subject: &n.Range,
				Detail: fmt.Sprintf("%s is the same work as %s, which is done once. Refer to one of them.", n.Name, other.Name),
				Extra:  []syntax.Place{{Range: other.Range, Text: "the other one"}}}, nil, n.Name)
			continue
		}
		first[id] = n
	}
}

// lint warns of what the kind finds hardly meant in a step.
func (c *stepReader) lint(task step.Task) {
	warn := func(path, summary, detail, about string) {
		rng := c.Locate(schema.ParsePath(path))
		c.Diags.Add(&hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: summary, Subject: &rng, Detail: detail}, c.Instance, about)
	}
	for _, p := range c.Spec.Lint(task) {
		warn(p.Path, "Doubtful value", p.Error(), p.Detail)
	}
	for _, what := range c.Spec.Unkeyed(task) {
		warn("program_libraries", "Not in the key", fmt.Sprintf(
			"The key does not have %s: a change of them goes unnoticed. Give the step an environment block or, for Python, start that of an environment by its path, such as /…/.venv/bin/python; program_libraries = false says that they do not matter.", what), what)
	}
}
