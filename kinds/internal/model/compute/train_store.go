package compute

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/model/train"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// folderCheckpoints keeps folders of files as a step's checkpoints: what train
// writes, found by any worker that runs the same key.
type folderCheckpoints struct{ kept step.Checkpoints }

// Save stores every file below folder and files them together.
func (c folderCheckpoints) Save(ctx context.Context, n int64, folder string) error {
	files := map[string]artifacts.File{}
	err := inout.EachFile(folder, func(name string, in io.Reader) (err error) {
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
			r, err := c.kept.Open(ctx, f)
			if err == nil {
				err = errors.Join(local.Create(folder, name, 0o644, r), r.Close())
			}
			if err != nil {
				return err
			}
		}
		err := use(n)
		if beyond := new(train.BeyondError); errors.As(err, &beyond) {
			return step.Beyond(err)
		}
		if unfit := new(train.UnfitError); errors.As(err, &unfit) {
			return step.Unfit(err)
		}
		return err
	})
}
