package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/redsi/redsi/assets/tokenizers"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/tokenize"
)

// The size of Natural Questions (tab:dedup-counts).
const nqTrain, nqDev = 307_373, 7_830

var dedupLines = []line{
	{
		name: "dedup_ten_keys_vs_10s", target: 1, value: seconds,
		doc:  "315,203 headers read and grouped under the ten keys, against a bound of 10 s",
		ours: tenKeys, peer: side{bound: 10},
	},
	{
		name: "dedup_ten_keys_vs_2gb", target: 1, value: peakMemory,
		doc:  "peak memory of the same, against a bound of 2 GB",
		ours: tenKeys, peer: side{bound: 2000}, once: true,
	},
}

var tenKeys = side{command: func(e *env) ([]string, error) {
	dir, err := e.keepPiece("headers1", "make-headers")
	return ours("dedup", filepath.Join(dir, "headers")), err
}}

// makeHeaders writes a headers@1 stream of NQ's size and proportions.
func makeHeaders(args []string) (sample, error) {
	f, err := os.Create(filepath.Join(args[0], "headers"))
	if err != nil {
		return sample{}, err
	}
	defer f.Close()
	w, err := nq.NewHeaderWriter(f)
	if err != nil {
		return sample{}, err
	}
	for i := range nqTrain + nqDev {
		h := syntheticHeader(i)
		if err := w.Write(&h); err != nil {
			return sample{}, err
		}
	}
	return sample{}, errors.Join(w.Close(), f.Close())
}

// syntheticHeader is record i of a collection with 2.9 records a page and 1.36 a
// revision, of which 1 % bear another title than their page's first.
func syntheticHeader(i int) nq.Header {
	mix := func(x uint64) uint64 {
		x = (x ^ x>>31) * 0x9e3779b97f4a7c15
		return x ^ x>>29
	}
	rev := mix(uint64(i)) % 231_695
	page := mix(rev+1) % 115_000
	title := fmt.Sprintf("Article %d of the (%d) list", page, page%977)
	if rev%100 == 0 {
		title += " – renamed"
	}
	h := nq.Header{
		ExampleID: int64(mix(uint64(i) + 7)), Split: nq.Train,
		Question: fmt.Sprintf("who is the author of article number %d in the list", i),
		URL:      fmt.Sprintf("https://en.wikipedia.org//w/index.php?title=Article_%d_of_the_(%d)_list&amp;oldid=%d", page, page%977, rev+700_000_000),
		Title:    title, H1: title, HasH1: true,
	}
	if i >= nqTrain {
		h.Split = nq.Dev
	}
	h.Text4K[0], h.Text4K[1], h.Text4K[2], h.Text4K[3] = byte(rev), byte(rev>>8), byte(rev>>16), 1
	h.Text4KCased = h.Text4K
	return h
}

// dedupHeaders reads the stream and groups it under the ten keys of the paper.
func dedupHeaders(args []string) (sample, error) {
	var s sample
	bert, err := tokenize.NewBERT(tokenizers.BERTUncased)
	if err != nil {
		return s, err
	}
	f, err := os.Open(args[0])
	if err != nil {
		return s, err
	}
	defer f.Close()
	sources := dedup.Sources{
		BertNormalize: bert.Normalize,
		PageID:        func(oldid uint64) (uint64, bool) { return oldid % 109_229, oldid%2000 != 0 },
	}
	lap := stopwatch()
	g, err := dedup.NewGrouper(dedup.PaperKeys(), dedup.Options{RecordOrder: dedup.TrainFirst}, sources)
	headers := nq.NewHeaderReader(f)
	for err == nil {
		var h nq.Header
		if err = headers.Next(&h); err == nil {
			err = g.Add(&h)
		}
	}
	if !errors.Is(err, io.EOF) {
		return s, err
	}
	s.Seconds = lap()
	s.Work = nqTrain + nqDev
	for _, g := range g.Groupings() {
		s.Check += fmt.Sprintf("%s %d, ", g.Key.Name, g.Counts().Union)
	}
	return s, nil
}
