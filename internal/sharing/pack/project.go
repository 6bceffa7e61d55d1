package pack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/fetch"
	"github.com/redsi/redsi/internal/host/script"
	"github.com/redsi/redsi/internal/host/tracked"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/sharing/archive"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
)

// projectFiles is the part of an archive that comes from the pipeline's files.
type projectFiles struct {
	pipeline string // what -f is given in its folder
	files    []projectFile
	sources  []artifacts.File // local files that steps download, which are in the store
	notes    []string         // what another machine will lack

	programs map[string][]string // blocks whose keys have a program of this machine

	root string // absolute: the folder that becomes the archive's
}

type projectFile struct {
	name string // below the root
	data []byte
}

const mostUp = 5 // bounds how many folders above the pipeline's the files that it reads may be

// projectOf collects the pipeline's files, the files that it reads, its modules, its lock file and the files for people
// next to it, and local sources by their digests.
func projectOf(se *session.Session, of session.Seen) (*projectFiles, error) {
	p, pl := of.Pipeline, of.Plan
	base, err := filepath.Abs(session.ProjectDir(se.File))
	if err != nil {
		return nil, err
	}
	pr := &projectFiles{root: base, programs: map[string][]string{}}
	texts := map[string][]byte{}
	modules := map[string]bool{} // checkouts
	cache, err := filepath.Abs(filepath.Join(se.StateDir, "modules"))
	if err != nil {
		return nil, err
	}
	for _, sources := range []map[string][]byte{p.Sources, p.Modules} {
		for name, b := range sources {
			if filepath.IsAbs(name) && !filepath.IsAbs(se.File) {
				return nil, fault.Input(fmt.Errorf("the pipeline reads %s by an absolute path, which other machines do not have: copy it next to the pipeline", name))
			}
			at, err := filepath.Abs(filepath.FromSlash(name))
			if err != nil {
				return nil, err
			}
			if inside, err := filepath.Rel(cache, at); err == nil && filepath.IsLocal(inside) {
				parts := strings.SplitN(filepath.ToSlash(inside), "/", 3)
				if len(parts) == 3 {
					modules[path.Join(parts[0], parts[1])] = true
				}
				continue
			}
			texts[at] = b
		}
	}
	for at := range texts {
		if err := pr.include(at, base); err != nil {
			return nil, err
		}
	}
	beside(texts, base)
	src, err := lockfile.Open(se.LockFile(), ".", se.MemoFile())
	if err != nil {
		return nil, fault.Input(err)
	}
	if err := pr.local(pl, src, base, cache, texts); err != nil {
		return nil, err
	}
	if err := pr.found(p.Found, base, cache, texts); err != nil {
		return nil, err
	}
	for i := range pr.sources {
		pr.sources[i].Name = pr.name(pr.sources[i].Name)
	}
	for at, b := range texts {
		pr.files = append(pr.files, projectFile{pr.name(at), b})
	}
	for _, m := range slices.Sorted(maps.Keys(modules)) {
		if err := pr.checkout(cache, m); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(pr.files, func(a, b projectFile) int { return strings.Compare(a.name, b.name) })
	slices.SortFunc(pr.sources, func(a, b artifacts.File) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(string(b.Mode), string(a.Mode)))
	})
	pr.sources = slices.CompactFunc(pr.sources, func(a, b artifacts.File) bool { return a.Name == b.Name })
	for _, f := range pr.files {
		if err := archive.CheckProjectFile(f.name); err != nil {
			return nil, fault.Input(fmt.Errorf("%w: give the file another name", err))
		}
	}
	file, err := filepath.Abs(se.File)
	if err != nil {
		return nil, err
	}
	pr.pipeline = pr.name(file)
	pr.notes = append(pr.notes, pr.programNotes()...)
	return pr, nil
}

// include moves the root up to a folder that also contains the file.
func (pr *projectFiles) include(at, base string) error {
	for up := 0; ; up++ {
		if inside, err := filepath.Rel(pr.root, at); err == nil && filepath.IsLocal(inside) {
			return nil
		}
		if up == mostUp || filepath.Dir(pr.root) == pr.root || filepath.Dir(filepath.Dir(pr.root)) == filepath.Dir(pr.root) {
			return fault.Input(fmt.Errorf("the pipeline reads %s, which is too far from its folder %s to be archived: copy it there", at, base))
		}
		pr.root = filepath.Dir(pr.root)
	}
}

// name returns a file's path below the root, or "." for the root itself.
func (pr *projectFiles) name(at string) string {
	inside, err := filepath.Rel(pr.root, at)
	if err != nil {
		return at
	}
	return filepath.ToSlash(inside)
}

// Files for people next to a pipeline, and their most bytes.
var (
	licenses = []string{"LICENSE", "LICENSE.md", "LICENSE.txt", "COPYING"}
	besides  = append([]string{"CITATION.cff", "README.md"}, licenses...)
)

const mostBeside = 4 << 20

// beside adds lock files, tests and files for people. A file that cannot be read is left out: the pipeline does not need
// it, or its loading has failed already.
func beside(texts map[string][]byte, base string) {
	take := func(at string) {
		if info, err := os.Lstat(at); err == nil && info.Mode().IsRegular() && info.Size() <= mostBeside {
			if b, err := os.ReadFile(at); err == nil {
				texts[at] = b
			}
		}
	}
	folders := map[string]bool{base: true}
	for at := range texts {
		if strings.HasSuffix(at, ".hcl") {
			folders[filepath.Dir(at)] = true
		}
	}
	for folder := range folders {
		take(filepath.Join(folder, lockfile.Name))
	}
	tests, _ := fs.Glob(os.DirFS(base), "*"+syntax.TestSuffix) // the pattern is valid
	for _, name := range append(tests, besides...) {
		take(filepath.Join(base, name))
	}
}

