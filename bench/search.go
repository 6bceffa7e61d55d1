package main

import (
	"context"
	"fmt"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/drawn"
	"github.com/redsi/redsi/internal/model/bert"
	"github.com/redsi/redsi/internal/model/decode"
)

// warmQueries are asked first, and do not count.
const warmQueries = 64

// beamTokens is the most that a search writes.
const beamTokens = 6

// asks has a workload ask queries, first some that do not count; the check is of what these find.
func asks[T any](w *workload, queries [][]int32, ask func([][]int32) ([]T, error), check func([]T) string) {
	w.warm = func() error {
		found, err := ask(queries[:min(warmQueries, len(queries))])
		if err == nil {
			w.check = check(found)
		}
		return err
	}
	w.run = func() (float64, error) {
		found, err := ask(queries)
		return float64(len(found)), err
	}
}

// searchWork is an evaluation's beam search, free or along a trie; the check is the first query's best hypothesis.
func searchWork(p *placed, w *workload, constrained bool) error {
	m, err := p.open()
	if err != nil {
		return err
	}
	draw := drawn.Numbers(3)
	queries := draw.Sequences(p.queries, 8, 16)
	b := decode.NewBeam(beamTokens, nil)
	b.Width, b.Return, b.EarlyStopping = p.beams, p.beams, p.early
	if constrained {
		if b.Trie, err = docid.NewTrie(draw.Identifiers(p.documents)); err != nil {
			return err
		}
	}
	searcher, err := decode.NewSearcher(m)
	if err != nil {
		return err
	}
	p.later(searcher.Close)
	asks(w, queries, func(some [][]int32) ([][]decode.Hypothesis, error) {
		return searcher.Search(context.Background(), some, b, p.together, nil)
	}, func(found [][]decode.Hypothesis) string { return fmt.Sprint(found[0][0].Tokens) })
	return nil
}

// rankWork ranks atomic identifiers, the model's last tokens; the check is the best of the first two queries.
func rankWork(p *placed, w *workload) error {
	m, err := p.open()
	if err != nil {
		return err
	}
	ranker, err := decode.NewRanker(m, m.Vocabulary().Size-int64(p.documents), int64(p.documents))
	if err != nil {
		return err
	}
	p.later(ranker.Close)
	draw := drawn.Numbers(3)
	queries := draw.Sequences(p.queries, 4, 32)
	asks(w, queries, func(some [][]int32) ([]decode.Result, error) {
		return ranker.Rank(context.Background(), some, 40, p.together, nil)
	}, func(found []decode.Result) string {
		return fmt.Sprint(found[0].Ranking[0].Document, found[1].Ranking[0].Document)
	})
	return nil
}

// embedChunk is how many texts the kind embed reads ahead.
const embedChunk = 256

// embedWork embeds documents; the check is the first numbers of the first vector, in float32 also where another precision is measured.
func embedWork(p *placed, w *workload) error {
	m, err := bert.Load(p.folder, p.device)
	if err != nil {
		return err
	}
	p.later(m.Close)
	draw := drawn.Numbers(5)
	texts := draw.Texts(p.texts)
	w.warm = func() error {
		first := texts[:min(embedChunk, len(texts))]
		vectors, err := m.Embed(first, bert.CLS, p.tokens)
		if err != nil {
			return err
		}
		w.check = fmt.Sprintf("%.3f", vectors[0][:4])
		if err := m.In(p.precision); err != nil {
			return err
		}
		_, err = m.Embed(first, bert.CLS, p.tokens)
		return err
	}
	w.run = func() (float64, error) {
		done := 0
		for from := 0; from < len(texts); from += embedChunk {
			vectors, err := m.Embed(texts[from:min(from+embedChunk, len(texts))], bert.CLS, p.tokens)
			if err != nil {
				return 0, err
			}
			done += len(vectors)
		}
		return float64(done), nil
	}
	return nil
}
