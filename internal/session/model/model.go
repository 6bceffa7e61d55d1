// Package model finds trained models among a pipeline's results, gets verified local files and the titles and first words of the
// documents, and opens the process that searches. It must not know flags.
package model

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
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
	"github.com/redsi/redsi/internal/host/compute"
	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/ranking/search"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

// trainKind is the kind of the steps whose results can be searched.
const trainKind = "train"

// Trained is a train step of the pipeline with its index in a preview.
type Trained struct {
	Address string
	at      int // in Preview.Plan.Steps and Preview.Items
	preview *plan.Preview
	store   *artifacts.Resolver
	cache   string // folder for local copies
	log     *slog.Logger
}

// Of finds the one train step with a result that a target selects ("": of all).
func Of(ctx context.Context, se *session.Session, target string) (*Trained, error) {
	p, err := se.Load(ctx)
	if err != nil {
		return nil, err
	}
	se.Targets = nil
	if target != "" {
		se.Targets = []string{target}
	}
	if _, err := plan.Build(se.File, p, se.Registry, se.Targets); err != nil { // checks that the target names something
		return nil, se.TargetError(err)
	}
	if se.Targets, err = steps(p, target); err != nil {
		return nil, fault.Input(err)
	}
	v, err := se.PreviewTargets(ctx, p, se.Targets, session.Everything)
	if err != nil {
		return nil, err
	}
	var found []*Trained
	for i, s := range v.Plan.Steps {
		if s.Task.Kind == trainKind && v.Items[i].Result != nil {
			found = append(found, &Trained{s.Address, i, v.Preview, v.Store, se.CacheDir(), se.Log})
		}
	}
	switch first := se.ToRun(se.Targets[0]); {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, choice(ctx, found)
	case len(se.Targets) == 1:
		return nil, fmt.Errorf("%s is not trained yet: %s", se.Targets[0], first)
	default:
		return nil, fmt.Errorf("none of these is trained yet; `%s` trains the first:\n%s", first, lines(se.Targets))
	}
}

// steps are the addresses of the train steps that a target selects; "": all.
func steps(p *pipeline.Pipeline, target string) ([]string, error) {
	var all, chosen, others []string
	for _, s := range p.Steps {
		selected := target == "" || plan.Matches(target, s.Address)
		switch {
		case s.Kind != trainKind && selected:
			others = append(others, s.Kind)
		case s.Kind == trainKind:
			if all = append(all, s.Address); selected {
				chosen = append(chosen, s.Address)
			}
		}
	}
	switch {
	case len(all) == 0:
		return nil, errors.New("the pipeline has no step of kind train, so there is no model to search")
	case len(chosen) == 0:
		return nil, fmt.Errorf("--model %s is a step of kind %s, not train; the train steps are:\n%s", target, others[0], lines(all))
	}
	return chosen, nil
}

const mostListed = 20

func lines(items []string) string {
	more := ""
	if n := len(items) - mostListed; n > 0 {
		items, more = items[:mostListed], fmt.Sprintf("\n  and %d more", n)
	}
	return "  " + strings.Join(items, "\n  ") + more
}

func choice(ctx context.Context, found []*Trained) error {
	items := make([]string, len(found))
	for i, t := range found {
		quality, err := t.quality(ctx)
		if err != nil {
			return err
		}
		items[i] = fmt.Sprintf("%s  %s", t.Address, quality)
	}
	return fault.Input(fmt.Errorf("%d models are trained; name one with --model:\n%s", len(found), lines(items)))
}

// quality is the dev MRR@10 by which training chose the model.
func (t *Trained) quality(ctx context.Context) (string, error) {
	b, err := artifacts.ReadBlob(ctx, t.store, t.result().Outputs["report"].Digest, artifacts.AnySize)
	if err != nil {
		return "", fmt.Errorf("%s: %w", t.Address, err)
	}
	var report struct {
		Metrics map[string]float64 `json:"metrics"`
	}
	if err := json.Unmarshal(b, &report); err != nil {
		return "", fmt.Errorf("%s: its report: %w", t.Address, err)
	}
	mrr, ok := report.Metrics["MRR@10"]
	if !ok {
		return "dev MRR@10 unknown", nil
	}
	return fmt.Sprintf("dev MRR@10 %.1f %%", 100*mrr), nil
}

func (t *Trained) result() *artifacts.Result { return t.preview.Items[t.at].Result }

// input is the artifact of an input attribute that takes exactly one.
func (t *Trained) input(name string) (artifacts.Artifact, error) {
	task, err := t.preview.Items[t.at].Task().Tree()
	if err != nil {
		return artifacts.Artifact{}, err
	}
	v := task[name]
	if list, ok := v.([]any); ok && len(list) == 1 {
		v = list[0]
	}
	if in, ok := v.(step.Input); ok && in.Artifact != nil {
		return *in.Artifact, nil
	}
	return artifacts.Artifact{}, fmt.Errorf("its configuration does not have exactly one artifact as %s", name)
}

// documents finds the documents with titles, an output of the step that wrote the queries; ok is false if it has none.
func (t *Trained) documents() (art artifacts.Artifact, ok bool, err error) {
	p := t.preview.Plan
	task, err := p.Steps[t.at].Task.Tree()
	if err != nil {
		return art, false, err
	}
	queries, ok := task["queries"].(step.Input)
	if !ok || queries.Ref == nil {
		return art, false, nil
	}
	for _, d := range p.Steps[t.at].Deps {
		if p.Steps[d].Address != queries.Ref.Step || t.preview.Items[d].Result == nil {
			continue
		}
		for _, art := range t.preview.Items[d].Result.Outputs {
			if art.Type == "nq/documents" {
				return art, true, nil
			}
		}
	}
	return art, false, nil
}

