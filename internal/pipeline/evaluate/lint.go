package evaluate

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
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
		language.Lint(b.Body, l.f.Diags, declare.Roots)
	}
}

// lintTwins warns of two blocks that do the same work. Instances of sweeps may be alike: they share results.
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
			"The key does not have %s: a change of them goes unnoticed. Give the step an environment block or, for Python, start an environment's Python by its path, such as /…/.venv/bin/python; program_libraries = false says that they do not matter.", what), what)
	}
}

const lintInstances = 100 // of a block are looked at: nearly all share a mistake

// lintProgram warns of files that a program, started as "command" does, will not have or will leave out.
func (l *linter) lintProgram(n *declare.Node) {
	command := n.Block.Body.Attributes["script"]
	switch {
	case n.Block.Spec.HasCode():
		command = n.Block.Body.Attributes["arguments"]
	case command == nil:
		command = n.Block.Body.Attributes["argv"]
	}
	if command == nil || n.Block.Type != "step" {
		return
	}
	steps := l.f.of(n).steps
	for _, s := range steps[:min(len(steps), lintInstances)] {
		tree := s.tree()
		l.lintBeside(n, command.Expr, tree)
		if n.Block.ForEach != nil && l.literal(n.Block.ForEach) {
			l.lintNamedByHand(n, s.Key, tree)
		}
	}
}

var (
	fileName   = regexp.MustCompile(`^[\w.-]+(/[\w.-]+)*$`)
	scriptName = regexp.MustCompile(`\.(py|R|r|sh|bash|pl|awk|jl|rb|js|lua|m|do|sql)$`)
)

// filesNamed lists what is likely a file in an argument: a path of several parts, or a script, also within a shell's text.
func filesNamed(arg string) []string {
	words := strings.Fields(arg)
	return lists.Filter(words, func(w string) bool {
		return fileName.MatchString(w) && (scriptName.MatchString(w) || len(words) == 1 && strings.Contains(w, "/"))
	})
}

// lineOf is what a program is started with: its arguments, or the text of its script.
func lineOf(tree map[string]any) []string {
	if arguments := stringsOf(tree["arguments"]); len(arguments) > 0 {
		return arguments
	}
	if script, _ := tree["script"].(string); script != "" {
		return []string{script}
	}
	return stringsOf(tree["argv"])
}

// lintBeside warns of a file beside the pipeline that a command names and the step's folder lacks.
func (l *linter) lintBeside(n *declare.Node, command hclsyntax.Expression, tree map[string]any) {
	files, advice := []string{"files"}, "write files = { %[2]q = file(%[2]q) }."
	own := []string{"in", "out", "tmp", ".", ".."}
	if n.Block.Spec.HasCode() {
		advice = "write code = [%[2]q] or, if it is data, give it in inputs by a source block."
		own, files = stringsOf(tree["outputs"]), []string{"code_digests", "inputs", "lists"}
	}
	for i, arg := range lineOf(tree) {
		rng := command.Range()
		if list, ok := language.Unwrap(command).(*hclsyntax.TupleConsExpr); ok && i < len(list.Exprs) {
			rng = list.Exprs[i].Range()
		}
		for _, name := range filesNamed(arg) {
			top, _, _ := strings.Cut(name, "/")
			given := slices.ContainsFunc(files, func(attribute string) bool {
				named, _ := tree[attribute].(map[string]any)
				return named[name] != nil
			})
			if !given && !slices.Contains(own, top) && !slices.Contains(own, name) && l.standsBeside(n.Dir, name) {
				l.f.Diags.Warn(rng, "File that the step does not have", fmt.Sprintf("%s is beside the pipeline, but the program starts in a folder of its own. "+
					"To have it there, "+advice, name, name))
			}
		}
	}
}

func (l *linter) standsBeside(dir, name string) bool {
	file := syntax.Beside(dir, name)
	if _, looked := l.there[file]; !looked && l.f.ReadFile != nil {
		_, err := l.f.ReadFile(file)
		l.there[file] = err == nil
	}
	return l.there[file]
}

// lintNamedByHand warns of instances, named in the pipeline, that each read one file of a folder that another step leaves.
func (l *linter) lintNamedByHand(n *declare.Node, key string, tree map[string]any) {
	inputs, _ := tree["inputs"].(map[string]any)
	for _, name := range syntax.Keys(inputs) {
		in, ok := inputs[name].(step.Input)
		if !ok || in.Ref == nil {
			continue
		}
		for _, folder := range l.foldersOf(in.Ref.Step) {
			at := path.Join("in", name, folder) + "/"
			for _, arg := range lineOf(tree) {
				_, rest, found := strings.Cut(arg, at)
				if file := strings.Fields(rest); !found || len(file) == 0 || !strings.Contains(file[0], key) {
					continue
				}
				l.f.Diags.Warn(n.Block.ForEach.Range(), "Files named by hand", fmt.Sprintf("These names choose files of out/%s of %s, which may leave others: what is not named here is in no result. "+
					"Write for_each = files(%s, %q), and each.file in inputs.", folder, in.Ref.Step, in.Ref.WithoutPath(), folder+"*"))
			}
		}
	}
}

// foldersOf lists the folders that a step of this module declares as its outputs.
func (l *linter) foldersOf(of string) (folders []string) {
	n := l.f.decl.ByName[address.Of(of).Name]
	if n == nil {
		return nil
	}
	for _, s := range l.f.of(n).steps {
		if s.Address == of {
			folders = lists.Filter(stringsOf(s.tree()["outputs"]), func(o string) bool { return strings.HasSuffix(o, "/") })
		}
	}
	return folders
}

// literal reports whether an expression is a list or object written out, there or in a local value.
func (l *linter) literal(e hclsyntax.Expression) bool {
	if written := language.WrittenElements(e); written >= 0 {
		return written > 0
	}
	switch x := language.Unwrap(e).(type) {
	case *hclsyntax.FunctionCallExpr:
		return x.Name == "toset" && len(x.Args) == 1 && l.literal(x.Args[0])
	case *hclsyntax.ScopeTraversalExpr:
		if p := language.Names(x.Traversal); len(p) == 2 && len(x.Traversal) == 2 && p[0] == "local" && l.f.decl.ByName["local."+p[1]] != nil {
			return language.WrittenElements(l.f.decl.ByName["local."+p[1]].Expr) > 0
		}
	}
	return false
}

func stringsOf(list any) []string {
	elements, _ := list.([]any)
	return lists.Map(elements, func(e any) string { s, _ := e.(string); return s })
}

// linter warns of what is hardly meant, in every pipeline that has it: nobody reads warnings that are often wrong.
type linter struct {
	f     *frame
	there map[string]bool // whether files that programs are given as arguments exist
}