// local adds the local files that steps download, and those of source blocks; it needs none outside that is pinned.
func (pr *projectFiles) local(pl *plan.Plan, src *lockfile.Sources, base, cache string, texts map[string][]byte) error {
	take := func(by, where, root string, files ...artifacts.File) {
		if inside, err := filepath.Rel(cache, root); err == nil && filepath.IsLocal(inside) { // of a checkout
			return
		}
		if err := pr.include(filepath.Join(root, "x"), base); err != nil {
			pr.notes = append(pr.notes, fmt.Sprintf("%s reads %s, which only this machine has: copy it next to the pipeline, or give its sha256", by, where))
			return
		}
		for _, f := range files {
			f.Name = filepath.Join(root, filepath.FromSlash(f.Name))
			if _, ok := texts[f.Name]; !ok {
				pr.sources = append(pr.sources, f)
			}
		}
	}
	for i := range pl.Steps {
		s := &pl.Steps[i]
		if where, ignore, ok := pipeline.SourceOf(s.Task, s.Pos); ok {
			f, err := src.LocalTree(context.Background(), where, ignore)
			if err == nil {
				take(s.Address, f.Source, f.Root, f.Tree.Files...)
			} else if !errors.Is(err, fs.ErrNotExist) { // or sha256 stands for it
				return fmt.Errorf("%s: %w", s.Address, err)
			} else if d, _ := tracked.Of(f.Source); d != nil { // these records decide the step's key
				for _, at := range []string{d.Record, filepath.Join(filepath.Dir(d.Record), "dvc.yaml")} {
					if text, err := os.ReadFile(at); err == nil && pr.include(at, base) == nil {
						texts[at] = text
					}
				}
			}
			continue
		}
		if s.Task.Kind == "command" {
			pr.program(s)
		}
		if s.Task.Kind != "download" {
			continue
		}
		var c struct {
			URLs   []string `json:"urls"`
			SHA256 []string `json:"sha256"`
		}
		if err := json.Unmarshal(s.Task.Config, &c); err != nil {
			return fmt.Errorf("%s: %w", s.Address, err)
		}
		for k, u := range c.URLs {
			src, err := fetch.ParseSource(u)
			d, errd := artifacts.ParseHex(c.SHA256[k])
			if err != nil || src.Path == "" || errd != nil {
				continue
			}
			at := src.Path
			if !filepath.IsAbs(at) {
				at = filepath.Join(filepath.Dir(filepath.FromSlash(s.Pos.File)), at)
			}
			if at, err = filepath.Abs(at); err != nil {
				return err
			}
			if info, err := os.Stat(at); err == nil { // or its checksum is pinned
				take(s.Address, at, filepath.Dir(at), artifacts.File{Name: filepath.Base(at), Digest: d, Size: info.Size()})
			}
		}
	}
	return nil
}

// found adds the files that fileset() listed and filesha256() hashed: without them, the pipeline would be another.
func (pr *projectFiles) found(f pipeline.Found, base, cache string, texts map[string][]byte) error {
	downloaded := lists.Set(lists.Map(pr.sources, func(f artifacts.File) string { return f.Name }))
	for _, name := range f.Files() {
		at, err := filepath.Abs(filepath.FromSlash(name))
		if err != nil {
			return err
		}
		if inside, err := filepath.Rel(cache, at); err == nil && filepath.IsLocal(inside) { // of a checkout
			continue
		}
		if err := pr.include(at, base); err != nil {
			return err
		}
		if texts[at] != nil || downloaded[at] {
			continue
		}
		if texts[at], err = syntax.ReadFile(at); err != nil {
			return fault.Input(fmt.Errorf("the pipeline lists or hashes a file that no step downloads and that is too large to be one of its texts: %w", err))
		}
	}
	return nil
}

// program records a command whose key contains checksums of this machine's programs.
func (pr *projectFiles) program(s *plan.Step) {
	var c struct {
		Argv     []string `json:"argv"`
		Script   string   `json:"script"`
		Programs []string `json:"programs"`
	}
	if json.Unmarshal(s.Task.Config, &c) != nil {
		return
	}
	if c.Script != "" {
		c.Argv, _ = script.Interpreter(c.Script) // a step's is valid
	}
	var names []string
	if _, given := s.AttrPos["program"]; !given && len(c.Argv) > 0 && !strings.HasPrefix(c.Argv[0], "./") {
		names = c.Argv[:1]
	}
	if _, given := s.AttrPos["program_digests"]; !given {
		names = append(slices.Clone(names), c.Programs...)
	}
	block := s.Block()
	for _, name := range names {
		program := filepath.Base(name)
		if !slices.Contains(pr.programs[program], block) {
			pr.programs[program] = append(pr.programs[program], block)
		}
	}
}

// programNotes says for each program of this machine which blocks have its checksum.
func (pr *projectFiles) programNotes() (notes []string) {
	for _, program := range slices.Sorted(maps.Keys(pr.programs)) {
		blocks := pr.programs[program]
		of := blocks[0]
		if n := len(blocks) - 1; n > 0 {
			of += " and " + words.Count(n, "other block")
		}
		notes = append(notes, fmt.Sprintf("keys of %s contain the checksum of this machine's %s: where its version differs, they are RUN", of, program))
	}
	return notes
}

// checkout adds all files of a commit that modules come from: redsi.lock has their digest.
func (pr *projectFiles) checkout(cache, folder string) error {
	root := filepath.Join(cache, filepath.FromSlash(folder))
	return filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(cache, at)
		if err != nil {
			return err
		}
		pr.files = append(pr.files, projectFile{archive.ModulesDir + filepath.ToSlash(inside), b})
		return nil
	})
}
