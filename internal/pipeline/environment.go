package pipeline

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/host/libraries"
)

// Environment is an environment block: what programs are run in, as its lock has it.
type Environment struct {
	Name     string                 // environment.NAME, after the address of its module
	Text     []byte                 // of the recipe
	Packages *libraries.Environment // what it has, by the digest that is in keys
}

// environmentForm is how one is written.
const environmentForm = `environment "NAME" { uv = "uv.lock" }`

func (l *loader) declareEnvironment(b *hclsyntax.Block) {
	if !l.labels(b, "NAME") {
		return
	}
	n := &node{name: "environment." + b.Labels[0], rng: header(b), environment: b}
	if !l.add(n) {
		return
	}
	l.nodes = append(l.nodes, n)
	l.noBlocks(b, "An environment has attributes only: "+environmentForm+".")
	l.attributes(b, "An environment", named(slices.Concat(environment.Kinds, []string{"python", "platform"})...)...)
	var given []*hclsyntax.Attribute
	for _, a := range sortedAttributes(b.Body) {
		if slices.Contains(environment.Kinds, a.Name) {
			given = append(given, a)
		}
	}
	list := strings.Join(environment.Kinds, ", ")
	switch {
	case len(given) == 0:
		l.diags.error(n.rng, "Missing attribute", fmt.Sprintf("An environment has one of %s: %s.", list, environmentForm))
	case len(given) > 1:
		l.diags.error(given[1].NameRange, "Two locks", fmt.Sprintf("An environment has one of %s.", list), Place{given[0].NameRange, "the first one"})
	}
	if len(given) != 1 {
		n.environment = nil
	}
}

// evaluateEnvironment reads the lock of an environment. What steps see of it is small: its
// name and two digests.
func (l *loader) evaluateEnvironment(n *node, ctx *hcl.EvalContext) {
	if n.environment == nil {
		return // reported
	}
	r := environment.Recipe{Format: environment.Format, Platform: environment.Here()}
	var lock hcl.Range
	for _, a := range sortedAttributes(n.environment.Body) {
		v := l.open(l.value(a.Expr, ctx, nil), a.Expr.Range(), nil)
		if l.now.any() && !v.IsKnown() {
			l.diags.error(a.Expr.Range(), "Environment that is not known", "An environment cannot wait for what a step makes.")
		}
		if !v.IsWhollyKnown() {
			return // reported
		}
		if v.IsNull() || v.Type() != cty.String {
			l.diags.error(a.Expr.Range(), "Wrong type", a.Name+" is a string.")
			return
		}
		switch text := v.AsString(); a.Name {
		case "python":
			r.Python = text
		case "platform":
			r.Platform = text
		default:
			lock, r.Kind, r.Lock = a.Expr.Range(), a.Name, text
		}
	}
	e := Environment{Name: l.qualified(n.name)}
	err := l.readLock(n.dir, &r)
	if err == nil {
		e.Text, err = r.Text()
	}
	if err == nil {
		e.Packages, err = l.Environments.Manifest(r, e.Text, fmt.Sprintf("%s (%s, %s)", e.Name, r.Lock, r.Platform))
	}
	if err != nil {
		l.diags.error(lock, "Environment that cannot be had", fmt.Sprintf("%s: %s.", n.name, strings.TrimRight(err.Error(), ".")))
		return
	}
	l.environments = append(l.environments, e)
	n.value = cty.ObjectVal(map[string]cty.Value{
		"name": cty.StringVal(n.environment.Labels[0]), "kind": cty.StringVal(r.Kind),
		"packages": cty.StringVal(e.Packages.Digest.Hex()), "recipe": cty.StringVal(artifacts.Sum(e.Text).Hex()),
	})
}

// readLock reads the files that a recipe names, as file() does, and names the lock without
// its folder.
func (l *loader) readLock(dir string, r *environment.Recipe) (err error) {
	name := r.Lock
	if r.Kind == environment.Image {
		if environment.IsReference(name) || !strings.HasSuffix(name, ".sif") {
			return nil
		}
		sum, err := l.digestBeside(dir, name)
		r.Lock, r.Path, r.Files = path.Base(name), beside(dir, name), map[string]string{path.Base(name): sum}
		return err
	}
	r.Lock, r.Files = path.Base(name), map[string]string{}
	for _, file := range append([]string{r.Lock}, environment.Beside[r.Kind]...) {
		b, err := l.readBeside(dir, path.Join(path.Dir(name), file))
		if err != nil {
			return err
		}
		r.Files[file] = string(b)
	}
	return nil
}

// isEnvironment says of a node that it is an environment, be it a wrong one.
func isEnvironment(n *node) bool { return strings.HasPrefix(n.name, "environment.") }

func (l *loader) linkEnvironment(n *node) {
	if n.environment == nil {
		return
	}
	for _, a := range sortedAttributes(n.environment.Body) {
		l.link(n, a.Expr, false)
	}
}

// allEnvironments are the loader's own and those of its modules.
func (l *loader) allEnvironments() []Environment {
	all := slices.Clone(l.environments)
	for _, m := range l.modules {
		all = append(all, m.allEnvironments()...)
	}
	return all
}
