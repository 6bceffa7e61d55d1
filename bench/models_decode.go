package main

import (
	"context"
	"fmt"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/drawn"
	"github.com/redsi/redsi/internal/model/decode"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/ranking/retrieve/stopping"
)

// The searches of bench/peers/beam.py.
const (
	beamQueries = 8
	beamTokens  = 6
	beamIDs     = 100_000
)

// beamWork is the search for one batch; the check is the best hypothesis of the
// first query.
func beamWork(args []string) (*workload, error) {
	m, mode, err := openT5(args, "mode", "free")
	if err != nil {
		return nil, err
	}
	d := drawn.Numbers(3)
	queries := d.Sequences(beamQueries, 8, 16)
	b := decode.NewBeam(beamTokens, nil)
	b.EarlyStopping = stopping.Heuristic // as the peer, which takes transformers' default
	if mode == "trie" {
		if b.Trie, err = docid.NewTrie(d.Identifiers(beamIDs)); err != nil {
			return nil, err
		}
	}
	searcher, err := decode.NewSearcher(m)
	if err != nil {
		return nil, err
	}
	w := &workload{close: func() { searcher.Close(); m.Close() }}
	w.run = func() (float64, error) {
		found, err := searcher.Search(context.Background(), queries, b, beamQueries, nil)
		if err == nil {
			w.check = fmt.Sprint(found[0][0].Tokens)
		}
		return beamQueries, err
	}
	return w, nil
}

// beamProducts are the products of beamWork's search: the first step has one row a
// query, the others one a beam.
func beamProducts(args []string) (*workload, error) {
	m, _, err := openT5(args, "mode", "free")
	if err != nil {
		return nil, err
	}
	defer m.Close()
	c, tokens := m.Config.(t5.Config), 0
	d := drawn.Numbers(3)
	for _, q := range d.Sequences(beamQueries, 8, 16) {
		tokens += len(q)
	}
	const rows = beamQueries * 40
	all := encoderProducts(c, int64(tokens))
	all = append(all, decoderProducts(c, beamQueries, 1)...)
	all = append(all, decoderProducts(c, rows, beamTokens-1)...)
	all = append(all, product{beamQueries, c.DModel, c.VocabSize, 1}, product{rows, c.DModel, c.VocabSize, beamTokens - 1})
	w, err := products(all, false)
	if err != nil {
		return nil, err
	}
	once := w.run
	w.run = func() (float64, error) {
		_, err := once()
		return beamQueries, err
	}
	return w, nil
}

// atomicBatch is how many queries are ranked at a time.
const atomicBatch = 64

// atomicWork ranks a model's last 100,000 tokens, as documents, for 256 queries; the
// check is the best of the first.
func atomicWork(args []string) (*workload, error) {
	m, _, err := openT5(args, "mode", "")
	if err != nil {
		return nil, err
	}
	ranker, err := decode.NewRanker(m, m.Vocabulary().Size-beamIDs, beamIDs)
	if err != nil {
		return nil, err
	}
	d := drawn.Numbers(3)
	queries := d.Sequences(256, 4, 32)
	w := &workload{close: func() { ranker.Close(); m.Close() }}
	w.run = func() (float64, error) {
		found, err := ranker.Rank(context.Background(), queries, 40, atomicBatch, nil)
		if err == nil {
			w.check = fmt.Sprint(found[0].Ranking[0].Document, found[1].Ranking[0].Document)
		}
		return float64(len(queries)), err
	}
	return w, nil
}
