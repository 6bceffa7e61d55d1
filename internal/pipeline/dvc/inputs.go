package dvc

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// dep brings what a stage depends on: what another one leaves, or what is in the tree.
func (c *conversion) dep(s *stage, name string) {
	at, ok := c.at(s, name)
	if top, _, _ := strings.Cut(at, "/"); !ok || slices.Contains([]string{"in", "out", "tmp"}, top) {
		c.note(s, "dependency %s: it is outside the folder of dvc.yaml, or in in/, out/ or tmp/, which each step has for itself", name)
		return
	}
	var refs, same, byKey []string // same: each instance reads that with its key
	for _, in := range s.list {
		if m, ok := c.maker(c.known(at, in)); ok {
			refs = append(refs, m.ref)
			same = append(same, strings.Replace(m.ref, "["+quote(in.key)+"]", "[each.key]", 1))
			byKey = append(byKey, quote(in.key)+" = "+m.ref)
		}
	}
	ref := "{ " + strings.Join(byKey, ", ") + " }[each.key]"
	switch {
	case len(refs) == 0:
		c.others(s, at, c.known(at, s.list[0]))
		return
	case len(refs) < len(s.list):
		c.note(s, "dependency %s: only some have it from another stage", name)
		return
	case len(slices.Compact(refs)) == 1:
		ref = refs[0]
	case len(slices.Compact(same)) == 1:
		ref = same[0]
	}
	s.inputs[at] = ref + `["` + at + `"]`
}

var codeName = regexp.MustCompile(`\.(py|pyx|ipynb|R|r|Rmd|sh|bash|jl|pl|awk|sed|sql|js|ts|lua|rb|m|do|c|h|cpp|rs|go)$`)

// others brings the outputs below a folder, or else a file or folder of the tree: a file of
// code as text, all else as it lies.
func (c *conversion) others(s *stage, at, known string) {
	below := false
	for _, m := range c.made {
		if strings.HasPrefix(m.path, known+"/") && m.stage != s {
			below = true
			s.inputs[escaped(m.path)] = m.ref + "[" + quote(m.path) + "]"
		}
	}
	info, err := c.stat(known)
	switch {
	case below && err == nil:
		c.note(s, "dependency %s: of this folder, what stages leave, and no other files", known)
		return
	case below:
		return
	case err != nil:
		c.note(s, "dependency %s is not here: bring it before the run, as with dvc pull", known)
	case s.files[at] != "", codeName.MatchString(known) && !info.IsDir():
		s.files[at] = `file("` + at + `")`
		return
	}
	name, instance, each := label(at), "", ""
	if strings.Contains(at, "${each.") {
		name, instance, each = s.label+"_"+name, "[each.key]", "for_each = "+s.each+"\n"
	}
	if b := fmt.Sprintf("source %q {\n%spath = \"%s\"\n}\n\n", name, each, at); !strings.Contains(c.sources, b) {
		c.sources += b
	}
	file := `["` + path.Base(at) + `"]`
	if c.isFolder(known) {
		file = ""
	} else if at != escaped(known) {
		file = `[basename("` + at + `")]`
	}
	s.inputs[at] = "source." + name + instance + ".files" + file
}

// wants adds files of parameters that have only those that a stage names.
func (c *conversion) wants(s *stage) {
	wanted := map[string][]entry{}
	for _, p := range entries(s.body["params"]) {
		if p.bare {
			p = entry{name: "params.yaml", options: p.name}
		}
		wanted[p.name] = append(wanted[p.name], entries(p.options)...)
	}
	for _, f := range slices.Sorted(maps.Keys(wanted)) {
		at, ok := c.at(s, f)
		if _, err := c.stat(at); !ok || err != nil {
			c.note(s, "params of %s: there is no such file in the folder of dvc.yaml", f)
			continue
		}
		encode := map[string]string{".yaml": "yamlencode", ".yml": "yamlencode", ".json": "jsonencode"}[path.Ext(f)]
		if encode == "" && len(wanted[f]) > 0 {
			c.note(s, "params of %s: any change of the file counts", f)
		}
		if encode == "" || len(wanted[f]) == 0 {
			s.files[at] = `file("` + at + `")`
			continue
		}
		of, err := c.params(at)
		c.failed = cmp.Or(c.failed, err)
		tree := map[string]any{}
		for _, k := range wanted[f] {
			c.pick(tree, s, of, k.name)
		}
		if len(tree) > 0 {
			s.files[at] = encode + "(" + c.literal(s, tree) + ")"
		}
	}
}

var namePart = regexp.MustCompile(`(?:\$\{[^}]*\}|[^.])+`)

// pick adds the expression of a parameter to those of its file. A list is taken whole.
func (c *conversion) pick(tree map[string]any, s *stage, of, name string) {
	parts := namePart.FindAllString(name, -1)
	for i, p := range parts {
		if hclsyntax.ValidIdentifier(p) {
			of += "." + p
		} else {
			of += "[" + c.literal(s, p) + "]"
		}
		v, err := c.value(of, s.list[0].each)
		if err != nil {
			c.note(s, "parameter %s is not in its file", name)
			return
		}
		if i == len(parts)-1 || !v.Type().IsObjectType() {
			tree[p] = raw(of)
			return
		}
		if tree[p] == nil {
			tree[p] = map[string]any{}
		}
		inner, ok := tree[p].(map[string]any)
		if !ok { // all of it is there
			return
		}
		tree = inner
	}
}
