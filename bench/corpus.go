package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/klauspost/compress/gzip"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/synth"
	"github.com/redsi/redsi/internal/corpora/wikipedia"
)

// Files of the corpus folder that are made from the generated ones.
const (
	wantedFile = "wanted.txt"  // revision ids of all records, one a line
	stubFile   = "stub.xml.gz" // the dump
	cutFile    = "cut.xml.gz"  // its first pages, for the slow peer
	cutBytes   = 20 << 20      // of text in cutFile
	shardFile  = "nq-train-00.jsonl.gz"
)

// corpusVersion changes with what makeCorpus writes for one Config.
const corpusVersion = 2

func corpusConfig(quick bool) synth.Config {
	c := synth.Bench()
	if quick {
		c.Pages, c.TrainQuestions, c.DevQuestions = 120, 190, 10
		c.StubRevisionsPerPage, c.StubFillerPages = 40, 2000
	}
	return c
}

// corpus is the folder of the generated corpus.
func (e *env) corpus() (string, error) {
	c := corpusConfig(e.quick)
	name := fmt.Sprintf("corpus%d-%d", corpusVersion, c.TrainQuestions+c.DevQuestions)
	b, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	return e.keepPiece(name, "make-corpus", string(b))
}

// shards are the full train files of the corpus.
func (e *env) shards() ([]string, error) {
	dir, err := e.corpus()
	if err != nil {
		return nil, err
	}
	return filepath.Glob(filepath.Join(dir, "nq-train-*.jsonl.gz"))
}

func (e *env) firstShard() (string, error) {
	files, err := e.shards()
	if err != nil {
		return "", err
	}
	return files[0], nil
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
	var r nq.Record
	for {
		if err := rd.Next(&r); err == io.EOF {
			return os.WriteFile(filepath.Join(dir, wantedFile), out.Bytes(), 0o644)
		} else if err != nil {
			return err
		}
		id, err := wikipedia.OldID(r.URL)
		if err != nil {
			return err
		}
		out.WriteString(strconv.FormatUint(id, 10) + "\n")
	}
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
	out, err := os.Create(filepath.Join(dir, cutFile))
	if err != nil {
		return err
	}
	defer out.Close()
	zw := gzip.NewWriter(out)
	lines := bufio.NewReader(zr)
	for n := 0; ; {
		l, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return err
		}
		zw.Write(l)
		n += len(l)
		if err == io.EOF {
			break
		}
		if n >= cutBytes && bytes.Equal(bytes.TrimSpace(l), []byte("</page>")) {
			zw.Write([]byte("</mediawiki>\n"))
			break
		}
	}
	return errors.Join(zw.Close(), out.Close())
}
