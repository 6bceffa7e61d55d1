package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// The full data: what pipelines.hcl downloads.
const (
	fullRecords = 307_373 + 7_830
	fullShards  = 55   // 50 of train, 5 of dev
	fullGB      = 42.0 // of these, compressed
	dumpGB      = 60.0 // of the stub dump, one file, compressed
)

// stage is a part of the work, measured on a file that stands for the full data.
type stage struct {
	name   string
	full   float64 // compressed GB of the full data
	files  int     // that can be worked on at once
	single bool    // one thread: only its own seconds count
	piece  string
	args   []string // options, then files of the corpus, the first of which costs
}

func reportCosts(e *env) error {
	stages := []stage{
		{"gunzip, NQ", fullGB, fullShards, false, "gunzip", []string{shardFile}},
		{"extract", fullGB, fullShards, false, "nq-extract", []string{shardFile}},
		{"read records", fullGB, fullRecords, true, "read-records", []string{shardFile}},
		{"simplified", fullGB, fullRecords, true, "serialize", []string{"-form=simplified", shardFile}},
		{"simplenorm", fullGB, fullRecords, true, "serialize", []string{"-form=simplenorm", shardFile}},
		{"ncinorm", fullGB, fullRecords, true, "serialize", []string{"-form=ncinorm", shardFile}},
		{"htmlnorm", fullGB, fullRecords, true, "serialize", []string{"-form=htmlnorm", shardFile}},
		{"gunzip, dump", dumpGB, 1, false, "gunzip", []string{stubFile}},
		{"stub scan", dumpGB, 1, false, "stub-scan", []string{stubFile, wantedFile}},
	}
	fmt.Println(e.now().said())
	fmt.Printf("%-14s %9s %12s %12s %12s | full data on 2, 16, 64 cores, minutes\n", "stage", "MB/s", "s/GB text", "CPU s/GB", "CPU s/GB gz")
	for _, st := range stages {
		args, err := e.inCorpus(st.args)
		if err != nil {
			return err
		}
		info, err := os.Stat(args[slices.IndexFunc(args, func(a string) bool { return !strings.HasPrefix(a, "-") })])
		if err != nil {
			return err
		}
		var wall, cpu, text []float64
		for range e.pairs {
			s, err := start(e, ours(st.piece, args...))
			if err != nil {
				return err
			}
			wall, text = append(wall, s.Seconds), append(text, s.Work)
			if st.single {
				cpu = append(cpu, s.Seconds)
			} else {
				cpu = append(cpu, s.Processor)
			}
		}
		gb, gz := text[0]/1e9, float64(info.Size())/1e9
		w, c := slices.Min(wall), slices.Min(cpu)
		fmt.Printf("%-14s %9.0f %12.2f %12.2f %12.2f |", st.name, gb*1e3/w, w/gb, c/gb, c/gz)
		for _, cores := range []float64{2, 16, 64} {
			// Enough files keep all cores busy; a lone file goes as fast as one pipeline does.
			m := max(st.full*c/gz/cores, st.full*w/gz/float64(st.files)) / 60
			fmt.Printf(" %8.1f", m)
		}
		fmt.Println()
	}
	return nil
}
