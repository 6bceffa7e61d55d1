package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// pieceArg makes this program run one piece in place of the bench.
const pieceArg = "piece"

// pieces are what the program can be restarted as, beside workloads.
func pieces() map[string]func(args []string) (sample, error) {
	return map[string]func([]string) (sample, error){
		"make-corpus":      makeCorpus,
		"make-vectors":     makeVectors,
		"gunzip":           gunzip,
		"nq-extract":       nqExtract,
		"nq-read":          nqRead,
		"read-records":     readRecords,
		"stub-scan":        stubScan,
		"serialize":        serializeRecords,
		"serialize-sorted": serializeSorted,
		"dedup":            dedupHeaders,
		"bm25-index":       indexPassages,
		"search-all":       searchAll,
		"kmeans":           clusterVectors,
		"flat":             searchVectors,
		"make-passages":    makePassages,
		"make-run":         makeRun,
		"score":            scoreRun,
		"fuse":             fuseRuns,
		"dag":              runDAG,
		"run-train":        runTraining,
	}
}

func runPiece(name string, args []string) error {
	if prepare, ok := workloads[name]; ok {
		if err := serve(prepare, args); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	run, ok := pieces()[name]
	if !ok {
		return fmt.Errorf("there is no piece %q", name)
	}
	s, err := run(args)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return json.NewEncoder(os.Stdout).Encode(s)
}

func ours(name string, args ...string) []string {
	return append([]string{os.Args[0], pieceArg, name}, args...)
}
