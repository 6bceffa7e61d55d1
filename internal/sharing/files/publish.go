// Package files finds outputs of results by the names that people give, and writes them as files for people. It must not
// know flags.
package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/hashed"
	"github.com/redsi/redsi/internal/system/atomicfile"
)

// Write writes a blob of that size to path, unless the file has its bytes already.
func Write(ctx context.Context, store *artifacts.Resolver, d artifacts.Digest, size int64, path string) error {
	if info, err := os.Stat(path); err == nil && info.Size() == size {
		if have, _, err := hashed.Digest(ctx, path, nil); err == nil && have == d {
			return nil
		}
	}
	r, err := store.Open(ctx, d)
	if err != nil {
		return err
	}
	defer r.Close()
	return atomicfile.Write(path, 0o644, func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	})
}

// Published is the outcome of a publish block.
type Published struct {
	Name    string   `json:"name"`
	To      string   `json:"to"`
	Files   int      `json:"files"`   // that are there now
	Written int      `json:"written"` // this time
	Removed int      `json:"removed"` // that the step no longer has
	Kept    []string `json:"kept,omitempty"`
	Waits   []string `json:"waits,omitempty"` // outputs that do not exist yet: nothing was written
}

// unpublished are names of files that nobody expects below a folder of results.
var unpublished = regexp.MustCompile(`(?i)(^|/)\.(git|redsi)(/|$)`)

// Publish writes files by their names below base/to, and removes files that it wrote before, as the file memory says,
// and that are no longer wanted. A file that somebody changed or added stays, and nothing is written outside base.
func (p *Published) Publish(ctx context.Context, store *artifacts.Resolver, memory, base, to string, files []artifacts.File) (err error) {
	ours := map[string]artifacts.Digest{} // as they were written, by names below base
	if err := recall(memory, &ours); err != nil {
		return err
	}
	wanted := map[string]artifacts.File{}
	for _, f := range files {
		name := path.Join(to, f.Name)
		_, twice := wanted[name]
		switch err := artifacts.CheckFileName(f.Name); {
		case err != nil:
			return err
		case unpublished.MatchString(f.Name):
			return fmt.Errorf("the file %s is not published: folders .git and .redsi are not written", f.Name)
		case twice:
			return fmt.Errorf("two of the files are named %s", f.Name)
		}
		wanted[name] = f
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return err
	}
	defer root.Close()
	defer func() { err = errors.Join(err, atomicfile.WriteJSON(memory, ours, " ", 0o644)) }()
	names := slices.AppendSeq(slices.Collect(maps.Keys(wanted)), maps.Keys(ours))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		f, want := wanted[name]
		file := filepath.Join(base, filepath.FromSlash(name))
		info, err := root.Lstat(name)
		there := err == nil
		var is artifacts.Digest // zero if nothing is there, or not a file
		if there && info.Mode().IsRegular() {
			is, _, err = hashed.Digest(ctx, file, nil)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w", file, err)
		}
		same := want && is == f.Digest
		switch {
		case there && !same && (is.IsZero() || is != ours[name]):
			p.Kept = append(p.Kept, file)
			want = false
		case want && !same:
			err := root.MkdirAll(path.Dir(name), 0o755)
			if err == nil {
				err = Write(ctx, store, f.Digest, f.Size, file)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			p.Written++
		case there && !want:
			if err := root.Remove(name); err != nil {
				return err
			}
			p.Removed++
			for dir := path.Dir(name); dir != "." && root.Remove(dir) == nil; dir = path.Dir(dir) {
			}
		}
		if want && f.Mode == artifacts.Executable {
			if err := root.Chmod(name, 0o755); err != nil {
				return err
			}
		}
		if delete(ours, name); want {
			ours[name] = f.Digest
			p.Files++
		}
	}
	return nil
}
