package model

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/ranking/search"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/internal/system/words"
)

// cardsFormat changes when the same texts would give different cards.
const cardsFormat = "redsi-cards/1"

// Cards are the titles and first words of a model's documents. They are made once from the
// verified texts, which takes minutes for a large collection, and kept in the cache folder.
func (t *Trained) Cards(ctx context.Context, at Place) ([]search.Card, error) {
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
func (t *Trained) Open(ctx context.Context, at Place, art artifacts.Artifact) (io.ReadCloser, error) {
	path, err := at.file(ctx, t.store, art)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{readers.WithContext(ctx, f), f}, nil
}

// Examples are questions for the page to suggest, which the model was not trained on.
func (t *Trained) Examples(ctx context.Context, place Place) ([]string, error) {
	art, err := t.Input("queries")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Address, err)
	}
	r, err := t.Open(ctx, place, art)
	if err != nil {
		return nil, fmt.Errorf("%s: queries: %w", t.Address, err)
	}
	defer r.Close()
	return search.Examples(r, 6)
}
