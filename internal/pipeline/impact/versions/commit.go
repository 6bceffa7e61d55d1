// Package versions reads a pipeline as it was in a commit, from git's objects: nothing is checked out. Files that the commit
// lacks are read from this machine, and named. It must not know how a pipeline is evaluated or planned.
package versions

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/git"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
)

// Files are a pipeline's files in a commit, and files of this machine that the commit lacks.
type Files struct {
	commit *git.Commit
	ctx    context.Context
	here   map[string]bool // what was read from this machine
	cache  string          // of modules, which have commits of their own
}

const maxLock = 64 << 20

// Open opens a commit of a folder's repository. cache is the folder of fetched modules.
func Open(ctx context.Context, folder, id, cache string) (*Files, error) {
	c, err := git.Open(ctx, folder, id)
	if err != nil {
		return nil, err
	}
	return &Files{c, ctx, map[string]bool{}, cache}, nil
}

// ReadFile reads a file for an expression or as the lock file.
func (c *Files) ReadFile(name string) ([]byte, error) {
	most := int64(syntax.MaxFile)
	if path.Base(filepath.ToSlash(name)) == lockfile.Name {
		most = maxLock
	}
	if !c.commit.Has(name) {
		if most == maxLock && (inCache(c.cache, name) || !c.commit.Covers(name)) { // a module's
			return os.ReadFile(name)
		} else if most == maxLock {
			return nil, fs.ErrNotExist // today's lock file is not the commit's
		}
		b, err := syntax.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("neither commit %.12s nor this machine has it: %w", c.commit.ID, err)
		}
		c.here[name] = true
		return b, nil
	}
	b, err := c.commit.Read(c.ctx, name, most)
	if err != nil {
		return nil, err
	}
	sum, _, kept := git.Pointer(b)
	if !kept {
		return b, nil
	}
	if now, err := syntax.ReadFile(name); err == nil && artifacts.Sum(now) == artifacts.Digest(sum) {
		return now, nil
	}
	return nil, fmt.Errorf("commit %.12s has only a Git LFS pointer for %s, and the file here has different bytes", c.commit.ID, name)
}

// Pipeline is what syntax.Read has of a path, in the commit.
func (c *Files) Pipeline(name string) (map[string][]byte, error) {
	clean := filepath.ToSlash(filepath.Clean(name))
	names := []string{clean}
	folder, isFolder := syntax.Folder(clean)
	if !c.commit.Has(clean) {
		folder, isFolder = clean, true
	}
	if isFolder {
		parts := lists.Filter(c.commit.List(folder), syntax.IsPart)
		names = lists.Map(parts, func(f string) string { return path.Join(filepath.ToSlash(folder), f) })
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("commit %.12s has no pipeline %s", c.commit.ID, name)
	}
	files := map[string][]byte{}
	for _, f := range names {
		b, err := c.commit.Read(c.ctx, f, syntax.MaxFile)
		if err != nil {
			return nil, err
		}
		files[f] = b
	}
	return files, nil
}

// Module reads modules for pipeline.Options: from the commit where it has them, else by open.
func (c *Files) Module(open func(ctx context.Context, folder, source string) (map[string][]byte, error)) func(folder, source string) (map[string][]byte, error) {
	return func(folder, source string) (map[string][]byte, error) {
		at := syntax.Beside(folder, source)
		if found, err := c.Pipeline(at); declare.IsLocalModule(source) && err == nil {
			return found, nil
		}
		found, err := open(c.ctx, folder, source)
		if err == nil && declare.IsLocalModule(source) && !inCache(c.cache, at) {
			c.here[at] = true
		}
		return found, err
	}
}

// LocalFile is the digest of a file in the commit, else on this machine, as here finds it. Relative names start from base.
func (c *Files) LocalFile(ctx context.Context, base, name string, here func(ctx context.Context, name string) (step.Pin, error)) (step.Pin, error) {
	full := name
	if !filepath.IsAbs(full) {
		full = filepath.Join(base, name)
	}
	if !c.commit.Has(full) {
		pin, err := here(ctx, name)
		if err == nil && !filepath.IsAbs(name) {
			c.here[filepath.ToSlash(full)] = true
		}
		return pin, err
	}
	abs, err := filepath.Abs(full)
	if err != nil {
		return step.Pin{}, err
	}
	sum, size, err := c.commit.Digest(ctx, full)
	return step.Pin{Source: abs, SHA256: artifacts.Digest(sum), Size: size}, err
}

// Listing is language.List of a folder in the commit or, if that has no such file, on this machine.
func (c *Files) Listing(folder, pattern string) ([]string, error) {
	below := c.commit.Below(folder)
	if len(below) == 0 {
		c.here[folder] = true
		return language.List(folder, pattern)
	}
	return slices.DeleteFunc(below, func(name string) bool {
		return !language.Matches(pattern, name) || !c.commit.Has(path.Join(filepath.ToSlash(folder), name))
	}), nil
}

// FromHere are the files that were read from this machine, sorted.
func (c *Files) FromHere() []string { return slices.Sorted(maps.Keys(c.here)) }

// inCache reports whether a path belongs to a fetched module.
func inCache(cache, name string) bool {
	in, err := filepath.Rel(cache, filepath.FromSlash(name))
	return err == nil && filepath.IsLocal(in)
}
