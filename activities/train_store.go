package activities

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/step"
	"github.com/redsi/redsi/internal/train"
)

// folderCheckpoints keeps folders of files as a step's checkpoints: what train
// writes, found by any worker that runs the same key.
type folderCheckpoints struct{ kept step.Checkpoints }

// Save stores every file below folder and files them together.
func (c folderCheckpoints) Save(ctx context.Context, n int64, folder string) error {
	files := map[string]artifacts.File{}
	err := eachFile(folder, func(name string, in io.Reader) (err error) {
		files[name], err = c.kept.Put(ctx, name, in)
		return err
	})
	if err != nil {
		return err
	}
	return c.kept.Save(ctx, n, files)
}

// Latest writes a checkpoint's files into folder, which it makes anew, for use to read.
func (c folderCheckpoints) Latest(ctx context.Context, folder string, use func(n int64) error) (bool, error) {
	return c.kept.Latest(ctx, func(n int64, files map[string]artifacts.File) error {
		if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755)); err != nil {
			return err
		}
		for name, f := range files {
			if err := c.fetch(ctx, f, folder, name); err != nil {
				return err
			}
		}
		err := use(n)
		if unfit := new(train.UnfitError); errors.As(err, &unfit) {
			return step.Unfit(err)
		}
		return err
	})
}

func (c folderCheckpoints) fetch(ctx context.Context, f artifacts.File, folder, name string) error {
	r, err := c.kept.Open(ctx, f)
	if err != nil {
		return err
	}
	return errors.Join(artifacts.Place(folder, name, 0o644, r), r.Close())
}

// eachFile visits the open files below a folder by their slash-separated names, in
// lexical order.
func eachFile(folder string, visit func(name string, in io.Reader) error) error {
	return filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer in.Close()
		return visit(filepath.ToSlash(rel), in)
	})
}

// copyFolder makes every file below folder one of a tree output.
func copyFolder(ctx context.Context, x *step.IO, output, folder string) error {
	return eachFile(folder, func(name string, in io.Reader) error {
		f, err := x.PutFile(ctx, name, in)
		if err != nil {
			return err
		}
		return x.LinkFile(output, f)
	})
}

// stageTree gives a tree input as a folder of files with their own names, linked
// from verified local files: those named, or all of them.
func stageTree(x *step.IO, in step.Input, names ...string) (string, error) {
	folder, err := x.Scratch()
	if err != nil {
		return "", err
	}
	for _, f := range x.Files(in, "file") {
		if len(names) > 0 && !slices.Contains(names, f.Name) {
			continue
		}
		src, err := x.Path(f.Digest)
		if err != nil {
			return "", err
		}
		if err := artifacts.Link(folder, f.Name, src); err != nil {
			return "", err
		}
	}
	return folder, nil
}
