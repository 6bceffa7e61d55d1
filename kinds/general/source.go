package general

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/listing"
	"github.com/redsi/redsi/internal/host/tracked"
	"github.com/redsi/redsi/internal/stores/hashed"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// sourceConfig is files as they lie on a machine. The key has the digest of their tree, not where they lie.
type sourceConfig struct {
	Path    string `hcl:"path,nokey" help:"a folder, a file, or a pattern such as data/**/*.csv, relative to the pipeline's file"`
	Ignore  bool   `hcl:"ignore,optional,nokey" help:"whether the rules of .gitignore files leave files out"`
	SHA256  string `hcl:"sha256,optional" help:"digest of the tree in hex, as redsi sources check --json prints it; with it the files need not be here if a store has them. Without it they are hashed when planned"`
	License string `hcl:"license,optional,nokey" help:"licence of the files, such as CC BY-SA 3.0"`
}

var Source = step.Define(step.Kind[sourceConfig]{
	Name:    "source",
	Version: 1,
	Block:   true,
	Doc: `Take files of this machine as they lie: a folder, one file, or all that match a pattern.
Names, bytes, x bits, symbolic links within the folder and empty folders are kept, and are
what the key is made of. A pattern has *, ? and [a-z] within one part of a name, and ** for
any number of folders; names begin after the folders in front of the first of these.
.gitignore files, in the folder and above it in its git repository, leave out what they say,
but never the folder itself, which is named; .git and .redsi never come in. Links that lead
out of the folder, pipes and devices are errors. What is not here, and tracked by DVC in
NAME.dvc or dvc.lock, is read from DVC's cache or remote by the recorded MD5s, which are
checked, once. Cost: planning reads each file once, and of
unchanged files only times and sizes; the step copies the bytes that the store lacks.`,
	Example: `source "raw" {
  path = "data/raw"
}`,
	Outputs:  []step.Output{{Name: "files", Type: "files", Tree: true, Help: "the files, by name"}},
	Defaults: sourceConfig{Ignore: true},
	Check: inout.Checks(func(c sourceConfig, ps *step.Problems) {
		inout.Check(ps, "path", c.Path != "", "is empty; the folder of the pipeline's file is \".\"")
		inout.Check(ps, "path", !strings.Contains(c.Path, "://"), "is a path of this machine; a download step takes URLs")
		if c.SHA256 != "" && !isRecorded(c.SHA256) {
			checkHex(ps, "sha256", c.SHA256)
		}
	}),
	Resolve: resolveSourceFolder,
	Run:     runSource,
})

// resolveSourceFolder fills in the tree's digest or, where it is not here, DVC's record; the path becomes absolute.
func resolveSourceFolder(ctx context.Context, env step.Sources, c sourceConfig) (sourceConfig, error) {
	f, err := env.LocalTree(ctx, c.Path, c.Ignore)
	gone := errors.Is(err, fs.ErrNotExist)
	if gone && f.Source != "" {
		d, err := tracked.Of(f.Source)
		if err != nil {
			return c, err
		}
		if d != nil {
			c.Path = f.Source
			if c.SHA256 == "" || isRecorded(c.SHA256) {
				c.SHA256 = d.Key()
			}
		}
	}
	switch {
	case gone && c.SHA256 != "":
		return c, nil // the store may have it although the files are elsewhere
	case gone:
		return c, fmt.Errorf("%w; where others have the files in a store, sha256 stands for them", err)
	case err != nil:
		return c, err
	case c.SHA256 != "" && c.SHA256 != f.Tree.Digest.Hex():
		return c, fmt.Errorf("%s has the tree %s, not %s, which sha256 says", c.Path, f.Tree.Digest.Hex(), c.SHA256)
	}
	c.Path, c.SHA256 = f.Source, f.Tree.Digest.Hex()
	return c, nil
}

func runSource(ctx context.Context, x *step.IO, c sourceConfig) error {
	l, put, err := sourceFiles(ctx, x, c)
	var done atomic.Int64
	var tree artifacts.Artifact
	if err == nil {
		tree, err = l.Tree(ctx, func(ctx context.Context, path string) (artifacts.Digest, int64, error) {
			f, err := put(ctx, path)
			x.Report(step.Progress{Done: done.Add(f.Size), Total: l.Bytes, Unit: "bytes", Note: filepath.Base(path)})
			return f.Digest, f.Size, err
		})
	}
	if _, is := errors.AsType[*tracked.Error](err); is {
		return step.Permanent(err)
	}
	if err != nil {
		return err
	}
	if !isRecorded(c.SHA256) && tree.Digest.Hex() != c.SHA256 {
		return &step.SourceChangedError{Path: l.Root, Err: fmt.Errorf("%s has the tree %s, and %s was planned: wait until it is no longer being written; plan and run again", c.Path, tree.Digest.Hex(), c.SHA256)}
	}
	if slices.Contains(tree.Blobs(), artifacts.Empty) { // the content of folders
		if _, err := x.PutFile(ctx, "", strings.NewReader("")); err != nil {
			return err
		}
	}
	x.Count("files", int64(len(tree.Files)))
	x.Count("bytes", tree.Size)
	if l.Ignored > 0 {
		x.Count("ignored", int64(l.Ignored))
	}
	return x.Link("files", tree)
}

// sourceFiles lists a source's files, and returns what stores each: from where it lies, or from where DVC keeps it.
func sourceFiles(ctx context.Context, x *step.IO, c sourceConfig) (*listing.Listing, func(ctx context.Context, path string) (artifacts.File, error), error) {
	l, err := listing.Of(c.Path, c.Ignore)
	if err == nil && !isRecorded(c.SHA256) {
		return l, func(ctx context.Context, path string) (artifacts.File, error) { return putLacking(ctx, x, path) }, nil
	}
	d, failed := tracked.Of(c.Path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, nil, step.Permanent(err)
	case failed != nil:
		return nil, nil, step.Permanent(failed)
	case isRecorded(c.SHA256) && (d == nil || d.Key() != c.SHA256):
		return nil, nil, &step.SourceChangedError{Path: c.Path, Err: fmt.Errorf("on this worker DVC has no record %[2]s of %[1]s, or no longer: plan and run again where it has one", c.Path, c.SHA256)}
	case d == nil:
		return nil, nil, step.Permanent(fmt.Errorf("%w on this worker: run the step where the files are, or give the worker a store that has its result", err))
	}
	l, err = d.List(ctx)
	return l, func(ctx context.Context, path string) (artifacts.File, error) {
		in, err := d.Open(ctx, path)
		if err != nil {
			return artifacts.File{}, err
		}
		defer in.Close()
		return x.PutFile(ctx, path, in)
	}, err
}

// isRecorded reports whether DVC's record stands for the tree's digest, which nobody knows yet.
func isRecorded(sum string) bool { return strings.HasPrefix(sum, tracked.Mark) }

// putLacking hashes a file, and stores it unless a store has its bytes.
func putLacking(ctx context.Context, x *step.IO, path string) (artifacts.File, error) {
	d, seen, err := hashed.Digest(ctx, path, nil)
	if err != nil {
		return artifacts.File{}, err
	}
	if has, err := x.Has(ctx, d); has || err != nil {
		return artifacts.File{Digest: d, Size: seen.Size}, err
	}
	in, err := os.Open(path)
	if err != nil {
		return artifacts.File{}, err
	}
	defer in.Close()
	return x.PutFile(ctx, path, in)
}
