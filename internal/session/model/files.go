package model

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/ranking/search"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/words"
)

// Place is where local copies are kept, and who is told of what takes long.
type Place struct {
	Cache string // folder
	Log   *slog.Logger
}

// Files are verified local files of a model, its tokenizer and identifiers. done removes
// the folder with the model's files.
func (t *Trained) Files(ctx context.Context, at Place) (f search.Files, done func(), err error) {
	for name, path := range map[string]*string{"ids": &f.IDs, "tokenizer": &f.Tokenizer} {
		art, err := t.Input(name)
		if err != nil {
			return f, nil, err
		}
		if *path, err = at.file(ctx, t.store, art); err != nil {
			return f, nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	f.Model, err = os.MkdirTemp("", "redsi-model-")
	if err != nil {
		return f, nil, err
	}
	done = func() {
		if err := os.RemoveAll(f.Model); err != nil {
			at.Log.Warn("a temporary folder was left behind", "path", f.Model, "err", err)
		}
	}
	if err := at.stage(ctx, t.store, t.result().Outputs["model"], f.Model); err != nil {
		done()
		return f, nil, fmt.Errorf("model: %w", err)
	}
	return f, done, nil
}

// file is a verified local file of a single-file artifact.
func (at Place) file(ctx context.Context, store artifacts.Store, art artifacts.Artifact) (string, error) {
	d := art.Digest
	if art.Files != nil {
		if len(art.Files) != 1 {
			return "", fmt.Errorf("it must be a single file, but is %d files", len(art.Files))
		}
		d = art.Files[0].Digest
	}
	return local.Fetch(ctx, store.Blobs, d, at.Cache)
}

// stage links verified local files into a folder under their names in a tree.
func (at Place) stage(ctx context.Context, store artifacts.Store, tree artifacts.Artifact, folder string) error {
	for _, file := range tree.Files {
		path, err := local.Fetch(ctx, store.Blobs, file.Digest, at.Cache)
		if err != nil {
			return err
		}
		if err := local.Link(folder, file.Name, path); err != nil {
			return err
		}
	}
	return nil
}

// Present reports, before anything is fetched, if the requested card does not exist.
func Present(name string, look func() (device.CUDA, error)) error {
	number, ok := strings.CutPrefix(name, "cuda")
	if !ok {
		return nil
	}
	c, err := look()
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(cmp.Or(strings.TrimPrefix(number, ":"), "0"))
	switch {
	case c.Cards == 0:
		return fault.Input(fmt.Errorf("--device %s: no card found: %s", name, c.Why))
	case err != nil || n >= c.Cards:
		return fault.Input(fmt.Errorf("--device %s: this process has %s, from cuda:0 on; CUDA_VISIBLE_DEVICES may hide others", name, words.Count(c.Cards, "card")))
	}
	return nil
}
