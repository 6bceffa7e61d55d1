package model

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redsi/redsi/internal/docid"
	"github.com/redsi/redsi/internal/metrics"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// runTag is the last field of a run's lines.
const runTag = "redsi"

// evaluation is the report of an evaluate step.
type evaluation struct {
	Percent struct {
		Raw          effectiveness `json:"raw"`
		PostFiltered effectiveness `json:"post_filtered"`
		Invalid      *float64      `json:"invalid_40"` // null for identifiers that cannot be invalid
	} `json:"percent" unit:"percent"`
	Queries     int        `json:"queries"`
	Width       int        `json:"width"`
	Decoding    string     `json:"decoding"`
	Identifiers docid.Kind `json:"identifiers"`
	Parameters  int64      `json:"parameters"`
}

// effectiveness is means over queries, in percent.
type effectiveness struct {
	Hits1  float64 `json:"hits_1"`
	Hits10 float64 `json:"hits_10"`
	MRR10  float64 `json:"mrr_10"`
}

// joinEvaluation puts the parts' runs together and scores them.
func joinEvaluation(_ context.Context, x *step.IO, c evaluateConfig) error {
	rankings, err := joinRuns(x)
	if err != nil {
		return err
	}
	ids, err := readIDs(x, c.IDs)
	if err != nil {
		return err
	}
	queries, err := askedQueries(x, c.Queries, c.Split, ids)
	if err != nil {
		return err
	}
	var qrels metrics.Qrels
	for _, q := range queries {
		for _, target := range q.targets {
			if err := qrels.Add(q.name, ids.Identifiers[target].Document); err != nil {
				return step.Permanent(err)
			}
		}
	}
	x.Count("queries", int64(len(queries)))
	x.Count("queries_without_hypothesis", int64(len(queries)-len(rankings)))
	w, err := x.Create("qrels")
	if err != nil {
		return err
	}
	if err := errors.Join(qrels.Write(w), w.Close()); err != nil {
		return err
	}
	var model shardReport
	if err := inout.ReadJSON(x, step.In(x.Parts()[0].Outputs["report"]), &model); err != nil {
		return err
	}
	e := evaluation{Queries: len(queries), Width: c.Beams, Decoding: c.Decoding, Identifiers: model.Identifiers, Parameters: model.Parameters}
	if err := e.score(x, rankings, &qrels); err != nil {
		return err
	}
	return inout.WriteJSON(x, "report", e)
}

// joinRuns reads the parts' runs, one after another, and writes them as one that
// trec_eval ranks alike.
func joinRuns(x *step.IO) ([]metrics.Ranking, error) {
	var all []metrics.Ranking
	for _, p := range x.Parts() {
		r, err := x.Open(step.In(p.Outputs["run"]))
		if err != nil {
			return nil, err
		}
		part, err := metrics.ReadRun(r)
		r.Close()
		if err != nil {
			return nil, inout.DataError(err)
		}
		all = append(all, part...)
	}
	for _, r := range all {
		x.Count("hypotheses", int64(len(r.Hypotheses)))
		for _, h := range r.Hypotheses {
			if h.Document == "" {
				x.Count("invalid", 1)
			}
		}
	}
	untied, moved := metrics.Untie(all)
	x.Count("scores_untied", int64(moved))
	w, err := x.Create("run")
	if err != nil {
		return nil, err
	}
	return all, errors.Join(step.Permanent(metrics.WriteRun(w, runTag, untied)), w.Close())
}

// score fills in the percentages and writes each query's metrics.
//
// NOTE of a beam of less than 40, invalid_40 is the share of the whole beam.
func (e *evaluation) score(x *step.IO, rankings []metrics.Ranking, qrels *metrics.Qrels) error {
	var measures []metrics.Metric
	for _, name := range []string{"Hits@1", "Hits@10", "MRR@10", "Invalid@" + strconv.Itoa(min(e.Width, 40))} {
		m, err := metrics.Parse(name)
		if err != nil {
			return step.Permanent(err)
		}
		measures = append(measures, m)
	}
	raw, err := metrics.Evaluate(measures, metrics.Raw, rankings, qrels)
	if err != nil {
		return step.Permanent(err)
	}
	filtered, err := metrics.Evaluate(measures, metrics.PostFiltered, rankings, qrels)
	if err != nil {
		return step.Permanent(err)
	}
	percent := func(r *metrics.Report) effectiveness {
		return effectiveness{metrics.Percent(r.Mean[0]), metrics.Percent(r.Mean[1]), metrics.Percent(r.Mean[2])}
	}
	e.Percent.Raw, e.Percent.PostFiltered = percent(raw), percent(filtered)
	if e.Identifiers.CanBeInvalid() {
		invalid := metrics.Percent(raw.Mean[3])
		e.Percent.Invalid = &invalid
	}
	return writeQueryScores(x, measures, raw, filtered)
}

// writeQueryScores writes a line per query: raw metrics, post-filtered ones, and
// the share of invalid hypotheses, as fractions.
func writeQueryScores(x *step.IO, measures []metrics.Metric, raw, filtered *metrics.Report) error {
	w, err := x.Create("queries")
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	b.WriteString("query")
	ranked := measures[:len(measures)-1]
	for _, mode := range metrics.Modes() {
		for _, m := range ranked {
			fmt.Fprintf(b, "\t%s %s", mode, m)
		}
	}
	fmt.Fprintf(b, "\t%s\n", measures[len(ranked)])
	for i, row := range raw.Rows {
		b.WriteString(row.Query)
		for _, v := range append(append(row.Scores[:len(ranked):len(ranked)], filtered.Rows[i].Scores[:len(ranked)]...), row.Scores[len(ranked)]) {
			b.WriteByte('\t')
			b.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
		}
		b.WriteByte('\n')
	}
	return errors.Join(b.Flush(), w.Close())
}
