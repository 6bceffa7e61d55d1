package command

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/redsi/redsi/internal/system/filetype"
)

// found has the paths of programs by name while somebody wants them remembered; else paths is nil.
var found struct {
	sync.Mutex
	wanted int
	paths  map[string]string
}

// Remember makes Find look for each program once, until end is called: a plan asks for a program thousands of times and
// means the same file each time. Several users at a time share what was found.
func Remember() (end func()) {
	found.Lock()
	defer found.Unlock()
	if found.wanted++; found.wanted == 1 {
		found.paths = map[string]string{}
	}
	return func() {
		found.Lock()
		defer found.Unlock()
		if found.wanted--; found.wanted == 0 {
			found.paths = nil
		}
	}
}

// Find returns the path of the program that a command line names: a name is looked up in PATH, an absolute path stays as
// it is. Relative paths are refused, since a step runs in its own folder.
func Find(name string) (string, error) {
	found.Lock()
	defer found.Unlock()
	if path, ok := found.paths[name]; ok {
		return path, nil
	}
	path, err := find(name)
	if err == nil && found.paths != nil {
		found.paths[name] = path
	}
	return path, err
}

func find(name string) (string, error) {
	if strings.ContainsRune(name, '/') && !filepath.IsAbs(name) {
		return "", fmt.Errorf("%s is a relative path, but a step runs in its own folder: name a program on PATH or by its absolute path, or run a virtual environment's by an environment block; a command step may have the file in files", name)
	}
	p, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("program %s: %w", name, err)
	}
	return filepath.Abs(p)
}

// CheckName accepts names of files below the working folder: clean, relative, with forward slashes.
func CheckName(name string) error {
	if !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\\\x00\n") {
		return fmt.Errorf("%q is not a clean relative path", name)
	}
	return nil
}

// Outputs is what a program must leave in a folder: files, and folders, whose names end with a slash, with at least one
// file in each.
type Outputs []string

// MissingError says that an output is missing.
type MissingError struct {
	Name   string
	Folder string // in which it has to be: "out/", or "" for the working folder
}

func (e *MissingError) Error() string {
	if strings.HasSuffix(e.Name, "/") {
		return fmt.Sprintf("it left no file in its output %s; a folder without files is not kept, so let it write one, such as a list of what it did", e.Folder+e.Name)
	}
	return "it did not write its output " + e.Folder + e.Name
}

// Check reports names that cannot be outputs.
func (o Outputs) Check() error {
	for _, name := range o {
		if err := CheckName(strings.TrimSuffix(name, "/")); err != nil {
			return err
		}
		if at := strings.IndexAny(name, "*?["); at >= 0 {
			folder := path.Dir(name[:at]+"_") + "/"
			if folder == "./" {
				folder = "files/"
			}
			return fmt.Errorf("%q is a pattern, and outputs are names: give a folder, such as %q, into which the program writes the files", name, folder)
		}
	}
	return nil
}

// Prepare creates the folder, and the folders in it that the outputs are in.
func (o Outputs) Prepare(dir string) error {
	err := os.MkdirAll(dir, 0o755)
	for _, name := range o {
		sub := path.Dir(name) // of "plots/" it is "plots"
		err = cmp.Or(err, os.MkdirAll(filepath.Join(dir, filepath.FromSlash(sub)), 0o755))
	}
	return err
}

// Collect lists the files below dir in the order of their names. A missing output (*MissingError), an undeclared file,
// and what is neither file nor folder are errors.
func (o Outputs) Collect(dir string) ([]string, error) {
	var names []string
	found := make([]bool, len(o))
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if p == dir && errors.Is(err, fs.ErrNotExist) {
			return errors.New("it removed the folder out")
		}
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if !d.Type().IsRegular() {
			return fmt.Errorf("it left out/%s, which is a %s; outputs are files", name, filetype.Name(d.Type()))
		}
		declared := false
		for i, out := range o {
			if name == out || strings.HasSuffix(out, "/") && strings.HasPrefix(name, out) {
				declared, found[i] = true, true
			}
		}
		if !declared {
			return fmt.Errorf("it left out/%s, which outputs does not declare; add it there, or write it outside of out", name)
		}
		names = append(names, name)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, out := range o {
		if !found[i] {
			return nil, &MissingError{out, "out/"}
		}
	}
	return names, nil
}

// Pick lists the files below dir that are outputs, in the order of their names, whatever else is there. A missing output
// (*MissingError), and an output that is not a file, are errors.
func (o Outputs) Pick(dir string) ([]string, error) {
	var names []string
	for _, out := range o {
		before := len(names)
		err := filepath.WalkDir(filepath.Join(dir, filepath.FromSlash(out)), func(p string, d fs.DirEntry, err error) error {
			rel, bad := filepath.Rel(dir, p)
			switch name := filepath.ToSlash(rel); {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil || bad != nil:
				return errors.Join(err, bad)
			case d.IsDir() && name == out:
				return fmt.Errorf("its output %s is a folder: declare it as %q", out, out+"/")
			case d.IsDir():
				return nil
			case !d.Type().IsRegular():
				return fmt.Errorf("it left %s, which is a %s; outputs are files", name, filetype.Name(d.Type()))
			default:
				names = append(names, name)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if len(names) == before {
			return nil, &MissingError{Name: out}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
