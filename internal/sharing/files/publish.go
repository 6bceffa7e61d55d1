package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/internal/system/atomicfile"
)

// Publication is what a pipeline says is written beside it.
type Publication struct {
	Name  string
	From  string           // the pipeline's file: nothing is written outside its folder
	To    string           // below that, with slashes
	Files []artifacts.File // by their names below To
}

// Published is what became of a publication.
type Published struct {
	Name    string   `json:"name"`
	To      string   `json:"to"`
	Files   int      `json:"files"`   // that are there now
	Written int      `json:"written"` // of these
	Removed int      `json:"removed"` // that the step makes no longer
	Kept    []string `json:"kept,omitempty"`
	Waits   []string `json:"waits,omitempty"` // outputs that are not there: nothing was written
}

// Publisher writes publications, and remembers in a file what it wrote, so that it never writes
// over or removes what a person has changed.
type Publisher struct {
	Store  artifacts.Store
	Memory string // the file

	wrote map[string]map[string]artifacts.Digest // by publication, then by path from the memory's folder
	lock  *flock.Flock
}

// Open reads the memory, which is this process's alone until Close.
func (p *Publisher) Open() error {
	if err := os.MkdirAll(filepath.Dir(p.Memory), 0o755); err != nil {
		return err
	}
	p.lock = flock.New(p.Memory + ".lock")
	if err := p.lock.Lock(); err != nil {
		return err
	}
	p.wrote = map[string]map[string]artifacts.Digest{}
	b, err := os.ReadFile(p.Memory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(b, &p.wrote)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s, in which redsi remembers what it published: %w; without that file it takes all that is there for yours", p.Memory, err), p.lock.Unlock())
	}
	return nil
}

// Close lets others publish.
func (p *Publisher) Close() error { return p.lock.Unlock() }

// Publish writes a publication's files, and removes those that it wrote before and has no longer.
// What is neither as it was written nor as it should be stays as it is.
func (p *Publisher) Publish(ctx context.Context, pub Publication) (done Published, err error) {
	base := filepath.Dir(pub.From)
	done = Published{Name: pub.Name, To: path.Join(filepath.ToSlash(base), pub.To)}
	root, err := os.OpenRoot(base)
	if err != nil {
		return done, err
	}
	defer root.Close()
	if err := check(pub.Files); err != nil {
		return done, err
	}
	id, err := p.nameOf(pub.From)
	if err != nil {
		return done, err
	}
	id += ":" + pub.Name
	before, now := p.wrote[id], map[string]artifacts.Digest{}
	p.wrote[id] = now
	defer func() {
		if err != nil { // what was there before is redsi's still
			for name, d := range before {
				if _, ok := now[name]; !ok {
					now[name] = d
				}
			}
		}
		b, jerr := json.MarshalIndent(p.wrote, "", " ")
		err = errors.Join(err, jerr, atomicfile.WriteFile(p.Memory, b, 0o644))
	}()
	for _, f := range pub.Files {
		name := path.Join(pub.To, f.Name)
		file := filepath.Join(base, filepath.FromSlash(name))
		known, err := p.nameOf(file)
		if err != nil {
			return done, err
		}
		if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return done, fmt.Errorf("%s: %w", file, err)
		}
		is, err := look(ctx, root, name, file)
		switch {
		case err != nil:
			return done, err
		case is != nil && *is == f.Digest:
		case is != nil && *is != before[known]:
			done.Kept = append(done.Kept, file)
			continue
		default:
			now[known] = f.Digest
			if err := Write(ctx, p.Store, f.Digest, f.Size, file); err != nil {
				return done, err
			}
			done.Written++
		}
		now[known] = f.Digest
		done.Files++
	}
	for known, d := range before {
		if _, ok := now[known]; ok {
			continue
		}
		file := filepath.Join(filepath.Dir(p.Memory), filepath.FromSlash(known))
		name, err := filepath.Rel(base, file)
		if err != nil || !filepath.IsLocal(name) || slices.Contains(done.Kept, file) {
			continue
		}
		is, err := look(ctx, root, filepath.ToSlash(name), file)
		switch {
		case err != nil:
			return done, err
		case is == nil:
		case *is != d:
			done.Kept = append(done.Kept, file)
		default:
			if err := root.Remove(name); err != nil {
				return done, err
			}
			done.Removed++
			for dir := filepath.Dir(name); dir != "." && root.Remove(dir) == nil; dir = filepath.Dir(dir) {
			}
		}
	}
	slices.Sort(done.Kept)
	return done, nil
}

// nameOf is a file as the memory names it, so that a project can be moved.
func (p *Publisher) nameOf(file string) (string, error) {
	base, err := filepath.Abs(filepath.Dir(p.Memory))
	if err != nil {
		return "", err
	}
	if file, err = filepath.Abs(file); err != nil {
		return "", err
	}
	name, err := filepath.Rel(base, file)
	return filepath.ToSlash(name), err
}

// check refuses names that are not those of files to be seen below a folder.
func check(list []artifacts.File) error {
	seen := map[string]bool{}
	for _, f := range list {
		if err := artifacts.CheckFileName(f.Name); err != nil {
			return err
		}
		for part := range strings.SplitSeq(strings.ToLower(f.Name), "/") {
			if part == ".git" || part == ".redsi" {
				return fmt.Errorf("the file %s is not published: %s folders are not written", f.Name, part)
			}
		}
		if seen[f.Name] {
			return fmt.Errorf("two of the files are named %s", f.Name)
		}
		seen[f.Name] = true
	}
	return nil
}

// look is the digest of what is at a path; nil if nothing is, and zero if it is not a file.
func look(ctx context.Context, root *os.Root, name, file string) (*artifacts.Digest, error) {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", file, err)
	case !info.Mode().IsRegular():
		return &artifacts.Digest{}, nil
	}
	d, _, err := local.HashFile(ctx, file, nil)
	return &d, err
}
