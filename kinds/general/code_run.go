package general

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/isolation"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

func runCode(ctx context.Context, x *step.IO, c commandConfig) error {
	c, err := c.unpacked()
	if err != nil {
		return err
	}
	return runCommand(ctx, x, c)
}

func stageCode(ctx context.Context, x *step.IO, c commandConfig, dir string) (step.Program, error) {
	c, err := c.unpacked()
	if err != nil {
		return step.Program{}, err
	}
	return stageProgram(ctx, x, c, dir)
}

// searched is what PYTHONPATH is, for a working folder: the step's sources, then what env has.
func (c commandConfig) searched(dir string) string {
	if c.code == nil || len(c.code.sources) == 0 {
		return c.Env["PYTHONPATH"]
	}
	var list []string
	for _, folder := range c.code.sources {
		list = append(list, path.Join(dir, folder))
	}
	if given := c.Env["PYTHONPATH"]; given != "" {
		list = append(list, given)
	}
	return strings.Join(list, string(filepath.ListSeparator))
}

// beside reports whether a file stands beside the pipeline, on this machine, that the step
// does not have. Hidden folders are none of the study: state, environments, git.
func (c commandConfig) beside(name string) bool {
	if c.code.CodeFolder == "" || c.has(name) || command.CheckName(name) != nil || strings.HasPrefix(name, ".") || strings.Contains(name, "/.") {
		return false
	}
	if _, own := c.Inputs[name]; own {
		return false
	}
	info, err := os.Stat(filepath.Join(c.code.CodeFolder, filepath.FromSlash(name)))
	return err == nil && info.Mode().IsRegular()
}

var (
	noModule = regexp.MustCompile(`No module named '?([\w.]+)`)
	pathLike = regexp.MustCompile(`[\w./+~-]+`)
)

// mostStrays bounds the files that an error names.
const mostStrays = 5

// missed adds to the failure of a program which files it lacked that stand beside the
// pipeline: modules that were not found, and paths that its last words tell.
func (c commandConfig) missed(err error, dir string) error {
	var exit *command.ExitError
	if !errors.As(err, &exit) || c.code.CodeFolder == "" {
		return err
	}
	if m := noModule.FindStringSubmatch(exit.Tail); m != nil {
		if hint := c.moduleBeside(m[1]); hint != "" {
			return fmt.Errorf("%w\n%s", err, hint)
		}
	}
	var names []string
	for _, word := range pathLike.FindAllString(exit.Tail, -1) {
		word = strings.TrimRight(word, ".")
		if rel, ok := strings.CutPrefix(word, dir+"/"); ok {
			word = rel
		} else if rel, ok := strings.CutPrefix(word, isolation.Folder+"/"); ok {
			word = rel
		}
		if path.IsAbs(word) {
			continue
		}
		for _, name := range []string{path.Clean(word), path.Join(path.Dir(c.code.script), word)} {
			if _, gone := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); gone != nil && c.beside(name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return err
	}
	return fmt.Errorf("%w\n%s beside the pipeline, but the step does not have %s: write code = [%s] or, of data, give it in inputs by a source block",
		err, isAre(names), itThem(names), quotedAll(names))
}

// moduleBeside says how a step gets a module that stands beside the pipeline.
func (c commandConfig) moduleBeside(module string) string {
	at := strings.ReplaceAll(module, ".", "/")
	for _, folder := range append([]string{path.Dir(c.code.script)}, c.code.sources...) {
		if name := path.Join(folder, at+".py"); c.beside(name) {
			return fmt.Sprintf("%s stands beside the pipeline, but no import statement leads to it: write code = [%q]", name, name)
		}
		if name := path.Join(folder, at); c.isFolder(name) {
			return fmt.Sprintf("%s stands beside the pipeline, but no import statement leads to it: write code = [%q]", name, name+"/**")
		}
	}
	top, _, _ := strings.Cut(at, "/")
	for _, folder := range []string{".", "src", "lib"} {
		if name := path.Join(folder, top); c.beside(name+".py") || c.isFolder(name) {
			return fmt.Sprintf("%s stands beside the pipeline, in none of the folders that Python looks through: write sources = [%q]", name, folder)
		}
	}
	return ""
}

func (c commandConfig) isFolder(name string) bool {
	info, err := os.Stat(filepath.Join(c.code.CodeFolder, filepath.FromSlash(name)))
	return err == nil && info.IsDir()
}

func isAre(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return words.And(names, mostStrays) + " are"
}

func itThem(names []string) string {
	if len(names) == 1 {
		return "it"
	}
	return "them"
}

func quotedAll(names []string) string {
	var list []string
	for _, name := range names[:min(len(names), mostStrays)] {
		list = append(list, fmt.Sprintf("%q", name))
	}
	return strings.Join(list, ", ")
}

// opened are the files of the pipeline's folder, which the key does not have, that a program
// has read by a path outside of its own folder.
func (c commandConfig) opened(found isolation.Findings) (names []string) {
	if c.code == nil || c.code.CodeFolder == "" {
		return nil
	}
	folders := []string{c.code.CodeFolder}
	if real, err := filepath.EvalSymlinks(c.code.CodeFolder); err == nil && real != c.code.CodeFolder {
		folders = append(folders, real)
	}
	for _, f := range found.List {
		for _, folder := range folders {
			rel, ok := strings.CutPrefix(f.Where, folder+string(filepath.Separator))
			name := filepath.ToSlash(rel)
			if ok && (f.What == "read" || f.What == "run") && !f.Library() && c.beside(name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// left notes what a program wrote beside its outputs, which is not kept.
func (c commandConfig) left(x *step.IO, dir string, outputs []string) {
	var names []string
	more := 0
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error { // nothing depends on it
		rel, bad := filepath.Rel(dir, p)
		name := filepath.ToSlash(rel)
		if err != nil || bad != nil || name == "." {
			return nil
		}
		_, input := c.Inputs[name]
		_, list := c.Lists[name]
		hidden := strings.HasPrefix(d.Name(), ".") || d.Name() == "__pycache__"
		switch {
		case d.IsDir() && (input || list || hidden || name == "tmp"):
			return fs.SkipDir
		case d.IsDir() || input || hidden || c.has(name) || slices.Contains(outputs, name):
		case len(names) == mostStrays:
			more++
		default:
			names = append(names, name)
		}
		return nil
	})
	if len(names) > 0 {
		text := strings.Join(names, ", ")
		if more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		x.Note("written, not in outputs", text)
	}
}

// elsewhereLeft adds to the error of a missing output where the program left a file of its
// name.
func (c commandConfig) elsewhereLeft(err error, dir, output string) error {
	at := ""
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, bad error) error { // a hint
		rel, _ := filepath.Rel(dir, p)
		if name := filepath.ToSlash(rel); bad == nil && at == "" && !d.IsDir() && d.Name() == path.Base(output) && !c.has(name) {
			at = name
		}
		return nil
	})
	if at == "" {
		return err
	}
	return fmt.Errorf("%w: it left %s; write outputs = [%q]", err, at, at)
}
