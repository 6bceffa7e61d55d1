package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/corpora/wikipedia"
	"github.com/redsi/redsi/internal/system/lists"
)

var stubLines = []line{
	{
		name: "stub_scan_vs_gunzip", takes: 8, target: 0.75, value: throughput,
		doc:  "pages of the records' revisions from a stub dump, against only gunzip by the same library",
		ours: onCorpus("stub-scan", stubFile, wantedFile), peer: onCorpus("gunzip", stubFile), unlike: true,
	},
	{
		name: "stub_scan_vs_lxml", takes: 28, target: 6, value: throughput,
		doc:  "the same, against lxml's iterparse",
		ours: onCorpus("stub-scan", stubFile, wantedFile), peer: besideOnCorpus("stub_lxml.py", stubFile, "--wanted", wantedFile),
	},
	{
		name: "stub_scan_vs_mwxml", takes: 18, target: 60, value: throughput,
		doc:  "the same on the dump's first 20 MB (ours 20 times over), against mwxml",
		ours: onCorpus("stub-scan", "-runs=20", cutFile, wantedFile), peer: besideOnCorpus("stub_mwxml.py", cutFile, "--wanted", wantedFile),
	},
	{
		name: "stub_memory_10x_vs_1x", takes: 9, target: 0.8, value: peakMemory,
		doc:  "peak memory of the same on ten times the dump (ours) and on the dump (peer)",
		ours: onCorpus("stub-scan", "-times=10", stubFile, wantedFile), peer: onCorpus("stub-scan", stubFile, wantedFile), unlike: true, once: true,
	},
}

// stubScan finds the wanted revisions in a dump that is read -times times as one stream, -runs times from the start.
func stubScan(args []string) (sample, error) {
	var s sample
	set := flag.NewFlagSet("", flag.ExitOnError)
	times := set.Int("times", 1, "")
	runs := set.Int("runs", 1, "")
	set.Parse(args) // an error ends the process
	wanted, err := readWanted(set.Arg(1))
	if err != nil {
		return s, err
	}
	lap := stopwatch()
	for range *runs {
		in, err := openTimes(set.Arg(0), *times)
		if err != nil {
			return s, err
		}
		_, stats, err := wikipedia.ScanStub(context.Background(), in, set.Arg(0), wanted, nil)
		if err = errors.Join(err, in.Close()); err != nil {
			return s, err
		}
		s.Work += float64(stats.BytesOut)
		s.Check = fmt.Sprintf("%d pages, %d revisions, %d found", stats.Pages, stats.Revisions, stats.Found)
	}
	s.Seconds = lap()
	return s, nil
}

func readWanted(name string) (wikipedia.Wanted, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var ids []uint64
	for f := range strings.FieldsSeq(string(b)) {
		id, err := strconv.ParseUint(f, 10, 64)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return lists.Set(ids), nil
}
