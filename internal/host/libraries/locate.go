package libraries

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/host/script"
	"github.com/redsi/redsi/internal/stores/hashed"
)

// Lookup finds a program by its name or path, as a step does.
type Lookup func(name string) (path string, err error)

// installation is where an interpreter finds what is installed for it.
type installation struct {
	Interpreter string   // as found, before links are followed
	Prefix      string   // the environment's folder
	Python      string   // such as "3.11"; "" if its files do not say
	Sites       []string // site-packages and dist-packages, in the order in which they are searched
	Conda       string   // conda-meta; "" outside of conda's environments
}

var (
	pythonName = regexp.MustCompile(`^(?:python|pypy)(?:[23](\.[0-9]+)?)?t?$`)
	condaName  = regexp.MustCompile(`^(?:Rscript|R|perl|julia|ruby|node)$`) // whose packages conda installs too
	minorName  = regexp.MustCompile(`^(?:python|pypy)([23]\.[0-9]+)t?$`)
)

// condaSites are the folders where a language's own installer puts packages in an environment of conda.
var condaSites = map[string]string{"R": "lib/R/library", "Perl": "lib/perl5", "Ruby": "lib/ruby", "Node": "lib/node_modules"}

const (
	maxHead   = 64 << 10 // bytes read of files that say something in their first lines
	maxScript = 1 << 20  // bytes read of a script
	scripts   = 4        // scripts in a row, each the interpreter of the one before
)

// interpreterOf follows first lines, and pyenv's stand-ins, from a program to the interpreter that runs it.
func interpreterOf(program string, look Lookup) (string, error) {
	for range scripts {
		if behind := Behind(program); behind != program {
			program = behind
			continue
		}
		if condaName.MatchString(filepath.Base(program)) {
			return program, nil // though R is a shell script
		}
		text, err := textOf(program)
		if err != nil {
			return "", err
		}
		next := script.Launcher(text, program)
		if next == "" {
			break
		}
		if program, err = look(next); err != nil {
			return "", nil // the start of the program will tell
		}
	}
	return program, nil
}

// Behind returns the program that pyenv starts for one of its stand-ins, by its setting for all folders, since a step's
// folder has no setting; every other program is itself.
func Behind(program string) string {
	dir := filepath.Dir(program)
	root := filepath.Dir(dir)
	if filepath.Base(dir) != "shims" {
		return program
	}
	text, _ := readBounded(filepath.Join(root, "version"), maxHead) // without it there is no version
	for _, version := range strings.Fields(string(text)) {
		path := filepath.Join(root, "versions", filepath.Base(version), "bin", filepath.Base(program))
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return program
}

// locate finds a program's environment. ok is false, and p has only the interpreter, if this package cannot read that.
func locate(program string, look Lookup) (p installation, ok bool, err error) {
	path, err := interpreterOf(program, look)
	if err != nil || path == "" {
		return p, false, err
	}
	p.Interpreter = path
	name := filepath.Base(path)
	if !pythonName.MatchString(name) && !condaName.MatchString(name) {
		return p, false, nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return p, false, err
	}
	p.Python = minorOf(real)
	for _, prefix := range []string{filepath.Dir(path), filepath.Dir(filepath.Dir(path))} {
		settings, err := readBounded(filepath.Join(prefix, "pyvenv.cfg"), maxHead)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return p, false, err
		}
		if !pythonName.MatchString(name) {
			return p, false, nil
		}
		real = baseOf(settings, prefix, real)
		p.Python = minorOf(real)
		p.Prefix, p.Sites = prefix, sitesOf(p.Python, prefix)
		if strings.EqualFold(setting(settings, "include-system-site-packages"), "true") {
			base := filepath.Dir(filepath.Dir(real))
			p.Sites = append(p.Sites, sitesOf(p.Python, filepath.Join(base, "local"), base)...)
		}
		return p, true, nil
	}
	for _, prefix := range []string{filepath.Dir(filepath.Dir(path)), filepath.Dir(filepath.Dir(real))} {
		if s, err := os.Stat(filepath.Join(prefix, "conda-meta")); err == nil && s.IsDir() {
			p.Prefix, p.Conda, p.Sites = prefix, filepath.Join(prefix, "conda-meta"), sitesOf(p.Python, prefix)
			if at := condaSites[Language(name)]; at != "" {
				if real, err := filepath.EvalSymlinks(filepath.Join(prefix, at)); err == nil {
					p.Sites = append(p.Sites, real)
				}
			}
			return p, true, nil
		}
	}
	p.Prefix = filepath.Dir(filepath.Dir(real))
	p.Sites = sitesOf(p.Python, filepath.Join(p.Prefix, "local"), p.Prefix)
	stands := !strings.HasPrefix(filepath.Base(real), "py") // a stand-in for a Python elsewhere, as of mise
	return p, pythonName.MatchString(name) && !stands, nil
}

// minorOf returns the version in the name of a Python's file.
func minorOf(python string) string {
	if m := minorName.FindStringSubmatch(filepath.Base(python)); m != nil {
		return m[1]
	}
	return ""
}

// baseOf returns the Python behind a virtual environment: its Python's target, else the Python in pyvenv.cfg's home.
func baseOf(settings []byte, prefix, python string) string {
	home := setting(settings, "home")
	if own, err := filepath.EvalSymlinks(prefix); err != nil || home == "" || !within(python, own) {
		return python
	}
	for _, name := range []string{filepath.Base(python), "python3", "python"} {
		if base, err := filepath.EvalSymlinks(filepath.Join(home, name)); err == nil {
			return base
		}
	}
	return filepath.Join(home, filepath.Base(python))
}

// setting returns a value of pyvenv.cfg.
func setting(text []byte, name string) string {
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, "="); ok && strings.EqualFold(strings.TrimSpace(key), name) {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// sitesOf lists the folders below prefixes that a Python imports from, each once, links followed. On Debian those in
// /usr/local come first, and /usr has one folder for all minor versions.
func sitesOf(python string, prefixes ...string) (sites []string) {
	for _, prefix := range prefixes {
		for _, lib := range []string{"lib", "lib64"} {
			found, _ := os.ReadDir(filepath.Join(prefix, lib)) // without it nothing is installed there
			for _, f := range found {
				m := minorName.FindStringSubmatch(f.Name())
				if f.Name() != "python3" && (m == nil || python != "" && m[1] != python) {
					continue
				}
				for _, name := range []string{"site-packages", "dist-packages"} {
					real, err := filepath.EvalSymlinks(filepath.Join(prefix, lib, f.Name(), name))
					if err == nil && !slices.Contains(sites, real) {
						sites = append(sites, real)
					}
				}
			}
		}
	}
	return sites
}

// readBounded reads a regular file of at most that many bytes.
func readBounded(path string, most int64) ([]byte, error) {
	f, err := hashed.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("%s has more than %d bytes", path, most)
	}
	return b, err
}
