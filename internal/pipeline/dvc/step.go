package dvc

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/host/script"
)

// work is a stage as a step: a script that puts inputs where the stage has them, runs its
// commands, and moves what they leave to out.
type work struct {
	folders, links, commands, moves  []string
	programs, files, inputs, outputs []string
}

func add(list *[]string, s string) {
	if !slices.Contains(*list, s) {
		*list = append(*list, s)
	}
}

// inner is a text in quotes without them; base and folder are those of a path in quotes.
func inner(quoted string) string  { return quoted[1 : len(quoted)-1] }
func base(quoted string) string   { return path.Base(inner(quoted)) }
func folder(quoted string) string { return path.Dir(inner(quoted)) }

func (c *conversion) step(s *stage) string {
	w := &work{}
	deps := entries(s.body["deps"])
	for _, d := range deps {
		if !slices.ContainsFunc(deps, func(o any) bool { return strings.HasPrefix(fmt.Sprint(d), fmt.Sprint(o)+"/") }) { // else it comes with the folder
			c.dep(w, s, fmt.Sprint(d))
		}
	}
	c.wants(w, s)
	for i, o := range s.outs {
		w.in(o)
		made, dir := s.list[0].made[i], path.Join("out", folder(o))
		switch {
		case c.isFolder(made):
			o = `"` + inner(o) + `/"`
			w.moves = append(w.moves, fmt.Sprintf(`rmdir "out/%s"; mv "%[1]s" "%s"`, strings.TrimSuffix(inner(o), "/"), dir))
		case dir == "out":
			w.moves = append(w.moves, "mv "+o+" out")
		default:
			w.moves = append(w.moves, fmt.Sprintf(`mkdir -p "%s"; mv %s "%[1]s"`, dir, o))
		}
		w.outputs = append(w.outputs, o)
	}
	c.commands(w, s)
	var b strings.Builder
	if desc, ok := s.body["desc"].(string); ok {
		fmt.Fprintf(&b, "# %s\n", strings.ReplaceAll(strings.TrimSpace(desc), "\n", "\n# "))
	}
	for _, n := range s.notes {
		fmt.Fprintf(&b, "# Not taken over: %s\n", n)
	}
	fmt.Fprintf(&b, "step \"command\" %q {\n", s.label)
	set := func(name, value string) {
		if value != "" && value != "[]" {
			fmt.Fprintf(&b, "%s = %s\n", name, value)
		}
	}
	set("for_each", s.each)
	if len(w.folders) > 0 {
		w.links = append([]string{"mkdir -p " + strings.Join(w.folders, " ")}, w.links...)
	}
	lines := strings.Join(slices.Concat(w.links, w.commands, w.moves), "\n")
	fmt.Fprintf(&b, "script = <<-EOT\n    %s\n  EOT\n", strings.ReplaceAll(lines, "\n", "\n    "))
	set("programs", "["+strings.Join(w.programs, ", ")+"]")
	set("files", braces(w.files))
	set("inputs", braces(w.inputs))
	set("outputs", "["+strings.Join(w.outputs, ", ")+"]")
	return b.String() + "}\n\n"
}

func braces(entries []string) string {
	if len(entries) == 0 {
		return ""
	}
	return "{\n" + strings.Join(entries, "\n") + "\n}"
}

// in makes the folder of a path.
func (w *work) in(at string) {
	if dir := folder(at); dir != "." {
		add(&w.folders, `"`+dir+`"`)
	}
}

// input brings an artifact to a path.
func (w *work) input(ref, at string) {
	w.in(at)
	add(&w.inputs, at+" = "+ref)
	add(&w.links, fmt.Sprintf(`ln -s "$PWD/in/%s" %s`, inner(at), at))
}

