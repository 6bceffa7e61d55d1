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
	known, _ := c.known(s, at) // addStage has tried it
	var refs, byKey []string
	var from []made
	for i, path := range known {
		if m, ok := c.maker(path); ok {
			from, refs, byKey = append(from, m), append(refs, m.ref), append(byKey, quote(s.list[i].key)+" = "+m.ref)
		}
	}
	switch {
	case len(refs) == 0:
		c.others(s, name, at, known)
		return
	case len(refs) < len(s.list):
		c.note(s, "dependency %s: only some have it from another stage", name)
		return
	}
	ref := cmp.Or(c.byEach(s, from), "{ "+strings.Join(byKey, ", ")+" }[each.key]")
	if len(slices.Compact(refs)) == 1 {
		ref = refs[0]
	}
	s.inputs[at] = ref + `["` + at + `"]`
	s.links = append(s.links, at)
}

// byEach refers to what each instance of a stage reads by its key or values, if these say it.
func (c *conversion) byEach(s *stage, from []made) string {
	of := from[0].stage
	var keys []string
	for _, m := range from {
		if keys = append(keys, m.key); m.stage != of {
			return ""
		}
	}
	forms := []string{"each.key", "each.value"}
	for _, axis := range s.axes {
		forms = append(forms, "each.value."+axis)
	}
	forms = append(forms, `"${each.value.`+strings.Join(of.axes, "}/${each.value.")+`}"`)
	for _, form := range forms {
		if known, _ := c.known(s, "${"+form+"}"); slices.Equal(known, keys) { // some have no value
			return "step.command." + of.label + "[" + form + "].out"
		}
	}
	return ""
}

var codeName = regexp.MustCompile(`\.(py|pyx|ipynb|R|r|Rmd|sh|bash|jl|pl|awk|sed|sql|js|ts|lua|rb|m|do|c|h|cpp|rs|go)$`)

// loop makes of each in a template what a loop has.
func loop(text string) string {
	return template.ReplaceAllStringFunc(text, strings.NewReplacer("each.key", "k", "each.value", "v").Replace)
}

// below brings the outputs that lie in a folder, and counts the instances that have some.
func (c *conversion) below(s *stage, at string, known []string) (n int) {
	readers, reads, outs := map[string]int{}, map[string]int{}, map[string]made{}
	for _, path := range known {
		readers[path]++
	}
	reached := map[string]bool{}
	for _, m := range c.made {
		for p := range above(m.path) {
			if readers[p] > 0 && m.stage != s {
				reads[m.label+" "+m.at] += readers[p]
				outs[m.label+" "+m.at], reached[p] = m, true
			}
		}
	}
	for _, o := range slices.Sorted(maps.Keys(outs)) {
		m, text, when := outs[o], loop(outs[o].at), ""
		if reads[o] < len(m.list)*len(known) {
			when = fmt.Sprintf(` if startswith("%s", "%s/")`, text, at)
		}
		switch {
		case m.each != "":
			s.more = append(s.more, fmt.Sprintf(`{ for k, v in %s : "%s" => step.command.%s[k].out["%[2]s"]%[4]s }`, m.each, text, m.label, when))
		case when != "":
			s.more = append(s.more, fmt.Sprintf(`{ for at in ["%s"] : at => %s[at]%s }`, text, m.ref, when))
		default:
			s.inputs[text] = m.ref + `["` + text + `"]`
		}
	}
	for path := range reached {
		n += readers[path]
	}
	if n > 0 {
		s.links = append(s.links, at)
	}
	return n
}

// others brings the outputs below a folder, or else a file or folder of the tree: a file of
// code as text, all else as it lies.
func (c *conversion) others(s *stage, written, at string, known []string) {
	below, isFolder := c.below(s, at, known), c.isFolder(known[0])
	gone := slices.IndexFunc(known, func(path string) bool { _, err := c.stat(path); return err != nil })
	switch {
	case below > 0 && below < len(known):
		c.note(s, "dependency %s: only some have it from another stage", written)
		return
	case below > 0 && gone != 0:
		c.note(s, "dependency %s: of this folder, what stages leave, and no other files", written)
		return
	case below > 0:
		return
	case gone >= 0:
		c.note(s, "dependency %s is not here: bring it before the run, as with dvc pull", known[gone])
	case s.files[at] != "", codeName.MatchString(known[0]) && !isFolder:
		s.files[at] = `file("` + at + `")`
		return
	}
	name, instance, each := label(at), "", ""
	if strings.Contains(at, "${each.") {
		name, instance, each = s.label+"_"+name, "[each.key]", "for_each = "+s.each+"\n"
	}
	file, ignore := `["`+path.Base(at)+`"]`, ""
	if isFolder { // dvc add has git ignore the data in it
		file, ignore = "", "ignore = false\n"
	} else if strings.Contains(at, "${") {
		file = `[basename("` + at + `")]`
	}
	if b := fmt.Sprintf("source %q {\n%spath = \"%s\"\n%s}\n\n", name, each, at, ignore); !strings.Contains(c.sources, b) {
		c.sources += b
	}
	s.inputs[at] = "source." + name + instance + ".files" + file
	s.links = append(s.links, at)
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
		if err != nil {
			c.note(s, "params of %s: %v", f, err)
			continue
		}
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
		v, err := c.value(of, s)
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
