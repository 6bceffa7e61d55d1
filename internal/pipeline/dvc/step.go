package dvc

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/host/script"
	"github.com/redsi/redsi/internal/host/tracked"
	"github.com/redsi/redsi/internal/system/lists"
)

// step writes a stage as a step whose script puts inputs in their places, runs the commands, and moves what they leave to
// out.
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
	slices.Sort(programs)
	return commands, slices.Compact(programs)
}
