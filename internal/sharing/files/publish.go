package files

import (
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
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/internal/system/atomicfile"
)

// Publication is what a pipeline says is written beside it.
type Publication struct {
	Name  string
	Base  string           // the pipeline's folder: nothing is written outside it
	To    string           // below it, with slashes
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

// Publish writes a publication's files, and removes those that it wrote before and has no longer.
// What is neither as it was written nor as it should be stays as it is. memory is the file in which
// it remembers what it wrote.
func Publish(ctx context.Context, store artifacts.Store, memory string, pub Publication) (done Published, err error) {
	done = Published{Name: pub.Name, To: path.Join(filepath.ToSlash(pub.Base), pub.To)}
	before, now := map[string]artifacts.Digest{}, map[string]artifacts.Digest{} // by names below Base
	b, err := os.ReadFile(memory)
	if err == nil {
		err = json.Unmarshal(b, &before)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return done, fmt.Errorf("%s, in which redsi remembers what it published: %w; without that file it takes all that is there for yours", memory, err)
	}
	wanted := map[string]artifacts.File{}
	for _, f := range pub.Files {
		if err := checkPublished(f.Name); err != nil {
			return done, err
		}
		name := path.Join(pub.To, f.Name)
		if _, twice := wanted[name]; twice {
			return done, fmt.Errorf("two of the files are named %s", f.Name)
		}
		wanted[name] = f
	}
	root, err := os.OpenRoot(pub.Base)
	if err != nil {
		return done, err
	}
	defer root.Close()
	defer func() {
		for name, d := range before { // what was not come to is redsi's still
			if _, ok := now[name]; !ok && err != nil {
				now[name] = d
			}
		}
		b, jerr := json.MarshalIndent(now, "", " ")
		err = errors.Join(err, jerr, atomicfile.WriteFile(memory, b, 0o644))
	}()
	names := slices.Sorted(maps.Keys(wanted))
	for name := range before {
		if _, ok := wanted[name]; !ok {
			names = append(names, name)
		}
	}
	for _, name := range names {
		f, want := wanted[name]
		file := filepath.Join(pub.Base, filepath.FromSlash(name))
		if want {
			if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
				return done, fmt.Errorf("%s: %w", file, err)
			}
		}
		is, err := look(ctx, root, name, file)
		there, ours := is != nil, is != nil && *is == before[name]
		switch {
		case err != nil:
			return done, err
		case there && !ours && (!want || *is != f.Digest):
			done.Kept = append(done.Kept, file)
			continue
		case !want && there:
			if err := root.Remove(name); err != nil {
				return done, err
			}
			done.Removed++
			for dir := path.Dir(name); dir != "." && root.Remove(dir) == nil; dir = path.Dir(dir) {
			}
		case want && (!there || *is != f.Digest):
			now[name] = f.Digest
			if err := Write(ctx, store, f.Digest, f.Size, file); err != nil {
				return done, err
			}
			done.Written++
		}
		if want {
			now[name] = f.Digest
			done.Files++
		}
	}
	return done, nil
}

// checkPublished refuses names that are not those of files to be seen below a folder.
func checkPublished(name string) error {
	if err := artifacts.CheckFileName(name); err != nil {
		return err
	}
	for part := range strings.SplitSeq(strings.ToLower(name), "/") {
		if part == ".git" || part == ".redsi" {
			return fmt.Errorf("the file %s is not published: %s folders are not written", name, part)
		}
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
