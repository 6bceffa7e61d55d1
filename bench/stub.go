package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/corpora/wikipedia"
)

var stubLines = []line{
	{
		name: "stub_scan_vs_gunzip", target: 0.75, value: throughput,
		doc:  "pages of the records' revisions from a stub dump, against gunzip alone by the same library",
		ours: onDump("stub-scan", stubFile, wantedFile), peer: onDump("gunzip", stubFile), unlike: true,
	},
	{
		name: "stub_scan_vs_lxml", target: 6, value: throughput,
		doc:  "the same, against gzip and lxml's iterparse",
		ours: onDump("stub-scan", stubFile, wantedFile), peer: onDumpPython("stub_lxml.py", stubFile, wantedFile),
	},
	{
		name: "stub_scan_vs_mwxml", target: 60, value: throughput,
		doc:  "the same on the dump's first 20 MB (ours 20 times over), against mwxml",
		ours: onDump("stub-scan", "-runs=20", cutFile, wantedFile), peer: onDumpPython("stub_mwxml.py", cutFile, wantedFile),
	},
	{
		name: "stub_memory_10x_vs_1x", target: 0.8, value: peakMemory,
		doc:  "peak memory of the same on ten times the dump (ours) and on the dump (peer)",
		ours: onDump("stub-scan", "-times=10", stubFile, wantedFile), peer: onDump("stub-scan", "-times=1", stubFile, wantedFile), unlike: true, once: true,
	},
}

// inCorpus makes names of files of the corpus paths; options stay.
func (e *env) inCorpus(names []string) ([]string, error) {
	dir, err := e.corpus()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, n := range names {
		if !strings.HasPrefix(n, "-") {
			n = filepath.Join(dir, n)
		}
		out = append(out, n)
	}
	return out, nil
}

func onDump(piece string, args ...string) side {
	return side{command: func(e *env) ([]string, error) {
		args, err := e.inCorpus(args)
		return ours(piece, args...), err
	}}
}

func onDumpPython(script string, args ...string) side {
	return side{command: func(e *env) ([]string, error) {
		args, err := e.inCorpus(args)
		if err != nil {
			return nil, err
		}
		return e.python("data", script, args[0], "--wanted", args[1])
	}}
}

// stubScan resolves the wanted revisions from a dump that is read -times times as
// one stream, -runs times from the start.
func stubScan(args []string) (sample, error) {
	var s sample
	set := flag.NewFlagSet("", flag.ContinueOnError)
	times := set.Int("times", 1, "")
	runs := set.Int("runs", 1, "")
	if err := set.Parse(args); err != nil {
		return s, err
	}
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
	return wikipedia.NewWanted(ids), nil
}