// isFolder says whether an output is a folder, by what is there, by dvc.lock, by what
// others read of it, and by its name.
func (c *conversion) isFolder(at string) bool {
	if info, err := os.Stat(filepath.Join(c.dir, filepath.FromSlash(at))); err == nil {
		return info.IsDir()
	}
	if m := regexp.MustCompile(`path: ` + regexp.QuoteMeta(at) + `\s+(?:hash: \w+\s+)?md5: \w+(\.dir)?`).FindStringSubmatch(c.lock); m != nil {
		return m[1] != ""
	}
	for _, s := range c.stages {
		for _, d := range entries(s.body["deps"]) {
			if d, _ := c.at(s, fmt.Sprint(d)); strings.HasPrefix(inner(d), at+"/") {
				return true
			}
		}
	}
	return path.Ext(at) == ""
}

// leaves are commands that change more than files, and get a shell of their own.
var leaves = regexp.MustCompile(`\b(cd|pushd|exit|exec|set|export|unset|trap)\b`)

func (c *conversion) commands(w *work, s *stage) {
	for _, cmd := range entries(s.body["cmd"]) {
		line := strings.TrimSpace(fmt.Sprint(cmd))
		text := c.text(s, line, escapes.Replace)
		if s.wdir != "." {
			wdir, _ := c.at(s, ".")
			add(&w.folders, wdir)
			text = "cd " + wdir + "\n" + text
		}
		if s.wdir != "." || leaves.MatchString(line) {
			text = "(\n  " + strings.ReplaceAll(text, "\n", "\n  ") + "\n)"
		}
		w.commands = append(w.commands, text)
		shell, err := script.Parse([]string{"bash"}, template.ReplaceAllString(line, "x"))
		if err != nil {
			c.note(s, "bash cannot read its cmd: %v", err)
			continue
		}
		for _, name := range shell.Calls() {
			add(&w.programs, quote(name))
		}
	}
}

// dep brings what a stage depends on: what another one leaves, or what is in the tree.
func (c *conversion) dep(w *work, s *stage, name string) {
	at, ok := c.at(s, name)
	if top, _, _ := strings.Cut(inner(at), "/"); !ok || slices.Contains([]string{"in", "out", "tmp"}, top) {
		c.note(s, "dependency %s: it is outside the folder of dvc.yaml, or in in/, out/ or tmp/, which each step has for itself", name)
		return
	}
	var from *stage
	var refs, by []string
	same := true // each instance reads the one with its key
	for _, in := range s.list {
		if m, key := c.maker(c.known(at, in.each)); m != nil {
			same = same && m.each != "" && key == in.key && (from == nil || from == m)
			from = m
			add(&refs, m.ref(key))
			by = append(by, quote(in.key)+" = "+m.ref(key))
		}
	}
	known := c.known(at, s.list[0].each)
	switch {
	case from == nil && !c.around(w, s, known):
		c.beside(w, s, at, known)
	case from == nil:
	case len(by) < len(s.list):
		c.note(s, "dependency %s: only some have it from another stage", name)
	case len(refs) == 1:
		w.input(refs[0]+"["+at+"]", at)
	case same:
		w.input("step.command."+from.label+"[each.key].out["+at+"]", at)
	default:
		w.input("{ "+strings.Join(by, ", ")+" }[each.key]["+at+"]", at)
	}
}

// around brings the outputs below a folder; false if there are none.
func (c *conversion) around(w *work, s *stage, at string) (found bool) {
	for _, m := range c.stages {
		for _, in := range m.list {
			for _, o := range in.made {
				if strings.HasPrefix(o, at+"/") && m != s {
					found = true
					w.input(m.ref(in.key)+"["+quote(o)+"]", quote(o))
				}
			}
		}
	}
	if found && c.exists(at) {
		c.note(s, "dependency %s: of this folder, what stages leave, and no other files", at)
	}
	return found
}

var (
	codeName = regexp.MustCompile(`\.(py|pyx|ipynb|R|r|Rmd|sh|bash|jl|pl|awk|sed|sql|js|ts|lua|rb|m|do|c|h|cpp|rs|go)$`)
	textName = regexp.MustCompile(`\.(ya?ml|json|toml|cfg|ini|tex|tmpl)$`)
)

// mostText is how large a file of settings is that becomes text of the pipeline.
const mostText = 64 << 10

