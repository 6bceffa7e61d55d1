package declare

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// maxModuleDepth bounds modules within each other.
const maxModuleDepth = 20

func (d *declarer) declareModule(b *hclsyntax.Block) {
	n := d.declareNamed(b)
	if n == nil {
		return
	}
	m := &Call{Block: b}
	n.Call = m
	d.m.Nodes = append(d.m.Nodes, n)
	noBlocks(d.Diags, b, "A module has attributes only: source, for_each, when, otherwise, and its variables.")
	for _, a := range syntax.Attributes(b.Body) {
		switch a.Name {
		case sourceAttr:
			if files := d.openModule(n, a); files != nil {
				m.Module = sync.OnceValue(func() *Module { return d.within(files) })
			}
		case forEachAttr:
			m.ForEach = a.Expr
		case whenAttr:
			m.When = a.Expr
		case otherwiseAttr:
			m.Otherwise = a.Expr
		default:
			m.Arguments = append(m.Arguments, a)
		}
	}
	if m.Otherwise != nil && m.When == nil {
		d.Diags.Error(b.Body.Attributes[otherwiseAttr].NameRange, "Not an attribute", "otherwise says why a module whose when is false is left out: it stands beside a when.")
	}
	if b.Body.Attributes[sourceAttr] == nil {
		d.Diags.Error(n.Range, "Missing attribute", `A module needs source = "…": a folder or .hcl file by a path that starts with ./ or ../, or git::URL?ref=REF.`)
	}
}

// openModule returns the files of a module; nil if they cannot be had.
func (d *declarer) openModule(n *Node, a *hclsyntax.Attribute) map[string][]byte {
	v, ok := d.constantOf(a, nil, cty.String, "The source of a module", "The source of a module is a string.")
	if !ok {
		return nil
	}
	rng := a.Expr.Range()
	if d.Module == nil {
		d.Diags.Error(rng, "No modules", "Modules cannot be used here.")
		return nil
	}
	id := [2]string{n.Dir, v.AsString()}
	files, ok := d.Opened[id]
	if !ok {
		var err error
		if files, err = d.Module(id[0], id[1]); err != nil {
			d.Diags.Error(rng, "Module not available", strings.TrimRight(err.Error(), ".")+".")
			return nil
		}
		d.Opened[id] = files
	}
	depth := 0
	for outer := d.m; outer != nil; outer, depth = outer.parent, depth+1 {
		for name := range files {
			if _, again := outer.Files[name]; again {
				d.Diags.Error(rng, "Modules in a circle", fmt.Sprintf("%s contains this module. A pipeline cannot have itself as a module.", name))
				return nil
			}
		}
	}
	if depth > maxModuleDepth {
		d.Diags.Error(rng, "Modules too deep", fmt.Sprintf("Modules are nested more than %d deep here.", maxModuleDepth))
		return nil
	}
	return files
}

// declareOutput declares what a pipeline shows of itself where it is a module.
func (d *declarer) declareOutput(b *hclsyntax.Block) {
	n := d.declareNamed(b)
	if n == nil {
		return
	}
	d.shapeForm(b)
	d.description(b)
	a := b.Body.Attributes["value"]
	if a == nil {
		d.Diags.Error(n.Range, "Missing attribute", "An output needs value = …, which pipelines that use this one as a module refer to.")
		return
	}
	n.Expr = a.Expr
	d.m.Nodes = append(d.m.Nodes, n)
}

// LocalModule reads a module whose source is a path: that file, or all *.hcl of that folder. It is an Options.Module.
func LocalModule(folder, source string) (map[string][]byte, error) {
	if !IsLocalModule(source) {
		return nil, fmt.Errorf("%q is not a source of a module: write a path that starts with ./ or ../, or git::URL?ref=REF", source)
	}
	return syntax.Read(syntax.Beside(folder, source))
}

// IsLocalModule reports whether a module's source is a path.
func IsLocalModule(source string) bool {
	return slices.Contains([]string{".", ".."}, source) || slices.ContainsFunc([]string{"./", "../", "/"}, func(p string) bool { return strings.HasPrefix(source, p) })
}
