package dvc

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/host/script"
	"github.com/redsi/redsi/internal/host/tracked"
	"github.com/redsi/redsi/internal/system/lists"
)

// step writes a stage as a step: its script puts inputs in their places, runs the commands, and moves what they leave to out.
func (c *conversion) step(b *strings.Builder, s *stage) {
	c.wants(s)
	deps := entries(s.body["deps"])
	for _, d := range deps {
		if !slices.ContainsFunc(deps, func(o entry) bool { return strings.HasPrefix(d.name, o.name+"/") }) { // else it comes with the folder
			c.dep(s, d.name)
		}
	}
	links := slices.Sorted(maps.Keys(s.inputs))
	inputs := []string{}
	for _, at := range slices.Sorted(maps.Keys(s.below)) {
		links, inputs = append(links, at), append(inputs, s.below[at])
	}
	wdir, _ := c.at(s, ".")
	folders := "mkdir -p"
	for _, at := range slices.Concat(links, s.outs, []string{wdir + "/."}) {
		dir := path.Dir(at)
		linked := slices.ContainsFunc(links, func(l string) bool { return strings.HasPrefix(dir+"/", l+"/") })
		if quoted := ` "` + dir + `"`; dir != "." && !linked && !strings.Contains(folders, quoted) {
			folders += quoted
		}
	}
	var lines, moves, outputs []string
	if strings.HasSuffix(folders, `"`) {
		lines = append(lines, folders)
	}
	lines = append(lines, lists.Map(links, func(at string) string { return fmt.Sprintf(`ln -s "$PWD/in/%s" "%[1]s"`, at) })...)
	for _, at := range s.outs {
		expanded, _ := c.expand(s, at) // addStage has tried it
		dir := path.Join("out", path.Dir(at))
		move := fmt.Sprintf(`mv "%s" "%s"`, at, dir)
		switch {
		case c.isFolder(expanded[0]):
			move = fmt.Sprintf(`rmdir "out/%s"; %s`, at, move)
			at += "/"
		case dir != "out":
			move = fmt.Sprintf(`mkdir -p "%s"; %s`, dir, move)
		}
		moves, outputs = append(moves, move), append(outputs, `"`+at+`"`)
	}
	commands, programs := c.commands(s, wdir)
	lines = slices.Concat(lines, commands, moves)
	if desc, ok := s.body["desc"].(string); ok {
		fmt.Fprintf(b, "# %s\n", strings.ReplaceAll(strings.TrimSpace(desc), "\n", "\n# "))
	}
	fmt.Fprintf(b, "%sstep \"command\" %q {\n", s.notes, s.label)
	set := func(name, value string) {
		if value != "" && value != "[]" {
			fmt.Fprintf(b, "%s = %s\n", name, value)
		}
	}
	set("for_each", s.each)
	set("script", "<<-EOT\n    "+strings.ReplaceAll(strings.Join(lines, "\n"), "\n", "\n    ")+"\n  EOT")
	set("programs", "["+strings.Join(programs, ", ")+"]")
	set("files", block(`"%s"`, s.files))
	set("inputs", merged(append(inputs, block(`"%s"`, s.inputs))))
	set("outputs", "["+strings.Join(outputs, ", ")+"]")
	b.WriteString("}\n\n")
}

// merged is objects as one, less empty ones.
func merged(objects []string) string {
	objects = slices.DeleteFunc(slices.Clone(objects), func(o string) bool { return o == "" })
	if len(objects) > 1 {
		return "merge(\n" + strings.Join(objects, ",\n") + "\n)"
	}
	return strings.Join(objects, "")
}

// block is expressions in braces, with names of a form; "" without any.
func block(form string, exprs map[string]string) (text string) {
	for _, name := range slices.Sorted(maps.Keys(exprs)) {
		text += fmt.Sprintf("\n"+form+" = %s", name, exprs[name])
	}
	if text == "" {
		return ""
	}
	return "{" + text + "\n}"
}

// isFolder says whether a path is of a folder, by what is there, by what DVC has recorded, and by its name.
func (c *conversion) isFolder(at string) bool {
	if info, err := c.stat(at); err == nil {
		return info.IsDir()
	}
	if d := c.tracked(at); d != nil {
		return d.IsFolder()
	}
	return path.Ext(at) == ""
}

// tracked is what DVC has recorded of a path; nil: nothing that can be read.
func (c *conversion) tracked(at string) *tracked.Data {
	d, _ := c.records.Of(filepath.Join(c.dir, filepath.FromSlash(at))) // redsi says what is wrong with a record when it reads the source
	return d
}

// leaves are commands that change more than files, and get a shell of their own.
var leaves = regexp.MustCompile(`\b(cd|pushd|exit|exec|set|export|unset|trap)\b`)

func (c *conversion) commands(s *stage, wdir string) (commands, programs []string) {
	for _, cmd := range entries(s.body["cmd"]) {
		line := strings.TrimSpace(cmd.name)
		text := c.text(s, line, escapes.Replace)
		if wdir != "." {
			text = `cd "` + wdir + "\"\n" + text
		}
		if wdir != "." || leaves.MatchString(line) {
			text = "(\n  " + strings.ReplaceAll(text, "\n", "\n  ") + "\n)"
		}
		commands = append(commands, text)
		shell, err := script.Parse([]string{"bash"}, template.ReplaceAllString(line, "x"))
		if err != nil {
			c.note(s, "bash cannot read its cmd: %v", err)
			continue
		}
		programs = append(programs, lists.Map(shell.Calls(), quote)...)
	}
	return commands, slices.Compact(slices.Sorted(slices.Values(programs)))
}

