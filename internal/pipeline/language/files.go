package language

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
)

// Found is what a pipeline records of files whose bytes it does not carry.
type Found struct {
	Lists   map[string]map[string][]string `json:"lists,omitempty"`   // what fileset() listed, by folder and pattern
	Digests map[string]string              `json:"digests,omitempty"` // what filesha256() hashed, by name
	Folders map[string][]string            `json:"folders,omitempty"` // what source blocks name, by path, where that was asked
	Absent  map[string]bool                `json:"absent,omitempty"`  // what a function asked for and is not there: try() takes that for an answer
}

// Files names all files that a pipeline listed or hashed, sorted.
func (f Found) Files() []string {
	names := syntax.Keys(f.Digests)
	for folder, byPattern := range f.Lists {
		for _, list := range byPattern {
			names = append(names, lists.Map(list, func(name string) string { return path.Join(folder, name) })...)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// absent is the error of a missing file or folder.
type absent struct{ error }

func (absent) Is(target error) bool { return target == fs.ErrNotExist }

func noSuch(name string) error {
	return absent{fmt.Errorf("there is no %s: a path starts from the folder of the .hcl file that has it", name)}
}

// Files has what expressions read outside the sources, or ask of it.
type Files struct {
	world World
	given map[string][]byte // the sources
	Read  map[string][]byte // what the pipeline will carry as Sources
	Found Found             // what was learned
	Lacks syntax.Lacks
	code  map[string]*codeFiles // by folder
	meter *meter
}

func (f *Files) ReadBeside(dir, name string) ([]byte, error) {
	full := syntax.Beside(dir, name)
	if syntax.IsPipeline(full) {
		return nil, fmt.Errorf("%s is a pipeline file and is not read as text: to share blocks, put the files in one folder", name)
	}
	b, ok := f.given[full]
	if !ok {
		var err error
		if b, err = ask(f, "the pipeline", full, f.world.ReadFile); err != nil {
			return nil, err
		}
	}
	f.Read[full] = b
	return b, nil
}

func (f *Files) textBeside(dir, name string) (string, error) {
	b, err := f.ReadBeside(dir, name)
	if err != nil {
		return "", err
	}
	return CheckedText(name, b)
}

func (f *Files) base64Beside(dir, name string) (string, error) {
	b, err := f.ReadBeside(dir, name)
	return base64.StdEncoding.EncodeToString(b), err
}

// listBeside is fileset().
func (f *Files) listBeside(dir, folder, pattern string) ([]string, error) {
	full, pattern := syntax.Beside(dir, folder), path.Clean(pattern)
	names, ok := f.world.Found.Lists[full][pattern]
	var err error
	switch {
	case !doublestar.ValidatePattern(pattern):
		return nil, fmt.Errorf("%q is not a pattern: * and ? stand for characters of a name, ** for any folders, [a-z] for one character, {a,b} for either", pattern)
	case path.IsAbs(pattern) || slices.Contains(strings.Split(pattern, "/"), ".."):
		return nil, fmt.Errorf("the pattern %q leads out of the folder: name the folder that it starts from as the first argument", pattern)
	case !ok:
		var list func(folder string) ([]string, error)
		if f.world.List != nil {
			list = func(folder string) ([]string, error) { return f.world.List(folder, pattern) }
		}
		names, err = ask(f, "fileset()", full, list)
	}
	for _, name := range names {
		if !utf8.ValidString(name) || syntax.NotNFC([]byte(name)) > 0 {
			return nil, fmt.Errorf("the name of the file %q in %s is not in UTF-8 and Unicode's form NFC: rename it", name, full)
		}
	}
	if err != nil {
		return nil, err
	}
	if f.Found.Lists[full] == nil {
		f.Found.Lists[full] = map[string][]string{}
	}
	f.Found.Lists[full][pattern] = names
	return names, nil
}

// DigestBeside is filesha256().
func (f *Files) DigestBeside(dir, name string) (string, error) {
	full := syntax.Beside(dir, name)
	sum, ok := f.world.Found.Digests[full]
	if !ok {
		pin, err := ask(f, "filesha256()", full, f.world.Digest)
		if err != nil {
			return "", err
		}
		sum = pin.SHA256.Hex()
	}
	f.Found.Digests[full] = sum
	return sum, nil
}

// ask reads what a function wants and the pipeline does not carry; read is nil where there are no files beside it.
func ask[T any](f *Files, function, name string, read func(name string) (T, error)) (found T, err error) {
	switch {
	case f.world.Found.Absent[name]:
		err = noSuch(name)
	case read == nil:
		f.Lacks.Files = true
		return found, f.meter.end("File not here", "%s is not among the sources of this pipeline: %s asks for it only now that steps have run, and this process has no files beside the pipeline. Run again: `redsi run` reads it.", name, function)
	default:
		found, err = read(name)
	}
	if _, plain := err.(*fs.PathError); plain && errors.Is(err, fs.ErrNotExist) {
		err = noSuch(name)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		f.Found.Absent[name] = true
	}
	return found, err
}

const maxListed = 100_000 // names that fileset() lists

// List lists the regular files below a folder that match a pattern, sorted; a hidden one only by a dot in the
// pattern. No link may lead out.
func List(folder, pattern string) ([]string, error) {
	root, err := os.OpenRoot(filepath.FromSlash(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, absent{fmt.Errorf("there is no folder %s", folder)}
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	names := []string{}
	err = doublestar.GlobWalk(root.FS(), pattern, func(name string, _ fs.DirEntry) error {
		info, err := root.Stat(name) // of what a link leads to
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%s is a link to a file that does not exist", path.Join(folder, name))
		case err != nil:
			return err
		case info.Mode().IsRegular() && Matches(pattern, name):
			names = append(names, name)
		}
		if len(names) > maxListed {
			return fmt.Errorf("there are more than %d such files in %s: name fewer, or let a step read the folder", maxListed, folder)
		}
		return nil
	}, doublestar.WithFilesOnly(), doublestar.WithFailOnIOErrors(), doublestar.WithNoHidden())
	if bad := (*fs.PathError)(nil); errors.As(err, &bad) && strings.Contains(err.Error(), "escapes") {
		err = fmt.Errorf("%s is a link that leads out of %s, and such links are not followed: list a folder that has both, or copy the files", path.Join(folder, bad.Path), folder)
	}
	slices.Sort(names)
	return names, err
}

var dotted = regexp.MustCompile(`(?:^|/)\{?\.`)

// Matches reports whether List takes a file's name.
func Matches(pattern, name string) bool {
	return doublestar.MatchUnvalidated(pattern, name) && len(dotted.FindAllString(name, -1)) <= len(dotted.FindAllString(pattern, -1))
}

// Folder lists what lies at the path of a source block, if that is recorded or can be read.
func (f *Files) Folder(path string, ignore bool) (names []string, known bool) {
	id := path
	if !ignore {
		id += " with all that is ignored"
	}
	if names, known = f.Found.Folders[id]; !known {
		names, known = f.world.Found.Folders[id]
	}
	if !known && f.world.Folder != nil {
		var err error
		names, err = f.world.Folder(path, ignore)
		known = err == nil // else planning says what is wrong with it
	}
	if known {
		f.Found.Folders[id] = names
	}
	return names, known
}

// World is what a pipeline can learn of what is outside its sources.
type World struct {
	// ReadFile reads what file() names; nil: there are only the sources.
	ReadFile func(name string) ([]byte, error)

	// List lists what fileset() names, Digest hashes what filesha256() names, unless Found has it; nil: only Found has any.
	List   func(folder, pattern string) ([]string, error)
	Digest func(name string) (step.Pin, error)
	Found  Found

	// Folder lists the files of a source block, by SourceOf, unless Found has them; nil: only Found has any.
	Folder func(path string, ignore bool) ([]string, error)

	// Made returns what a step has left, nil if that is not known; nil: nothing is known.
	Made func(step.Ref) (*Made, error)
}

type Made struct {
	artifacts.Artifact
	Read func(artifacts.File) ([]byte, error) // of no more than MaxFile bytes
}

// codeFiles are the files beside sources in a folder, for kinds with code: what they read joins Sources, as with file().
type codeFiles struct {
	f      *Files
	dir    string
	parsed map[string]func() (any, error)
}

// Code is the files beside the sources in a folder.
func (f *Files) Code(dir string) step.CodeFiles {
	c := f.code[dir]
	if c == nil {
		c = &codeFiles{f, dir, map[string]func() (any, error){}}
		f.code[dir] = c
	}
	return c
}

func (c *codeFiles) Read(name string) ([]byte, bool, error) {
	b, err := c.f.ReadBeside(c.dir, name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, false, nil
	}
	return b, err == nil, err
}

func (c *codeFiles) List(pattern string) ([]string, error) {
	return c.f.listBeside(c.dir, ".", pattern)
}

// Folder is "" where the pipeline is loaded from its sources only.
func (c *codeFiles) Folder() string {
	if c.f.world.ReadFile == nil {
		return ""
	}
	folder, _ := filepath.Abs(filepath.FromSlash(c.dir)) // "" with an error
	return folder
}

func (c *codeFiles) Once(id string, make func() (any, error)) (any, error) {
	if c.parsed[id] == nil {
		c.parsed[id] = sync.OnceValues(make)
	}
	return c.parsed[id]()
}
