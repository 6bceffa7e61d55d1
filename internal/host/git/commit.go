package git

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/system/lists"
)

// Commit is the files of a commit of the repository that a folder is in.
type Commit struct {
	ID string

	folder  string   // in which it was opened
	tops    []string // the working tree's folder, in the forms with which given paths may begin
	files   map[string]file
	folders map[string][]string // names of files by folder, "." for the top
}

type file struct {
	id   string
	size int64
	link bool
}

// Resolve returns the id of a revision's commit in the repository of a folder.
func Resolve(ctx context.Context, folder, revision string) (string, error) {
	return Run(ctx, "-C", folder, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
}

// MergeBase returns the newest common ancestor of two commits.
func MergeBase(ctx context.Context, folder, a, b string) (string, error) {
	id, err := Run(ctx, "-C", folder, "merge-base", a, b)
	if err != nil {
		return "", fmt.Errorf("the commits have no common ancestor here, perhaps because the clone is shallow: %w", err)
	}
	return id, nil
}

// Open lists the files of the commit with an id.
func Open(ctx context.Context, folder, id string) (*Commit, error) {
	top, err := Run(ctx, "-C", folder, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	prefix, err := Run(ctx, "-C", folder, "rev-parse", "--show-prefix")
	if err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	c := &Commit{ID: id, folder: folder, tops: []string{top}, files: map[string]file{}, folders: map[string][]string{}}
	if linked, ok := strings.CutSuffix(abs, strings.TrimSuffix("/"+prefix, "/")); ok && linked != top { // through a link
		c.tops = append(c.tops, linked)
	}
	var out bytes.Buffer
	if err := To(ctx, &out, nil, "-C", folder, "ls-tree", "-r", "-l", "-z", "--full-tree", id); err != nil {
		return nil, err
	}
	for line := range strings.SplitSeq(out.String(), "\x00") {
		head, name, ok := strings.Cut(line, "\t")
		f := strings.Fields(head)
		if !ok || len(f) != 4 || f[1] != "blob" { // a commit is a submodule: its files are not in this repository
			continue
		}
		size, err := strconv.ParseInt(f[3], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("git lists %q", line)
		}
		c.files[name] = file{f[2], size, f[0] == "120000"}
		c.folders[path.Dir(name)] = append(c.folders[path.Dir(name)], name)
	}
	return c, nil
}

// inside returns a path's name in the commit, which may lack that file; ok is false for a path outside the repository.
func (c *Commit) inside(name string) (string, bool) {
	if abs, err := filepath.Abs(filepath.FromSlash(name)); err == nil {
		for _, top := range c.tops {
			if in, err := filepath.Rel(top, abs); err == nil && filepath.IsLocal(in) {
				return filepath.ToSlash(in), true
			}
		}
	}
	return "", false
}

// Covers reports whether a path is in the working tree of the commit's repository.
func (c *Commit) Covers(name string) bool {
	_, ok := c.inside(name)
	return ok
}

// find returns a file, by links of files and folders within the commit.
func (c *Commit) find(name string) (file, bool) {
	in, ok := c.inside(name)
	for range 8 { // links on the way
		if !ok {
			return file{}, false
		}
		f, there := c.files[in]
		at := in
		for !there && at != "." { // a folder on the way may be a link
			at = path.Dir(at)
			f, there = c.files[at]
		}
		if !there || at != in && !f.link {
			return file{}, false
		}
		if !f.link {
			return f, true
		}
		to, err := c.blob(context.Background(), f)
		if err != nil || path.IsAbs(string(to)) {
			return file{}, false
		}
		in = path.Join(path.Dir(at), string(to), strings.TrimPrefix(strings.TrimPrefix(in, at), "/"))
		ok = filepath.IsLocal(filepath.FromSlash(in))
	}
	return file{}, false
}

// Has reports whether the commit has a file at a path.
func (c *Commit) Has(name string) bool {
	_, ok := c.find(name)
	return ok
}

// List returns the names of the files in a folder, sorted.
func (c *Commit) List(folder string) []string {
	in, ok := c.inside(folder)
	if !ok {
		return nil
	}
	names := lists.Map(c.folders[in], path.Base)
	slices.Sort(names)
	return names
}

// Below returns the names, relative to a folder, of all files below it, sorted.
func (c *Commit) Below(folder string) (names []string) {
	in, ok := c.inside(folder)
	for name := range c.files {
		if below, err := filepath.Rel(in, name); ok && err == nil && filepath.IsLocal(below) {
			names = append(names, filepath.ToSlash(below))
		}
	}
	slices.Sort(names)
	return names
}

// Read returns the bytes of a file, which may have at most so many.
func (c *Commit) Read(ctx context.Context, name string, most int64) ([]byte, error) {
	f, ok := c.find(name)
	switch {
	case !ok:
		return nil, fmt.Errorf("%s in commit %.12s: %w", name, c.ID, fs.ErrNotExist)
	case f.size > most:
		return nil, fmt.Errorf("%s in commit %.12s has more than %d bytes, the most that a pipeline can hold", name, c.ID, most)
	}
	b, err := c.blob(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("%s in commit %.12s: %w", name, c.ID, err)
	}
	return b, nil
}

func (c *Commit) blob(ctx context.Context, f file) ([]byte, error) {
	var b bytes.Buffer
	err := To(ctx, &b, nil, "-C", c.folder, "cat-file", "blob", f.id)
	return b.Bytes(), err
}

// Digest returns the SHA-256 and the size of a file; for a file in Git LFS from its pointer.
func (c *Commit) Digest(ctx context.Context, name string) (sum [sha256.Size]byte, size int64, err error) {
	f, ok := c.find(name)
	if !ok {
		return sum, 0, fmt.Errorf("%s in commit %.12s: %w", name, c.ID, fs.ErrNotExist)
	}
	if f.size <= pointerMost {
		b, err := c.blob(ctx, f)
		if err != nil {
			return sum, 0, err
		}
		if sum, size, ok := Pointer(b); ok {
			return sum, size, nil
		}
		return sha256.Sum256(b), f.size, nil
	}
	h := sha256.New()
	if err := To(ctx, h, nil, "-C", c.folder, "cat-file", "blob", f.id); err != nil {
		return sum, 0, fmt.Errorf("%s in commit %.12s: %w", name, c.ID, err)
	}
	return [sha256.Size]byte(h.Sum(nil)), f.size, nil
}

const pointerMost = 1024

// Pointer reads a Git LFS pointer.
func Pointer(b []byte) (sum [sha256.Size]byte, size int64, ok bool) {
	rest, ok := strings.CutPrefix(string(b), "version https://git-lfs.github.com/spec/v1\n")
	if !ok || len(b) > pointerMost {
		return sum, 0, false
	}
	hasSum, hasSize := false, false
	for line := range strings.Lines(rest) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch key {
		case "oid":
			digits, sha := strings.CutPrefix(value, "sha256:")
			d, err := hex.DecodeString(digits)
			if hasSum = sha && err == nil && len(d) == len(sum); hasSum {
				copy(sum[:], d)
			}
		case "size":
			n, err := strconv.ParseInt(value, 10, 64)
			size, hasSize = n, err == nil && n >= 0
		}
	}
	return sum, size, hasSum && hasSize
}
