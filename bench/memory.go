package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"

	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/pytext"
	"github.com/redsi/redsi/internal/corpora/serialize"
	"github.com/redsi/redsi/internal/corpora/splitmix"
	"github.com/redsi/redsi/internal/corpora/synth"
	"github.com/redsi/redsi/internal/ranking/bm25"
)

// memoryLines compare a stage's peak of memory at ten times the data (ours) with its peak at one (peer): 1 where memory is
// bounded. What a stage must keep of every record or document lowers the ratio; docs/performance.md has the bytes.
var memoryLines = []line{
	tenTimes("serialize_memory_10x_vs_1x", 0.9, 25, "serializing 40,000 records and sorting their texts (ours) and 4,000 (peer)", func(n int) side {
		return onCorpus("serialize-sorted", "-limit=100", fmt.Sprintf("-times=%d", 40*n), shardFile)
	}),
	tenTimes("evaluate_memory_10x_vs_1x", 0.9, 12, "searching 1,600 queries with 4 beams by T5 Efficient Tiny (ours) and 160 (peer)", func(n int) side {
		return workOn("train_step.py", "search-all", "-beams=4", fmt.Sprintf("-queries=%d", 160*n))
	}),
	tenTimes("dedup_memory_10x_vs_1x", 0.9, 5, "grouping 300,000 headers by the ten operators (ours) and 30,000 (peer)", func(n int) side {
		return side{command: func(*env) ([]string, error) { return ours("dedup", fmt.Sprint(30_000*n)), nil }}
	}),
	tenTimes("bm25_memory_10x_vs_1x", 0.6, 11, "indexing 200,000 passages in memory (ours) and 20,000 (peer)", func(n int) side {
		return pieceOn("bm25-index", (*env).passages, fmt.Sprint(passages/10*n))
	}),
}

func tenTimes(name string, target, takes float64, doc string, of func(times int) side) line {
	return line{name: name, target: target, takes: takes, value: peakMemory, doc: "peak memory of " + doc, ours: of(10), peer: of(1), unlike: true, once: true}
}

// serializeSorted writes the texts of a file's first -limit records, which are in memory, -times over, as the step kind
// serialize does with a file. Work is texts.
func serializeSorted(args []string) (s sample, err error) {
	set := flag.NewFlagSet("", flag.ExitOnError)
	limit, times := set.Int("limit", 0, ""), set.Int("times", 1, "")
	set.Parse(args) // an error ends the process
	records, err := firstRecords(set.Arg(0), *limit)
	if err != nil {
		return s, err
	}
	ser, done, err := newSerializer(serialize.Simplified)
	if err != nil {
		return s, err
	}
	defer done()
	scratch, remove := onDisk()
	defer remove()
	lap := stopwatch()
	texts := corpus.NewSorter(scratch)
	for n := range *times * len(records) {
		t, err := ser.Document(records[n%len(records)])
		if err == nil {
			err = texts.Add(corpus.Document{Doc: int32(n), Title: t.Title, Abstract: t.Abstract, Text: t.String()})
		}
		if err != nil {
			return s, err
		}
	}
	out, err := corpus.NewWriter(io.Discard)
	if err != nil {
		return s, err
	}
	err = errors.Join(texts.WriteAll(out), out.Close())
	return sample{Seconds: lap(), Work: float64(out.Len()), Check: fmt.Sprintf("%d texts", out.Len())}, err
}

// onDisk makes a folder when it is asked for one, once, and removes it.
func onDisk() (folder func() (string, error), remove func()) {
	folder = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "redsi-bench-") })
	return folder, func() {
		if dir, err := folder(); err == nil {
			os.RemoveAll(dir)
		}
	}
}

// dedupHeaders groups so many records with a page for three of them and a revision for every second one. Work is records.
func dedupHeaders(args []string) (s sample, err error) {
	records, err := strconv.Atoi(args[0])
	if err != nil {
		return s, err
	}
	var keys []dedup.Key
	for _, name := range synth.Keys() {
		key, err := dedup.Lookup(string(name))
		if err != nil {
			return s, err
		}
		keys = append(keys, key)
	}
	scratch, done := onDisk()
	defer done()
	g, err := dedup.NewGrouper(scratch, keys, dedup.Options{RecordOrder: dedup.TrainFirst},
		dedup.Sources{BertNormalize: pytext.Lower, PageID: func(oldid uint64) (uint64, bool) { return oldid * 2 / 3, true }})
	if err != nil {
		return s, err
	}
	lap := stopwatch()
	for i := range records {
		revision := int(splitmix.Finish(uint64(i)) % uint64(records/2))
		title := fmt.Sprintf("Article %d of the list", revision*2/3)
		h := nq.Header{ExampleID: int64(i), Split: nq.Train, Question: fmt.Sprintf("who is the author of article number %d in the list", i),
			URL: fmt.Sprintf("https://en.wikipedia.org//w/index.php?title=%d&amp;oldid=%d", revision*2/3, revision), Title: title, H1: title, HasH1: true}
		h.Text4K[0], h.Text4K[1], h.Text4K[2], h.Text4K[3] = byte(revision), byte(revision>>8), byte(revision>>16), 1
		h.Text4KCased = h.Text4K
		if err := g.Add(&h); err != nil {
			return s, err
		}
	}
	for i := range keys {
		of, err := g.Grouping(i)
		if err != nil {
			return s, err
		}
		s.Check += fmt.Sprintf("%d %s ", of.Counts().Union, of.Key.Name)
	}
	s.Seconds, s.Work = lap(), float64(records)
	return s, nil
}

// indexPassages indexes passages, as many as its first argument says, of the folder that is its second. Work is passages.
func indexPassages(args []string) (s sample, err error) {
	most, err := strconv.Atoi(args[0])
	if err != nil {
		return s, err
	}
	words, err := bm25.Words(true, "")
	if err != nil {
		return s, err
	}
	lap := stopwatch()
	ix, err := indexed(args[1], most, words, anserini)
	if err != nil {
		return s, err
	}
	return sample{Seconds: lap(), Work: float64(most), Check: fmt.Sprintf("%+v", ix.Statistics)}, nil
}

// searchAll is one slice of the workload beam.
func searchAll(args []string) (s sample, err error) {
	w, err := onDevice(args, workloads["beam"])
	if err != nil {
		return s, err
	}
	defer w.close()
	lap := stopwatch()
	work, err := w.run()
	return sample{Seconds: lap(), Work: work, Check: fmt.Sprintf("%.0f queries", work)}, err
}
