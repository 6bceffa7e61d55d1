package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/synth"
	"github.com/redsi/redsi/internal/corpora/wikipedia"
)

// Files of the corpus folder that are derived from the generated ones.
const (
	wantedFile = "wanted.txt"  // revision ids of all records, one a line
	stubFile   = "stub.xml.gz" // the dump
	cutFile    = "cut.xml.gz"  // its first pages, for the slow peer
	cutBytes   = 20 << 20      // of text in cutFile
	shardFile  = "nq-train-00.jsonl.gz"
	shardFiles = "nq-train-*.jsonl.gz"
)

// corpusVersion changes with what makeCorpus writes for one Config.
const corpusVersion = 3

func corpusConfig(quick bool) synth.Config {
	c := synth.Bench()
	if quick {
		c.Pages, c.TrainQuestions, c.DevQuestions = 120, 190, 10
		c.StubRevisionsPerPage, c.StubFillerPages = 40, 2000
	}
	return c
}

func (e *env) corpus() (string, error) {
	c := corpusConfig(e.quick)
	name := fmt.Sprintf("corpus%d-%d", corpusVersion, c.TrainQuestions+c.DevQuestions)
	b, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	return e.keepPiece(name, "make-corpus", string(b))
}

// inCorpus makes names of files of the corpus, or patterns of them, paths; options stay.
func (e *env) inCorpus(names []string) ([]string, error) {
	dir, err := e.corpus()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, n := range names {
		found := []string{n}
		if !strings.HasPrefix(n, "-") {
			if found, err = filepath.Glob(filepath.Join(dir, n)); err != nil {
				return nil, err
			}
		}
		out = append(out, found...)
	}
	return out, nil
}

// onCorpus is our side: a piece on files of the corpus, with its options.
func onCorpus(piece string, args ...string) side {
	return side{command: func(e *env) ([]string, error) {
		args, err := e.inCorpus(args)
		return ours(piece, args...), err
	}}
}

func besideOnCorpus(script string, args ...string) side {
	return side{command: func(e *env) ([]string, error) {
		args, err := e.inCorpus(args)
		if err != nil {
			return nil, err
		}
		return e.python(small, script, args...)
	}}
}

// makeCorpus writes the generated corpus and what the peers need beside it.
func makeCorpus(args []string) (sample, error) {
	dir := args[0]
	var cfg synth.Config
	if err := json.Unmarshal([]byte(args[1]), &cfg); err != nil {
		return sample{}, err
	}
	_, err := synth.Generate(cfg, func(name string) (io.WriteCloser, error) {
		return os.Create(filepath.Join(dir, name))
	}, nil)
	if err != nil {
		return sample{}, err
	}
	stubs, err := filepath.Glob(filepath.Join(dir, "*stub-meta-history*.xml.gz"))
	if err != nil || len(stubs) != 1 {
		return sample{}, fmt.Errorf("%d dumps in the corpus: %w", len(stubs), err)
	}
	if err := os.Rename(stubs[0], filepath.Join(dir, stubFile)); err != nil {
		return sample{}, err
	}
	return sample{}, errors.Join(writeWanted(dir), writeCut(dir))
}

// writeWanted lists the revisions of all train records, from the simplified file.
func writeWanted(dir string) error {
	in, err := os.Open(filepath.Join(dir, "simplified-nq-train.jsonl.gz"))
	if err != nil {
		return err
	}
	defer in.Close()
	var out bytes.Buffer
	rd := nq.NewReader(in, in.Name(), nq.Options{Split: nq.Train})
	defer rd.Close()
	for r, err := range each(rd.Next) {
		if err != nil {
			return err
		}
		id, err := wikipedia.OldID(r.URL)
		if err != nil {
			return err
		}
		out.WriteString(strconv.FormatUint(id, 10) + "\n")
	}
	return os.WriteFile(filepath.Join(dir, wantedFile), out.Bytes(), 0o644)
}

// writeCut keeps the first pages of the dump as a dump of its own.
func writeCut(dir string) error {
	in, err := os.Open(filepath.Join(dir, stubFile))
	if err != nil {
		return err
	}
	defer in.Close()
	zr, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(zr, cutBytes))
	if err != nil {
		return err
	}
	page := []byte("</page>\n")
	var out bytes.Buffer
	zw := gzip.NewWriter(&out)
	zw.Write(text[:bytes.LastIndex(text, page)+len(page)])
	zw.Write([]byte("</mediawiki>\n"))
	return errors.Join(zw.Close(), os.WriteFile(filepath.Join(dir, cutFile), out.Bytes(), 0o644))
}
