package decode

import (
	"context"
	"os"
	"strconv"
	"testing"

	"github.com/redsi/redsi/internal/corpora/docid"
	seeded "github.com/redsi/redsi/internal/corpora/drawn"
	"github.com/redsi/redsi/internal/model/models"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
)

// benchModel is T5 Efficient Tiny: REDSI_BENCH_MODEL, or random weights.
func benchModel(b *testing.B) *seq2seq.Model {
	b.Helper()
	tensor.SetNumThreads(2)
	var m *seq2seq.Model
	var err error
	if folder := os.Getenv("REDSI_BENCH_MODEL"); folder != "" {
		m, err = models.Load(folder, tensor.CPU)
	} else {
		c := t5.Defaults()
		c.DModel, c.DFF, c.NumLayers, c.NumDecoderLayers, c.NumHeads = 256, 1024, 4, 4, 4
		m, err = seq2seq.Init(c, 1, tensor.CPU)
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(m.Close)
	return m
}

// BenchmarkBeam is 40 beams of at most 6 tokens over 16 queries, free and along a
// trie of 100,000 identifiers; its peer is bench/peers/beam.py.
func BenchmarkBeam(b *testing.B) {
	m := benchModel(b)
	draw := seeded.Numbers(3)
	queries := draw.Sequences(16, 8, 16)
	trie, err := docid.NewTrie(draw.Identifiers(100_000))
	if err != nil {
		b.Fatal(err)
	}
	searcher, err := NewSearcher(m)
	if err != nil {
		b.Fatal(err)
	}
	for _, mode := range []struct {
		name string
		beam Beam
	}{{"free", NewBeam(6, nil)}, {"trie", NewBeam(6, trie)}} {
		for _, batch := range []int{4, 8, 16} {
			b.Run(mode.name+"/"+strconv.Itoa(batch), func(b *testing.B) {
				for b.Loop() {
					_, err := searcher.Search(context.Background(), queries, mode.beam, batch, nil)
					if err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N*len(queries))/b.Elapsed().Seconds(), "queries/s")
			})
		}
	}
}

// BenchmarkAtomic ranks 256 queries over 100,000 documents; its peer is
// bench/peers/atomic_eval.py.
func BenchmarkAtomic(b *testing.B) {
	m := benchModel(b)
	first := m.Vocabulary().Size
	if err := m.Extend(100_000, 1); err != nil {
		b.Fatal(err)
	}
	draw := seeded.Numbers(3)
	queries := draw.Sequences(256, 4, 32)
	ranker, err := NewRanker(m, first, 100_000)
	if err != nil {
		b.Fatal(err)
	}
	for _, batch := range []int{16, 64} {
		b.Run(strconv.Itoa(batch), func(b *testing.B) {
			for b.Loop() {
				if _, err := ranker.Rank(context.Background(), queries, 40, batch, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*len(queries))/b.Elapsed().Seconds(), "queries/s")
		})
	}
}
