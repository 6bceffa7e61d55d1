package listing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/sync/errgroup"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/filetype"
	"github.com/redsi/redsi/internal/system/lists"
)

// never are names that are left out everywhere: what git and redsi keep beside files.
var never = map[string]bool{".git": true, ".redsi": true}

// Listing is what was found in a folder. Its files have no digests yet.
type Listing struct {
	Root    string           // absolute; names start from there
	Files   []artifacts.File // files, links and empty folders
	Ignored int              // number of files, and of folders with all that is in them, that rules left out
	Bytes   int64

	ignore  bool
	pattern string // "": all
}

// Of lists what a path names: all of a folder, one file, or the files that fit a pattern. With ignore, .gitignore files
// there, and above up to the root of the git repository, apply below the folder, which is taken because it is named.
func Of(where string, ignore bool) (*Listing, error) {
	where, err := filepath.Abs(where)
	if err != nil {
		return nil, err
	}
	l := &Listing{Root: where, ignore: ignore}
	info, err := os.Stat(where)
	if there, rest := split(where); errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(rest, "*?[{") {
		if where, l.pattern = doublestar.SplitPattern(filepath.ToSlash(rest)); !doublestar.ValidatePattern(l.pattern) {
			return nil, fmt.Errorf("the pattern %q cannot be read: it has *, ?, [a-z], {a,b} and **", l.pattern)
		}
		l.Root = filepath.Join(there, filepath.FromSlash(where))
		info, err = os.Stat(l.Root)
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() && l.pattern == "" {
		l.Root = filepath.Dir(where)
		return l, l.file(filepath.Base(where), info)
	}
	var rules []rule
	if ignore {
		if rules, err = rulesAbove(l.Root); err != nil {
			return nil, err
		}
	}
	if err := l.folder("", rules); err != nil {
		return nil, err
	}
	switch {
	case len(l.Files) > 0:
	case l.Ignored > 0:
		return nil, fmt.Errorf("the rules of .gitignore files leave out all that %s has; with ignore = false they do not count", l.Root)
	case l.pattern != "":
		return nil, fmt.Errorf("no file in %s fits %s", l.Root, l.pattern)
	}
	return l, nil
}

// split cuts an absolute path after the folders that exist, in whose names characters of patterns mean nothing special.
func split(where string) (there, rest string) {
	for there = where; ; there = filepath.Dir(there) {
		if _, err := os.Stat(there); err == nil || there == filepath.Dir(there) {
			return there, strings.TrimPrefix(where[len(there):], string(filepath.Separator))
		}
	}
}

// folder adds what is in a folder, by its name from the root.
func (l *Listing) folder(name string, rules []rule) (err error) {
	at := l.Path(name)
	if l.ignore {
		if rules, err = rulesOf(at, rules); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(at)
	if err != nil {
		return err
	}
	for _, e := range entries {
		below := path.Join(name, e.Name())
		if never[e.Name()] || l.pattern != "" && !e.IsDir() && !doublestar.MatchUnvalidated(l.pattern, below) {
			continue
		}
		if ignored(rules, filepath.ToSlash(filepath.Join(at, e.Name())), e.IsDir()) {
			l.Ignored++
			continue
		}
		if e.IsDir() {
			err = l.folder(below, rules)
		} else if info, failed := e.Info(); failed != nil {
			err = failed
		} else {
			err = l.file(below, info)
		}
		if err != nil {
			return err
		}
	}
	if len(entries) == 0 && name != "" && l.pattern == "" { // a folder whose contents are all left out is left out
		return l.add(artifacts.File{Name: name, Digest: artifacts.Empty, Mode: artifacts.Folder})
	}
	return nil
}

// inCache fits the targets of DVC's links, with cache.type = symlink.
var inCache = regexp.MustCompile(`/[0-9a-f]{2}/[0-9a-f]{30}$`)

func (l *Listing) file(name string, info fs.FileInfo) error {
	f := artifacts.File{Name: name, Size: info.Size()}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(l.Path(name))
		if err != nil {
			return err
		}
		if filepath.IsAbs(target) && inCache.MatchString(filepath.ToSlash(target)) { // the link stands for the file
			if info, err = os.Stat(l.Path(name)); err != nil {
				return err
			}
			return l.file(name, info)
		}
		target = strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(target), "./"), "/")
		f.Mode, f.Link, f.Size = artifacts.Link, cmp.Or(target, "."), 0 // a/.. may be elsewhere than .
		if err := artifacts.CheckLink(name, f.Link); err != nil {
			return fmt.Errorf("%s: %w; copy what it leads to, or leave it out by a line in %s", l.Root, err, ignoreFile)
		}
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is a %s, which has no bytes to keep: leave it out by a line in %s", l.Path(name), filetype.Name(info.Mode()), ignoreFile)
	case info.Mode()&0o111 != 0:
		f.Mode = artifacts.Executable
	}
	l.Bytes += f.Size
	return l.add(f)
}

func (l *Listing) add(f artifacts.File) error {
	if err := artifacts.CheckFileName(f.Name); err != nil {
		return fmt.Errorf("%s: %w: rename it, or leave it out by a line in %s", l.Root, err, ignoreFile)
	}
	l.Files = append(l.Files, f)
	return nil
}

// Path returns the path of an entry on this machine.
func (l *Listing) Path(name string) string { return filepath.Join(l.Root, filepath.FromSlash(name)) }

// Tree returns the listing as an artifact, with digests and sizes from hash, of which several calls run at a time.
func (l *Listing) Tree(ctx context.Context, hash func(ctx context.Context, path string) (artifacts.Digest, int64, error)) (artifacts.Artifact, error) {
	g, each := errgroup.WithContext(ctx)
	g.SetLimit(16) // more than processors, since reading and writing wait for disks
	for i := range l.Files {
		f := &l.Files[i]
		if f.Mode != artifacts.Folder && f.Mode != artifacts.Link && each.Err() == nil {
			g.Go(func() (err error) {
				f.Digest, f.Size, err = hash(each, l.Path(f.Name))
				return err
			})
		}
	}
	if err := errors.Join(g.Wait(), context.Cause(ctx)); err != nil {
		return artifacts.Artifact{}, err
	}
	return artifacts.Tree("files", l.Files)
}

// Names returns the names of the files, links included.
func (l *Listing) Names() []string {
	files := lists.Filter(l.Files, func(f artifacts.File) bool { return f.Mode != artifacts.Folder })
	return lists.Map(files, func(f artifacts.File) string { return f.Name })
}

// Names returns the names of the files that Of lists.
func Names(where string, ignore bool) ([]string, error) {
	l, err := Of(where, ignore)
	if err != nil {
		return nil, err
	}
	return l.Names(), nil
}