// dep brings what a stage depends on: what another one leaves, or what is in the tree.
func (c *conversion) dep(s *stage, name string) {
	at, ok := c.at(s, name)
	if top, _, _ := strings.Cut(at, "/"); !ok || slices.Contains([]string{"in", "out", "tmp"}, top) {
		c.note(s, "dependency %s: it is outside the folder of dvc.yaml, or in in/, out/ or tmp/, which each step has for itself", name)
		return
	}
	expanded, _ := c.expand(s, at) // addStage has tried it
	var from []output
	var same, all []string // same: each instance reads that with its key
	for i, path := range expanded {
		if m, ok := c.maker(path); ok && m.stage != s {
			from, all = append(from, m), append(all, "local.outputs_"+m.label)
			same = append(same, strings.Replace(m.ref, "["+quote(s.keys[i])+"]", "[each.key]", 1))
		}
	}
	if len(from) < len(s.keys) {
		c.others(s, name, at, expanded, len(from))
		return
	}
	out := at // what has it
	for range strings.Count(expanded[0], "/") - strings.Count(from[0].path, "/") {
		out = path.Dir(out)
	}
	ref := merged(slices.Compact(slices.Sorted(slices.Values(all)))) + `["` + out + `"]`
	if same = slices.Compact(same); len(same) == 1 {
		ref = same[0]
	}
	s.inputs[at] = ref + `["` + at + `"]`
}

var codeName = regexp.MustCompile(`\.(py|pyx|ipynb|R|r|Rmd|sh|bash|jl|pl|awk|sed|sql|js|ts|lua|rb|m|do|c|h|cpp|rs|go)$`)

// others brings the outputs below a folder, or else a file of the tree: code as text, all else as it lies. n instances have it.
func (c *conversion) others(s *stage, written, at string, expanded []string, n int) {
	readers, from := map[string]int{}, map[string]bool{}
	for _, path := range expanded {
		readers[path]++
	}
	for _, m := range c.outputs {
		for p := m.path; p != path.Dir(p); p = path.Dir(p) {
			if count, ok := readers[p]; ok && m.stage != s {
				n, readers[p], from["local.outputs_"+m.label] = n+count, 0, true
			}
		}
	}
	if len(from) > 0 {
		s.below[at] = fmt.Sprintf(`{ for at, out in %s : at => out[at] if startswith(at, "%s/") }`, merged(slices.Sorted(maps.Keys(from))), at)
	}
	isFolder := c.isFolder(expanded[0])
	gone := slices.IndexFunc(expanded, func(path string) bool { _, err := c.stat(path); return err != nil })
	switch {
	case n > 0 && n < len(expanded):
		c.note(s, "dependency %s: only some have it from another stage", written)
		return
	case n > 0 && gone != 0:
		c.note(s, "dependency %s: of this folder, what stages leave, and no other files", written)
		return
	case n > 0:
		return
	case gone >= 0 && c.tracked(expanded[gone]) != nil: // the source brings it
	case gone >= 0:
		c.note(s, "dependency %s is not here: bring it before the run, as with dvc pull", expanded[gone])
	case s.files[at] != "", codeName.MatchString(expanded[0]) && !isFolder:
		s.files[at] = `file("` + at + `")`
		return
	}
	name, instance, each := label(at), "", ""
	if strings.Contains(at, "${each.") {
		name, instance, each = s.label+"_"+name, "[each.key]", "for_each = "+s.each+"\n"
	}
	file, ignore := `["`+path.Base(at)+`"]`, ""
	_ = filepath.WalkDir(filepath.Join(c.dir, expanded[0]), func(record string, _ fs.DirEntry, _ error) error { // what is there is taken, and nothing else
		if data, ok := strings.CutSuffix(record, ".dvc"); ok && isFolder {
			if _, err := os.Stat(data); err != nil {
				c.note(s, "dependency %s: %s of it is not here: bring it before the run, as with dvc pull", written, filepath.Base(data))
			}
		}
		return nil
	})
	if isFolder { // dvc add has git ignore the data in it
		file, ignore = "", "ignore = false\n"
	} else if strings.Contains(at, "${") {
		file = `[basename("` + at + `")]`
	}
	if b := fmt.Sprintf("source %q {\n%spath = \"%s\"\n%s}\n\n", name, each, at, ignore); !strings.Contains(c.sources, b) {
		c.sources += b
	}
	s.inputs[at] = "source." + name + instance + ".files" + file
}

// wants adds files of parameters, cut down to the parameters that a stage names.
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
		expanded, _ := c.expand(s, at) // addStage has tried it
		if !ok || slices.ContainsFunc(expanded, func(path string) bool { _, err := c.stat(path); return err != nil }) {
			c.note(s, "params of %s: there is no such file in the folder of dvc.yaml", f)
			continue
		}
		s.files[at] = `file("` + at + `")`
		if len(wanted[f]) == 0 {
			continue
		}
		if !slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(f)) {
			c.note(s, "params of %s: any change of the file counts", f)
			continue
		}
		var names []string
		for _, k := range wanted[f] {
			name := c.literal(s, k.name)
			if _, err := c.value("pick("+s.files[at]+", ["+name+"])", s); err != nil {
				c.note(s, "parameter %s is not in its file", k.name)
			} else {
				names = append(names, name)
			}
		}
		if s.files[at] = "pick(" + s.files[at] + ", [" + strings.Join(names, ", ") + "])"; names == nil {
			delete(s.files, at)
		}
	}
}
