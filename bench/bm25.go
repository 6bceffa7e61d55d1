package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/redsi/redsi/internal/ranking/bm25"
)

// Passages whose words are as frequent as those of English without its stop words, and
// queries that have words of one of them.
const (
	passages, passageWords = 200_000, 60
	passageQueries         = 2_000
	vocabulary             = 300_000
	bm25Depth              = 100
	passagesName           = "passages1"
)

// anserini is the wheel that has Lucene's jar.
const anserini = "pyserini==0.22.1"

var bm25Lines = []line{{
	name: "bm25_vs_bm25s", target: 1.1, value: perUnit, sliced: true, noMemory: true,
	doc:  "a query's 100 best of 200,000 passages by BM25, tokens and all, 2 threads, against bm25s 0.3.16 with its numba backend",
	ours: onPassages("bm25-words"), peer: scriptOn(small, "bm25.py", (*env).passages, "--threads", "2"),
}, {
	name: "bm25_vs_lucene", target: 3, value: perUnit, sliced: true, noMemory: true,
	doc:  "the same by Lucene's analyzer and lengths, against Lucene 9.5 (Anserini 0.22.1), one segment in memory; needs Java",
	ours: onPassages("bm25-lucene"),
	peer: side{command: func(e *env) ([]string, error) {
		dir, err := e.passages()
		if err != nil {
			return nil, err
		}
		jar, err := e.anserini()
		return []string{"java", "-Xmx4g", "-cp", jar, filepath.Join("bench", "peers", "Bm25Lucene.java"), dir, "2"}, err
	}},
}}

func onPassages(piece string) side {
	return side{command: func(e *env) ([]string, error) {
		dir, err := e.passages()
		return ours(piece, onProcessor[0], dir), err
	}}
}

// passages is the folder with what is searched and asked.
func (e *env) passages() (string, error) {
	return e.keepPiece(passagesName, "make-passages")
}

// anserini is the jar, taken out of its wheel.
func (e *env) anserini() (string, error) {
	dir, err := e.keep("anserini-0.22.1", func(dir string) error {
		if err := e.quiet("python3", "-m", "pip", "download", "-q", "--no-deps", "-d", dir, anserini); err != nil {
			return err
		}
		wheels, err := filepath.Glob(filepath.Join(dir, "*.whl"))
		if err != nil || len(wheels) != 1 {
			return errors.Join(err, fmt.Errorf("%d wheels of %s", len(wheels), anserini))
		}
		return errors.Join(e.quiet("python3", "-m", "zipfile", "-e", wheels[0], dir), os.Remove(wheels[0]))
	})
	return filepath.Join(dir, "pyserini", "resources", "jars", "anserini-0.22.1-fatjar.jar"), err
}

// makePassages writes a passage and a query a line.
func makePassages(args []string) (sample, error) {
	rng := rand.New(rand.NewPCG(7, 7))
	word := func() string {
		rank := int(30*math.Pow(float64(vocabulary)/30+1, rng.Float64())) - 30 // 1 / (rank + 30)
		var b strings.Builder
		for n := rank + 50; n > 0; n /= 50 {
			b.WriteByte("bcdfghklmn"[n%50/5])
			b.WriteByte("aeiou"[n%5])
		}
		return b.String()
	}
	all := make([]string, passages)
	for i := range all {
		words := make([]string, passageWords/2+rng.IntN(passageWords))
		for k := range words {
			words[k] = word()
		}
		all[i] = strings.Join(words, " ")
	}
	queries := make([]string, passageQueries)
	for i := range queries {
		words := strings.Fields(all[rng.IntN(len(all))])
		asked := make([]string, 2+rng.IntN(6))
		for k := range asked {
			asked[k] = words[rng.IntN(len(words))]
		}
		queries[i] = strings.Join(asked, " ")
	}
	return sample{}, errors.Join(os.WriteFile(filepath.Join(args[0], "passages.txt"), []byte(strings.Join(all, "\n")+"\n"), 0o644),
		os.WriteFile(filepath.Join(args[0], "queries.txt"), []byte(strings.Join(queries, "\n")+"\n"), 0o644))
}

// passagesWork asks all queries.
func passagesWork(p *placed, w *workload, analyzer bm25.Analyzer, o bm25.Options) error {
	b := bm25.NewBuilder(analyzer)
	texts, err := os.ReadFile(filepath.Join(p.folder, "passages.txt"))
	if err != nil {
		return err
	}
	for text := range strings.Lines(string(texts)) {
		if err := b.Add(text); err != nil {
			return err
		}
	}
	ix, err := b.Finish(o)
	if err != nil {
		return err
	}
	asked, err := os.ReadFile(filepath.Join(p.folder, "queries.txt"))
	if err != nil {
		return err
	}
	queries := strings.Split(strings.TrimSpace(string(asked)), "\n")
	w.run = func() (float64, error) {
		found, err := ix.SearchAll(context.Background(), queries, bm25Depth)
		hits, best := 0, 0.0
		for _, f := range found {
			hits += len(f)
			if len(f) > 0 {
				best += f[0].Score
			}
		}
		w.check = fmt.Sprintf("%d hits, the best score %.1f", hits, best)
		return float64(len(queries)), err
	}
	return nil
}

// byWords and byLucene are bm25s' way and Anserini's.
func byWords(p *placed, w *workload) error {
	words, err := bm25.Words(true, "")
	if err != nil {
		return err
	}
	return passagesWork(p, w, words, bm25.Options{Formula: bm25.Lucene, K1: 0.9, B: 0.4})
}

func byLucene(p *placed, w *workload) error {
	return passagesWork(p, w, bm25.LuceneEnglish(), bm25.Options{Formula: bm25.Lucene, K1: 0.9, B: 0.4, LuceneLengths: true})
}
