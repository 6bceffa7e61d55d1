package general

import (
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
)

// searched is what PYTHONPATH is, for a working folder: the step's sources, then what env has.
func (c commandConfig) searched(dir string) string {
	var list []string
	if c.code != nil {
		for _, folder := range c.code.sources {
			list = append(list, path.Join(dir, folder))
		}
	}
	if given := c.Env["PYTHONPATH"]; given != "" {
		list = append(list, given)
	}
	return strings.Join(list, string(filepath.ListSeparator))
}

// beside reports whether there is a file, or a folder if its mode is that, beside the pipeline,
// on this machine, that the step does not have. Hidden folders are none of the study: state,
// environments, git.
func (c commandConfig) beside(name string, mode fs.FileMode) bool {
	_, own := c.Inputs[name]
	if c.code.CodeFolder == "" || own || c.has(name) || command.CheckName(name) != nil || strings.HasPrefix(name, ".") || strings.Contains(name, "/.") {
		return false
	}
	info, err := os.Stat(filepath.Join(c.code.CodeFolder, filepath.FromSlash(name)))
	return err == nil && info.Mode().Type() == mode
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
	exit, ok := errors.AsType[*command.ExitError](err)
	if !ok {
		return err
	}
	if m := noModule.FindStringSubmatch(exit.Tail); m != nil {
		if hint := c.moduleBeside(m[1]); hint != "" {
			return fmt.Errorf("%w\n%s", err, hint)
		}
	}
	var names []string
	for _, word := range pathLike.FindAllString(exit.Tail, -1) {
		word = strings.TrimPrefix(strings.TrimPrefix(strings.TrimRight(word, "."), dir+"/"), isolation.Folder+"/")
		for _, name := range []string{path.Clean(word), path.Join(path.Dir(c.code.Script), word)} {
			if _, gone := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); gone != nil && !path.IsAbs(word) && c.beside(name, 0) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return err
	}
	return fmt.Errorf("%w; beside the pipeline is what the step does not have: write code = [%s] or, of data, give it in inputs by a source block", err, quotedAll(names))
}

func quotedAll(names []string) string {
	return `"` + strings.Join(names[:min(len(names), mostStrays)], `", "`) + `"`
}

// moduleBeside says how a step gets a module that stands beside the pipeline.
func (c commandConfig) moduleBeside(module string) string {
	at := strings.ReplaceAll(module, ".", "/")
	for _, folder := range append([]string{path.Dir(c.code.Script)}, c.code.sources...) {
		name := path.Join(folder, at)
		switch {
		case c.beside(name+".py", 0):
			name += ".py"
		case c.beside(name, fs.ModeDir):
			name += "/**"
		default:
			continue
		}
		return fmt.Sprintf("%s stands beside the pipeline, but no import statement leads to it: write code = [%q]", name, name)
	}
	top, _, _ := strings.Cut(at, "/")
	for _, folder := range []string{".", "src", "lib"} {
		if name := path.Join(folder, top); c.beside(name+".py", 0) || c.beside(name, fs.ModeDir) {
			return fmt.Sprintf("%s stands beside the pipeline, in none of the folders that Python looks through: write sources = [%q]", name, folder)
		}
	}
	return ""
}

// opened are the files of the pipeline's folder, which the key does not have, that a program
// has read by a path outside of its own folder.
func (c commandConfig) opened(found isolation.Findings) (names []string) {
	if c.code == nil || c.code.CodeFolder == "" {
		return nil
	}
	real, _ := filepath.EvalSymlinks(c.code.CodeFolder)
	for _, f := range found.List {
		for _, folder := range []string{c.code.CodeFolder, real} {
			rel, ok := strings.CutPrefix(f.Where, folder+string(filepath.Separator))
			name := filepath.ToSlash(rel)
			if ok && (f.What == "read" || f.What == "run") && !f.Library() && c.beside(name, 0) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// strays are the files that a program left beside its outputs, but for hidden ones.
func (c commandConfig) strays(dir string, outputs []string) (names []string) {
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error { // nothing depends on it
		rel, _ := filepath.Rel(dir, p)
		name := filepath.ToSlash(rel)
		if err != nil || name == "." {
			return nil
		}
		_, input := c.Inputs[name]
		_, list := c.Lists[name]
		hidden := strings.HasPrefix(d.Name(), ".") || d.Name() == "__pycache__"
		switch {
		case d.IsDir() && (input || list || hidden || name == "tmp"):
			return fs.SkipDir
		case !d.IsDir() && !input && !hidden && !c.has(name) && !slices.Contains(outputs, name):
			names = append(names, name)
		}
		return nil
	})
	return names
}
