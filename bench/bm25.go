package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/redsi/redsi/internal/ranking/bm25"
)

// Passages with the word frequencies of English without its stop words, and queries of words of one of them.
const (
	passages, passageWords = 200_000, 60
	passageQueries         = 2_000
	vocabulary             = 300_000
	bm25Depth              = 100
	passagesName           = "passages1"
)

const luceneVersion = "10.5.2"

var bm25Lines = []line{{
	name: "bm25_vs_bm25s", takes: 14, target: 1.6, value: perUnit, sliced: true, noMemory: true,
	doc:  "a query's 100 best of 200,000 passages by BM25, tokens and all, 2 threads, against bm25s",
	ours: onPassages("bm25-words"), peer: scriptOn(small, "bm25.py", (*env).passages, "--threads", "2"),
}, {
	name: "bm25_vs_pisa", takes: 14, target: 2, value: perUnit, sliced: true, noMemory: true,
	doc:  "the same, against PISA, of whose idf the scores are others; as many hits",
	ours: onPassages("bm25-words"), peer: scriptOn(small, "pisa.py", (*env).passages, "--threads", "2"),
}, {
	name: "bm25_vs_lucene", takes: 16, target: 1.5, value: perUnit, sliced: true, noMemory: true,
	doc:  "the same by Lucene's analyzer and lengths, against Lucene, one segment in memory, which may skip; needs mvn and Java 21 or newer",
	ours: onPassages("bm25-lucene"),
	peer: side{command: func(e *env) ([]string, error) {
		dir, err := e.passages()
		jars, err2 := e.lucene()
		java, err3 := e.java()
		return []string{java, "--add-modules", "jdk.incubator.vector", "-Xmx4g", "-cp", filepath.Join(jars, "*"),
			filepath.Join("bench", "peers", "Bm25Lucene.java"), dir, "2"}, errors.Join(err, err2, err3)
	}},
}}

func onPassages(piece string) side { return pieceOn(piece, (*env).passages, onProcessor[0]) }

// passages is the folder with what is searched and asked.
func (e *env) passages() (string, error) {
	return e.keepPiece(passagesName, "make-passages")
}

func (e *env) lucene() (string, error) {
	return e.keep("lucene-"+luceneVersion, func(dir string) error {
		return errors.Join(e.jar(dir, "lucene-core"), e.jar(dir, "lucene-analysis-common"))
	})
}

func (e *env) jar(dir, name string) error {
	return e.quiet("mvn", "-q", "dependency:copy", "-Dartifact=org.apache.lucene:"+name+":"+luceneVersion, "-DoutputDirectory="+dir)
}

// java is a Java of version 21 or newer, which Lucene 10 asks for: JAVA_HOME's, the first in PATH, or another one of
// the system.
func (e *env) java() (string, error) {
	installed, _ := filepath.Glob("/usr/lib/jvm/*/bin/java") // the pattern is right
	for _, java := range append([]string{filepath.Join(os.Getenv("JAVA_HOME"), "bin", "java"), "java"}, installed...) {
		modules, err := exec.CommandContext(e.ctx, java, "--list-modules").Output()
		_, version, _ := strings.Cut(string(modules), "java.base@")
		var major int
		if _, scanned := fmt.Sscanf(version, "%d", &major); err == nil && scanned == nil && major >= 21 {
			return java, nil
		}
	}
	return "", fmt.Errorf("Lucene %s needs Java 21 or newer, and neither JAVA_HOME, the PATH nor /usr/lib/jvm has it", luceneVersion)
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

// anserini are the options that Anserini has, beside its lengths.
var anserini = bm25.Options{Formula: bm25.Lucene, K1: 0.9, B: 0.4}

func indexed(folder string, most int, analyzer bm25.Analyzer, o bm25.Options) (*bm25.Index, error) {
	in, err := os.Open(filepath.Join(folder, "passages.txt"))
	if err != nil {
		return nil, err
	}
	defer in.Close()
	scratch, done := onDisk()
	defer done()
	b, lines := bm25.NewBuilder(scratch, analyzer), bufio.NewScanner(in)
	for range most {
		if !lines.Scan() {
			return nil, fmt.Errorf("%s has fewer than %d passages: %w", in.Name(), most, errors.Join(lines.Err(), io.ErrUnexpectedEOF))
		}
		if err := b.Add(lines.Text()); err != nil {
			return nil, err
		}
	}
	return b.Finish(o)
}

func passagesWork(p *placed, w *workload, analyzer bm25.Analyzer, o bm25.Options) error {
	ix, err := indexed(p.folder, passages, analyzer, o)
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
	return passagesWork(p, w, words, anserini)
}

func byLucene(p *placed, w *workload) error {
	o := anserini
	o.LuceneLengths = true
	return passagesWork(p, w, bm25.LuceneEnglish{}, o)
}
