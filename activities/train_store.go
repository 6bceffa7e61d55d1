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
)

// folderCheckpoints keeps folders of files as a step's checkpoints: what train
// writes, found by any worker that runs the same key.
type folderCheckpoints struct{ x *step.IO }

// Save stores every file below folder and files them together.
func (c folderCheckpoints) Save(ctx context.Context, n int64, folder string) error {
	kept, files := c.x.Checkpoints(), map[string]artifacts.File{}
	err := eachFile(folder, func(name string, in io.Reader) (err error) {
		files[name], err = kept.Put(ctx, name, in)
		return err
	})
	if err != nil {
		return err
	}
	return kept.Save(ctx, n, files)
}

// Latest writes the newest checkpoint's files into folder.
func (c folderCheckpoints) Latest(ctx context.Context, folder string) (int64, bool, error) {
	n, files, ok, err := c.x.Checkpoints().Latest(ctx)
	if err != nil || !ok {
		return 0, false, err
	}
	for name, f := range files {
		if err := c.fetch(ctx, f, folder, name); err != nil {
			return 0, false, err
		}
	}
	return n, true, nil
}

func (c folderCheckpoints) fetch(ctx context.Context, f artifacts.File, folder, name string) error {
	r, err := c.x.Checkpoints().Open(ctx, f)
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
