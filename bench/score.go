package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/redsi/redsi/internal/corpora/splitmix"
	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/ranking/fusion"
	"github.com/redsi/redsi/internal/ranking/metrics"
)

// A run of a million rows, as many as people score at once.
const scoreQueries, scoreDepth, scoreJudged = 1000, 1000, 50

// scoreMeasures are trec_eval's names of what both sides compute.
var scoreMeasures = []string{"ndcg_cut_10", "map", "recip_rank", "P_10", "recall_100", "success_1", "success_10"}

var scoreLines = []line{
	{
		name: "score_vs_pytrec_eval", takes: 10, target: 2.5, value: seconds,
		doc:  "a run of 1,000 queries x 1,000 and 50 judgments a query, read from files and scored by seven measures; pytrec_eval reads by its own parse_run and parse_qrel; equal means",
		ours: scoredRun, peer: scorePeer("pytrec_eval"),
	},
	{
		name: "score_vs_ir_measures", takes: 14, target: 3, value: seconds,
		doc:  "the same, read and scored by ir_measures, which calls pytrec_eval",
		ours: scoredRun, peer: scorePeer("ir_measures"),
	},
	{
		name: "fuse_vs_ranx", takes: 20, target: 1.5, value: seconds,
		doc:  "that run and one of the same size, half of whose documents it has too, read from files and joined by reciprocal ranks; equal sums of the best 100 scores",
		ours: pieceOn("fuse", scoreFiles), peer: scriptOn(small, "fuse.py", scoreFiles),
	},
}

var scoredRun = pieceOn("score", scoreFiles)

func scorePeer(reader string) side {
	return scriptOn(small, "score.py", scoreFiles, reader, strings.Join(scoreMeasures, ","))
}

func scoreFiles(e *env) (string, error) {
	return e.keepPiece("score2", "make-run")
}

// makeRun writes run.txt, whose scores fall by more than float32's rounding, qrels.txt with
// grades from 0 to 3, and other.txt, a run of the same queries.
func makeRun(args []string) (sample, error) {
	var r, o, j bytes.Buffer
	for q := range scoreQueries {
		random := func(i, of int) int { return int(splitmix.Finish(uint64(q)<<32|uint64(i)) % uint64(of)) }
		first := random(0, 1<<20)
		for i := range scoreDepth {
			fmt.Fprintf(&r, "q%d Q0 D%d %d %.4f bench\n", q, first+i*7, i+1, float64(scoreDepth-i)/8+0.01*float64(random(i+1, 10)))
		}
		for i := range scoreDepth {
			fmt.Fprintf(&o, "q%d Q0 D%d %d %d bench\n", q, first+((i*617+300)%scoreDepth+scoreDepth/2)*7, i+1, scoreDepth-i)
		}
		for i := range scoreJudged { // two of three are ranked
			at := i*3*scoreDepth/scoreJudged/2 + random(5000+i, 3*scoreDepth/scoreJudged/2)
			fmt.Fprintf(&j, "q%d 0 D%d %d\n", q, first+at*7, max(0, random(9000+i, 8)-4))
		}
	}
	write := func(name string, b *bytes.Buffer) error {
		return os.WriteFile(filepath.Join(args[0], name), b.Bytes(), 0o644)
	}
	return sample{}, errors.Join(write("run.txt", &r), write("other.txt", &o), write("qrels.txt", &j))
}

// scoreRun reads and scores them. Work is rows.
func scoreRun(args []string) (sample, error) {
	var s sample
	measures, err := metrics.ParseAll(scoreMeasures...)
	if err != nil {
		return s, err
	}
	lap := stopwatch()
	in, err := os.Open(filepath.Join(args[0], "qrels.txt"))
	if err != nil {
		return s, err
	}
	defer in.Close()
	judged, err := trec.ReadQrels(in)
	if err != nil {
		return s, err
	}
	run, err := os.Open(filepath.Join(args[0], "run.txt"))
	if err != nil {
		return s, err
	}
	defer run.Close()
	scores, err := metrics.Scoring{Metrics: measures, Mode: metrics.Raw}.Score(trec.Rankings(run), judged)
	s.Seconds = lap()
	if err != nil {
		return s, err
	}
	s.Work = float64(scores.Ranked)
	for i, name := range scoreMeasures {
		s.Check += fmt.Sprintf("%s %.10f ", name, scores.Mean[i])
	}
	return s, nil
}

// fuseRuns reads two runs and joins them. Work is rows.
func fuseRuns(args []string) (s sample, err error) {
	lap := stopwatch()
	f := fusion.New(fusion.Method{K: 60, Depth: 2 * scoreDepth})
	for _, name := range []string{"run.txt", "other.txt"} {
		in, err := os.Open(filepath.Join(args[0], name))
		if err != nil {
			return s, err
		}
		defer in.Close()
		if _, err := f.Add(trec.Rankings(in), 1); err != nil {
			return s, err
		}
	}
	queries, best := 0, 0.0
	for r := range f.Rankings() {
		queries++
		for _, h := range r.Hypotheses[:min(100, len(r.Hypotheses))] {
			best += h.Score
		}
	}
	s.Seconds, s.Work, s.Check = lap(), 2*scoreQueries*scoreDepth, fmt.Sprintf("%d %.6f", queries, best)
	return s, nil
}
