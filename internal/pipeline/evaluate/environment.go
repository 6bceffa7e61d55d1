package evaluate

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/schema"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// environment reads the lock of an environment. Steps see its name and two digests.
func (f *frame) environment(n *declare.Node, ctx *hcl.EvalContext) {
	c := f.reader(n.Form, &instance{ctx: ctx})
	x, ok := schema.Read[declare.EnvironmentForm](c)
	if !ok {
		if f.Awaits.Any() {
			f.Diags.Error(n.Range, "Environment that is not known", "An environment cannot depend on what a step leaves: the pipeline itself names its lock.")
		}
		return
	}
	r := environment.Recipe{Format: environment.Format, Platform: cmp.Or(x.Platform, environment.Here()), Python: x.Python, Extras: x.Extras, Groups: x.Groups}
	given := 0
	for i, lock := range []string{x.UV, x.Pylock, x.Requirements, x.Conda, x.Image, x.Nix} {
		if lock != "" {
			given, r.Kind, r.Lock = given+1, environment.Kinds[i], lock
		}
	}
	if given != 1 {
		f.Diags.Error(n.Range, "Not one lock", fmt.Sprintf("An environment has one of %s: environment \"NAME\" { uv = \"uv.lock\" }.", strings.Join(environment.Kinds, ", ")))
		return
	}
	e := Environment{Name: f.qualified(n.Name)}
	err := readLock(f.Files, n.Dir, &r)
	if err == nil {
		e.Text, err = r.Text()
	}
	if err == nil {
		e.Recipe = artifacts.Sum(e.Text)
		e.Packages, err = f.Environments.Manifest(r, e.Recipe, fmt.Sprintf("%s (%s, %s)", e.Name, r.Lock, r.Platform))
	}
	if err != nil {
		f.Diags.Error(c.Locate([]any{r.Kind}), "Environment not available", fmt.Sprintf("%s: %s.", n.Name, strings.TrimRight(err.Error(), ".")))
		return
	}
	f.own.Environments = append(f.own.Environments, e)
	f.of(n).value = cty.ObjectVal(map[string]cty.Value{
		"name": cty.StringVal(n.Form.Labels[0]), "kind": cty.StringVal(r.Kind),
		"packages": cty.StringVal(e.Packages.Digest.Hex()), "recipe": cty.StringVal(e.Recipe.Hex()),
	})
}

// readLock reads the files that a recipe names, as file() does, and leaves the lock's folder out of its name.
func readLock(l *language.Files, dir string, r *environment.Recipe) (err error) {
	name := r.Lock
	if r.Kind == environment.Image {
		if environment.IsReference(name) || !strings.HasSuffix(name, ".sif") {
			return nil
		}
		sum, err := l.DigestBeside(dir, name)
		r.Lock, r.Path, r.Files = path.Base(name), syntax.Beside(dir, name), map[string]string{path.Base(name): sum}
		return err
	}
	r.Lock, r.Files = path.Base(name), map[string]string{}
	beside, err := environment.Beside(r.Kind, r.Lock)
	if err != nil {
		return err
	}
	for _, file := range append([]string{r.Lock}, beside...) {
		b, err := l.ReadBeside(dir, path.Join(path.Dir(name), file))
		if err != nil {
			return err
		}
		r.Add(file, string(b))
	}
	return nil
}