// beside brings a file or folder of the tree: a file of code or settings as text, all else as it lies.
func (c *conversion) beside(w *work, s *stage, at, known string) {
	full := filepath.Join(c.dir, filepath.FromSlash(known))
	info, err := os.Stat(full)
	switch {
	case err != nil && codeName.MatchString(known):
		c.note(s, "dependency %s: there is no such file", known)
		return
	case err != nil:
		c.note(s, "dependency %s is not here: bring it before the run, as with dvc pull", known)
	case info.IsDir():
	case codeName.MatchString(known), textName.MatchString(known) && info.Size() <= mostText:
		add(&w.files, at+" = file("+at+")")
		return
	}
	ref := c.source(s, at)
	if err != nil || !info.IsDir() {
		file := fmt.Sprintf("%q", base(at))
		if value := template.FindString(file); value == inner(file) {
			file = value[2 : len(value)-1]
		}
		ref += "[" + file + "]"
	}
	w.input(ref, at)
}

// source is what the block gives that brings data of the tree.
func (c *conversion) source(s *stage, at string) (ref string) {
	name := label(strings.NewReplacer("${each.value", "item", "${each.key", "key", "${local.", "", ".", "_").Replace(inner(at)))
	ref = "source." + name + ".files"
	what := "path = " + at + "\n"
	if strings.Contains(at, "${each.") {
		what = "for_each = " + s.each + "\n" + what
		ref = "source." + name + "[each.key].files"
	}
	block := fmt.Sprintf("source %q {\n%s}\n\n", name, what)
	if !strings.Contains(c.sources.String(), block) {
		c.sources.WriteString(block)
	}
	return ref
}

// wants adds files of parameters that have only those that a stage names.
func (c *conversion) wants(w *work, s *stage) {
	wanted := map[string][]any{}
	for _, p := range entries(s.body["params"]) {
		files, ok := p.(map[string]any)
		if !ok {
			files = map[string]any{"params.yaml": p}
		}
		for f, keys := range files {
			wanted[f] = append(wanted[f], entries(keys)...)
		}
	}
	for _, f := range slices.Sorted(maps.Keys(wanted)) {
		at, ok := c.at(s, f)
		if !ok || !c.exists(inner(at)) {
			c.note(s, "params of %s: there is no such file in the folder of dvc.yaml", f)
			continue
		}
		encode := map[string]string{".yaml": "yamlencode", ".yml": "yamlencode", ".json": "jsonencode"}[path.Ext(f)]
		if encode == "" && len(wanted[f]) > 0 {
			c.note(s, "params of %s: any change of the file counts", f)
		}
		if encode == "" || len(wanted[f]) == 0 {
			add(&w.files, at+" = file("+at+")")
			continue
		}
		of, err := c.params(inner(at))
		if err != nil {
			c.note(s, "params of %s: %v", f, err)
			continue
		}
		tree := map[string]any{}
		for _, k := range wanted[f] {
			c.pick(tree, s, of, fmt.Sprint(k))
		}
		if len(tree) > 0 {
			add(&w.files, at+" = "+encode+"("+c.literal(s, tree)+")")
		}
	}
}

var namePart = regexp.MustCompile(`(?:\$\{[^}]*\}|[^.])+`)

// pick adds the expression of a parameter to those of its file. A list is taken whole.
func (c *conversion) pick(tree map[string]any, s *stage, of, name string) {
	parts := namePart.FindAllString(name, -1)
	for i, p := range parts {
		if of += "." + p; !word.MatchString(p) {
			of = strings.TrimSuffix(of, "."+p) + "[" + c.literal(s, p) + "]"
		}
		v, err := c.value(of, s.list[0].each)
		if err != nil {
			c.note(s, "parameter %s is not in its file", name)
			return
		}
		inner, ok := tree[p].(map[string]any)
		switch {
		case i == len(parts)-1 || !v.Type().IsObjectType():
			tree[p] = raw(of)
			return
		case tree[p] != nil && !ok: // all of it is there
			return
		case !ok:
			inner = map[string]any{}
			tree[p] = inner
		}
		tree = inner
	}
}
