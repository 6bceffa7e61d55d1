package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/readers"
)

var nqLines = []line{
	{
		name: "nq_extract_vs_gunzip", takes: 20, target: 0.8, value: throughput,
		doc:  "full NQ shards to records, headers and text keys, against only gunzip by the same library",
		ours: onCorpus("nq-extract", shardFiles), peer: onCorpus("gunzip", shardFiles), unlike: true,
	},
	{
		name: "nq_extract_vs_python", takes: 24, target: 2.2, value: throughput,
		doc:  "the same of one shard, against Python reading the same fields and writing nothing",
		ours: onCorpus("nq-extract", shardFile), peer: besideOnCorpus("nq_extract.py", "--runs=1", shardFile),
		others: []side{besideOnCorpus("nq_extract.py", "--runs=1", "--json=simdjson", shardFile), besideOnCorpus("nq_extract.py", "--runs=1", "--gzip=gzip", shardFile)},
	},
	{
		name: "nq_hub_vs_pyarrow", takes: 12, target: 0.8, value: throughput,
		doc:  "a shard as the hub's Parquet to records, against pyarrow reading the columns that they need; MB of HTML",
		ours: pieceOn("nq-read", (*env).hub), peer: scriptOn(small, "nq_hub.py", (*env).hub),
	},
	{
		name: "nq_hub_vs_lines", takes: 9, target: 0.8, value: throughput,
		doc:  "the same, against our reader of the original lines of that shard",
		ours: pieceOn("nq-read", (*env).hub), peer: onCorpus("nq-read", shardFile),
	},
	{
		// The corpus's records, one shard four times over: the collector reaches its pace in more than a second.
		name: "extract_memory_10x_vs_1x", takes: 33, target: 0.9, value: peakMemory,
		doc:  "peak memory of the same on one stream of 19,000 records (ours) and of 1,900 (peer)",
		ours: onCorpus("nq-extract", "-times=40", shardFile), peer: onCorpus("nq-extract", "-times=4", shardFile), unlike: true, once: true,
	},
}

// hubFile is a shard as the Hugging Face hub has it.
const hubFile = "hub.parquet"

// hub is that file, which the peer writes.
func (e *env) hub() (string, error) {
	dir, err := e.corpus()
	if err != nil {
		return "", err
	}
	to, err := e.keep(filepath.Base(dir)+"-hub1", func(to string) error {
		return e.script(small, "nq_hub.py", "--write", filepath.Join(dir, shardFile), filepath.Join(to, hubFile))
	})
	return filepath.Join(to, hubFile), err
}

// each gives the records that next reads, to the end. They share their memory.
func each(next func(*nq.Record) error) iter.Seq2[*nq.Record, error] {
	return func(yield func(*nq.Record, error) bool) {
		var r nq.Record
		for {
			err := next(&r)
			if err == io.EOF || !yield(&r, err) || err != nil {
				return
			}
		}
	}
}

type found struct{ records, tokens, html int64 }

func (f *found) add(r *nq.Record) {
	f.records, f.tokens, f.html = f.records+1, f.tokens+int64(len(r.Tokens)), f.html+int64(len(r.HTML))
}

func (f found) String() string {
	return fmt.Sprintf("%d records, %d tokens, %d bytes of HTML", f.records, f.tokens, f.html)
}

// nqRead reads the records of a file of lines, or of Parquet, and writes nothing.
func nqRead(args []string) (sample, error) {
	f, err := os.Open(args[0])
	if err != nil {
		return sample{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return sample{}, err
	}
	lap := stopwatch()
	o := nq.Options{Split: nq.Train}
	var rd *nq.Reader
	if strings.HasSuffix(args[0], hubFile) {
		rd = nq.NewHubReader(f, info.Size(), args[0], o)
	} else {
		rd = nq.NewReader(f, args[0], o)
	}
	defer rd.Close()
	var has found
	for r, err := range each(rd.Next) {
		if err != nil {
			return sample{}, err
		}
		has.add(r)
	}
	return sample{Seconds: lap(), Work: float64(has.html), Check: has.String()}, nil
}

func gunzip(args []string) (sample, error) {
	var s sample
	lap := stopwatch()
	for _, name := range args {
		f, err := os.Open(name)
		if err != nil {
			return s, err
		}
		zr, err := gzip.NewReader(f)
		if err != nil {
			return s, err
		}
		n, err := io.Copy(io.Discard, zr)
		if err = errors.Join(err, f.Close()); err != nil {
			return s, err
		}
		s.Work += float64(n)
	}
	s.Seconds = lap()
	return s, nil
}

// nqExtract is what the step kind extract does with each file, read -times times in
// a row as one stream, but without a store: the compressed records and headers are
// thrown away.
func nqExtract(args []string) (sample, error) { return extract(args, io.Discard) }

// readRecords extracts into memory, and times reading the records back.
func readRecords(args []string) (sample, error) {
	var stored bytes.Buffer
	s, err := extract(args, &stored)
	if err != nil {
		return s, err
	}
	lap := stopwatch()
	s.Work = 0
	rd := nq.NewRecordReader(&stored)
	defer rd.Close()
	for r, err := range each(rd.Next) {
		if err != nil {
			return s, err
		}
		s.Work += float64(len(r.HTML))
	}
	s.Seconds = lap()
	return s, nil
}

func extract(args []string, out io.Writer) (sample, error) {
	set := flag.NewFlagSet("", flag.ExitOnError)
	times := set.Int("times", 1, "")
	set.Parse(args) // an error ends the process
	var s sample
	var has found
	lap := stopwatch()
	for _, name := range set.Args() {
		in, err := openTimes(name, *times)
		if err != nil {
			return s, err
		}
		rw, err := nq.NewRecordWriter(out)
		if err != nil {
			return s, err
		}
		hw, err := nq.NewHeaderWriter(io.Discard)
		if err != nil {
			return s, err
		}
		rd := nq.NewReader(in, name, nq.Options{Split: nq.Train, Format: nq.Full})
		for r, err := range each(rd.Next) {
			if err != nil {
				return s, err
			}
			has.add(r)
			h := nq.HeaderOf(r)
			h.Text4KCased, h.Text4K = dedup.TextKeys(r, false)
			if err := errors.Join(rw.Write(r), hw.Write(&h)); err != nil {
				return s, err
			}
		}
		if err := errors.Join(rw.Close(), hw.Close(), in.Close()); err != nil {
			return s, err
		}
		s.Work += float64(rd.Counts.BytesOut)
	}
	s.Seconds, s.Check = lap(), has.String()
	return s, nil
}

// openTimes is a file n times over: gzip members in a row are one stream.
func openTimes(name string, n int) (io.ReadCloser, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	times := lists.Map(lists.Places(n), func(int) io.Reader { return io.NewSectionReader(f, 0, math.MaxInt64) })
	return readers.Closing(io.MultiReader(times...), f), nil
}
