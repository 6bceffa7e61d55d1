package listing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/sync/errgroup"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/filetype"
)

// never are names that come in nowhere: what git and redsi keep beside files.
var never = map[string]bool{".git": true, ".redsi": true}

// Listing is what was found in a folder. Its files have no digests yet.
type Listing struct {
	Root    string           // absolute; names start from there
	Files   []artifacts.File // files, links and empty folders
	Ignored int              // files, and folders with all that is in them, that rules left out
	Bytes   int64
}

// Of lists what a path names: all of a folder, one file, or the files that fit a pattern. With
// ignore, the rules of .gitignore files there, and above as far as the git repository goes,
// leave out what they say below the folder, which is meant itself because it is named.
func Of(where string, ignore bool) (*Listing, error) {
	where, err := filepath.Abs(where)
	if err != nil {
		return nil, err
	}
	pattern := ""
	info, err := os.Stat(where)
	if errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(where, "*?[{") {
		if where, pattern = doublestar.SplitPattern(filepath.ToSlash(where)); !doublestar.ValidatePattern(pattern) {
			return nil, fmt.Errorf("the pattern %q cannot be read: it has *, ?, [a-z], {a,b} and **", pattern)
		}
		where = filepath.FromSlash(where)
		info, err = os.Stat(where)
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() && pattern == "" {
		l := &Listing{Root: filepath.Dir(where)}
		return l, l.file(filepath.Base(where), info)
	}
	w := &walk{Listing: Listing{Root: where}, ignore: ignore, pattern: pattern}
	var rules []rule
	if ignore {
		if rules, err = rulesAbove(where); err != nil {
			return nil, err
		}
	}
	if err := w.folder("", rules); err != nil {
		return nil, err
	}
	switch {
	case len(w.Files) > 0:
	case w.Ignored > 0:
		return nil, fmt.Errorf("the rules of .gitignore files leave out all that %s has; with ignore = false they do not count", where)
	case pattern != "":
		return nil, fmt.Errorf("no file in %s fits %s", where, pattern)
	}
	return &w.Listing, nil
}

type walk struct {
	Listing
	ignore  bool
	pattern string
}

// folder adds what is in a folder, by its name from the root.
func (w *walk) folder(name string, rules []rule) (err error) {
	at := filepath.Join(w.Root, filepath.FromSlash(name))
	if w.ignore {
		if rules, err = rulesOf(at, rules); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(at)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if never[e.Name()] {
			continue
		}
		below := path.Join(name, e.Name())
		if w.pattern != "" && !e.IsDir() && !doublestar.MatchUnvalidated(w.pattern, below) {
			continue
		}
		if w.ignore && ignored(rules, filepath.ToSlash(filepath.Join(at, e.Name())), e.IsDir()) {
			w.Ignored++
			continue
		}
		if e.IsDir() {
			if err := w.folder(below, rules); err != nil {
				return err
			}
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if err := w.file(below, info); err != nil {
			return err
		}
	}
	if len(entries) == 0 && name != "" && w.pattern == "" { // one of which all is left out is left out
		return w.add(artifacts.File{Name: name, Digest: artifacts.Empty, Mode: artifacts.Folder})
	}
	return nil
}

// file adds a file or link.
func (l *Listing) file(name string, info fs.FileInfo) error {
	f := artifacts.File{Name: name, Size: info.Size()}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(l.Path(name))
		if err != nil {
			return err
		}
		f.Mode, f.Link, f.Size = artifacts.Link, filepath.ToSlash(target), 0
		if tidy := path.Clean(f.Link); strings.Count(tidy, "..") == strings.Count(f.Link, "..") { // a/.. may be elsewhere than .
			f.Link = tidy
		}
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

// Path is where an entry is on this machine.
func (l *Listing) Path(name string) string { return filepath.Join(l.Root, filepath.FromSlash(name)) }

// atOnce is how many files are read at a time: reading waits for disks, writing for syncs.
const atOnce = 16

// Each calls do for each file, several at a time; not for links and folders.
func (l *Listing) Each(ctx context.Context, do func(ctx context.Context, f *artifacts.File) error) error {
	g, each := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i := range l.Files {
		f := &l.Files[i]
		if f.Mode != artifacts.Folder && f.Mode != artifacts.Link && each.Err() == nil {
			g.Go(func() error { return do(each, f) })
		}
	}
	return errors.Join(g.Wait(), context.Cause(ctx))
}

// Tree is the listing as an artifact, each file's digest and size being what hash says.
func (l *Listing) Tree(ctx context.Context, hash func(ctx context.Context, path string) (artifacts.Digest, int64, error)) (artifacts.Artifact, error) {
	err := l.Each(ctx, func(ctx context.Context, f *artifacts.File) (err error) {
		f.Digest, f.Size, err = hash(ctx, l.Path(f.Name))
		return err
	})
	if err != nil {
		return artifacts.Artifact{}, err
	}
	return artifacts.TreeOf("files", l.Files)
}

// Names are those of the files that a path names, links among them.
func Names(where string, ignore bool) ([]string, error) {
	l, err := Of(where, ignore)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range l.Files {
		if f.Mode != artifacts.Folder {
			names = append(names, f.Name)
		}
	}
	return names, nil
}
