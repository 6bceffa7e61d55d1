//go:build unix

package libraries

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// scan lists the files below each root, in a fixed order, without Python's caches of compiled files: Python rewrites
// them when the times of the sources differ.
func scan(ctx context.Context, roots []root) ([][]entry, error) {
	all := make([][]entry, len(roots))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	tops := make([][][]entry, len(roots))
	for i, r := range roots {
		var st unix.Stat_t
		if err := unix.Stat(r.Path, &st); err != nil {
			return nil, &fs.PathError{Op: "stat", Path: r.Path, Err: err}
		}
		if st.Mode&unix.S_IFMT != unix.S_IFDIR {
			all[i] = []entry{entryOf("", &st)}
			continue
		}
		names, err := os.ReadDir(r.Path)
		if err != nil {
			return nil, err
		}
		tops[i] = make([][]entry, len(names))
		for j, d := range names {
			g.Go(func() error {
				dir, err := unix.Open(r.Path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
				if err != nil {
					return &fs.PathError{Op: "open", Path: r.Path, Err: err}
				}
				defer unix.Close(dir)
				return r.add(ctx, &tops[i][j], dir, "", d)
			})
		}
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	n := 0
	for i, parts := range tops {
		all[i] = slices.Concat(append(parts, all[i])...)
		if n += len(all[i]); n > maxFiles {
			return nil, fmt.Errorf("%s and what else is imported have more than %d files; set program_libraries = false to leave them out of the key", roots[0].Path, maxFiles)
		}
	}
	return all, nil
}

// add adds d, a file or all that is in a folder. d is in the open folder dir, whose path below the root is within. A
// link to a file counts as the file; a link to a folder is told and not followed.
func (r root) add(ctx context.Context, to *[]entry, dir int, within string, d fs.DirEntry) error {
	name, hidden := d.Name(), r.Code && strings.HasPrefix(d.Name(), ".")
	if within != "" {
		name = within + "/" + name
	}
	if d.IsDir() {
		if d.Name() == "__pycache__" || hidden || r.Code && d.Name() == "node_modules" || len(*to) > maxFiles {
			return nil
		}
		return r.below(ctx, to, dir, name)
	}
	link, ending := d.Type()&fs.ModeSymlink != 0, path.Ext(name)
	code := slices.Contains([]string{".py", ".so", ".pyd", ".dylib"}, ending) // what Python imports
	if ending == ".pyc" || hidden || !link && (!d.Type().IsRegular() || r.Code && !code) {
		return nil
	}
	var st unix.Stat_t
	flags := unix.AT_SYMLINK_NOFOLLOW
	if link {
		flags = 0
	}
	if err := unix.Fstatat(dir, d.Name(), &st, flags); err != nil {
		if link {
			return nil // nothing is imported by a link to nothing
		}
		return &fs.PathError{Op: "stat", Path: filepath.Join(r.Path, name), Err: err}
	}
	switch kind := st.Mode & unix.S_IFMT; {
	case kind == unix.S_IFDIR:
		*to = append(*to, entry{Name: name, Link: true})
	case kind == unix.S_IFREG && (code || !r.Code):
		*to = append(*to, entryOf(name, &st))
	}
	return nil
}

func (r root) below(ctx context.Context, to *[]entry, dir int, name string) error {
	fd, err := unix.Openat(dir, path.Base(name), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: filepath.Join(r.Path, name), Err: err}
	}
	f := os.NewFile(uintptr(fd), filepath.Join(r.Path, name))
	defer f.Close()
	list, err := f.ReadDir(-1)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return err
	}
	if r.Code && slices.ContainsFunc(list, func(d fs.DirEntry) bool { return d.Name() == "pyvenv.cfg" || d.Name() == "conda-meta" }) {
		return nil // an environment in the folder of the sources
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, d := range list {
		if err := r.add(ctx, to, fd, name, d); err != nil {
			return err
		}
	}
	return nil
}

func entryOf(name string, st *unix.Stat_t) entry {
	return entry{Name: name, Size: st.Size, MTime: st.Mtim.Nano(), CTime: st.Ctim.Nano(), Inode: st.Ino}
}
