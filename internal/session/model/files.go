package model

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/ranking/search"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/internal/system/words"
)

// Copies are where local copies are kept, and who is told of what takes long.
type Copies struct {
	Cache string // folder
	Log   *slog.Logger
}

// Files are verified local files of a model, its tokenizer and identifiers. done removes the model's folder.
func (t *Trained) Files(ctx context.Context, at Copies) (f search.Files, done func(), err error) {
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
func (at Copies) file(ctx context.Context, store *artifacts.Resolver, art artifacts.Artifact) (string, error) {
	d := art.Digest
	if art.Files != nil {
		if len(art.Files) != 1 {
			return "", fmt.Errorf("it must be a single file, but is %d files", len(art.Files))
		}
		d = art.Files[0].Digest
	}
	return local.Fetch(ctx, store, d, at.Cache)
}

// stage links verified local files into a folder under their names in a tree.
func (at Copies) stage(ctx context.Context, store *artifacts.Resolver, tree artifacts.Artifact, folder string) error {
	for _, file := range tree.Files {
		path, err := local.Fetch(ctx, store, file.Digest, at.Cache)
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

// cardsFormat changes when the same texts would give different cards.
const cardsFormat = "redsi-cards/1"

// Cards are the titles and first words of a model's documents, made once from verified texts, in minutes, and cached.
func (t *Trained) Cards(ctx context.Context, at Copies) ([]search.Card, error) {
	corpus, err := t.Input("corpus")
	if err != nil {
		return nil, err
	}
	documents, titled, err := t.documents()
	if err != nil {
		return nil, err
	}
	name := sha256.Sum256(fmt.Append(nil, cardsFormat, corpus.Digest, documents.Digest))
	path := filepath.Join(at.Cache, "cards", fmt.Sprintf("%x", name))
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		kept, err := search.KeptCards(f)
		if err == nil {
			return kept, nil
		}
		at.Log.Warn("cached titles and first words cannot be read and are made again", "path", path, "err", err)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	at.Log.Info("reading the collection's texts for titles and first words, which are cached", "size", words.Size(corpus.Size))
	texts, err := t.Open(ctx, at, corpus)
	if err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	defer texts.Close()
	var titles io.Reader
	if titled {
		r, err := t.Open(ctx, at, documents)
		if err != nil {
			return nil, fmt.Errorf("documents: %w", err)
		}
		defer r.Close()
		titles = r
	}
	cards, err := search.ReadCards(texts, titles)
	if err != nil {
		return nil, err
	}
	return cards, atomicfile.Write(path, 0o644, func(w io.Writer) error { return search.WriteCards(w, cards) })
}

// Open reads a single-file artifact, verified, until ctx ends.
func (t *Trained) Open(ctx context.Context, at Copies, art artifacts.Artifact) (io.ReadCloser, error) {
	path, err := at.file(ctx, t.store, art)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return readers.Closing(readers.WithContext(ctx, f), f), nil
}

// Examples are questions for the page to suggest, which the model was not trained on.
func (t *Trained) Examples(ctx context.Context, at Copies) ([]string, error) {
	art, err := t.Input("queries")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Address, err)
	}
	r, err := t.Open(ctx, at, art)
	if err != nil {
		return nil, fmt.Errorf("%s: queries: %w", t.Address, err)
	}
	defer r.Close()
	return search.Examples(r, 6)
}