// Engine searches a trained collection in a process of its own. A lost process is replaced.
type Engine struct {
	pool    *compute.Pool
	client  *compute.Client
	card    int
	opening search.Opening
	cards   []search.Card
	about   search.About
	done    func() // done with the files
}

func (e *Engine) open(ctx context.Context) (err error) {
	if e.client, err = e.pool.Hold(ctx, e.card, ""); err != nil {
		return err
	}
	if err = e.client.Call(ctx, search.OpenCall, e.opening, &e.about); err != nil {
		e.pool.Release(e.client, err)
		e.client = nil
		return err
	}
	if e.card >= 0 {
		e.about.Device = fmt.Sprintf("cuda:%d", e.card) // the only one in its process
	}
	return nil
}

// Search returns the k best documents for each query.
func (e *Engine) Search(ctx context.Context, queries []string, k int) (answers []search.Answer, err error) {
	for range 2 {
		if e.client == nil {
			if err = e.open(ctx); err != nil {
				return nil, err
			}
		}
		answers = nil
		if err = e.client.Call(ctx, search.AskCall, search.Asking{Queries: queries, K: k}, &answers); !step.IsPoisoned(err) {
			break
		}
		e.pool.Release(e.client, err)
		e.client = nil
	}
	if err != nil {
		return nil, err
	}
	return answers, search.Fill(answers, e.cards)
}

func (e *Engine) About() search.About { return e.about }

func (e *Engine) Close() {
	if e.client != nil {
		e.pool.Release(e.client, nil)
	}
	e.done()
}

// Engine opens the model in a process of the pool, on a card or the CPU.
func (t *Trained) Engine(ctx context.Context, pool *compute.Pool, o search.Options) (*Engine, error) {
	cards, err := t.cards(ctx)
	if err != nil {
		return nil, err
	}
	f, done, err := t.files(ctx)
	if err != nil {
		return nil, err
	}
	e := &Engine{pool: pool, opening: search.Opening{Files: f, Documents: len(cards), Options: o}, cards: cards, done: done}
	found, err := pool.Cards(ctx)
	if err == nil {
		e.card, _, _, err = device.Choose(ctx, nil, o.Device, found.Cards)
	}
	if err == nil {
		err = e.open(ctx)
	}
	if err != nil {
		done()
		return nil, err
	}
	return e, nil
}

// files gets verified local files of a model, its tokenizer and identifiers. done removes the model's folder.
func (t *Trained) files(ctx context.Context) (f search.Files, done func(), err error) {
	for name, path := range map[string]*string{"ids": &f.IDs, "tokenizer": &f.Tokenizer} {
		art, err := t.input(name)
		if err != nil {
			return f, nil, err
		}
		if *path, err = t.file(ctx, art); err != nil {
			return f, nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	f.Model, err = os.MkdirTemp("", "redsi-model-")
	if err != nil {
		return f, nil, err
	}
	done = func() {
		if err := os.RemoveAll(f.Model); err != nil {
			t.log.Warn("a temporary folder was left behind", "path", f.Model, "err", err)
		}
	}
	if err := t.stage(ctx, t.result().Outputs["model"], f.Model); err != nil {
		done()
		return f, nil, fmt.Errorf("model: %w", err)
	}
	return f, done, nil
}

// file is a verified local file of a single-file artifact.
func (t *Trained) file(ctx context.Context, art artifacts.Artifact) (string, error) {
	d := art.Digest
	if art.Files != nil {
		if len(art.Files) != 1 {
			return "", fmt.Errorf("it must be a single file, but is %d files", len(art.Files))
		}
		d = art.Files[0].Digest
	}
	return local.Fetch(ctx, t.store, d, t.cache)
}

// stage links verified local files into a folder under their names in a tree.
func (t *Trained) stage(ctx context.Context, tree artifacts.Artifact, folder string) error {
	for _, file := range tree.Files {
		path, err := local.Fetch(ctx, t.store, file.Digest, t.cache)
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

// cards returns the titles and first words of a model's documents: collected once from verified texts, in minutes, and cached.
func (t *Trained) cards(ctx context.Context) ([]search.Card, error) {
	corpus, err := t.input("corpus")
	if err != nil {
		return nil, err
	}
	documents, titled, err := t.documents()
	if err != nil {
		return nil, err
	}
	name := sha256.Sum256(fmt.Append(nil, cardsFormat, corpus.Digest, documents.Digest))
	path := filepath.Join(t.cache, "cards", fmt.Sprintf("%x", name))
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		kept, err := search.KeptCards(f)
		if err == nil {
			return kept, nil
		}
		t.log.Warn("cached titles and first words cannot be read: collecting them anew", "path", path, "err", err)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	t.log.Info("reading the collection's texts for titles and first words, which are cached", "size", words.Size(corpus.Size))
	texts, err := t.open(ctx, corpus)
	if err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	defer texts.Close()
	var titles io.Reader
	if titled {
		r, err := t.open(ctx, documents)
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

// open reads a single-file artifact, verified, until ctx ends.
func (t *Trained) open(ctx context.Context, art artifacts.Artifact) (io.ReadCloser, error) {
	path, err := t.file(ctx, art)
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
func (t *Trained) Examples(ctx context.Context) ([]string, error) {
	art, err := t.input("queries")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Address, err)
	}
	r, err := t.open(ctx, art)
	if err != nil {
		return nil, fmt.Errorf("%s: queries: %w", t.Address, err)
	}
	defer r.Close()
	return search.Examples(r, 6)
}
