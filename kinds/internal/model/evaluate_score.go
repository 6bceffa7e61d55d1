package model

import (
	"context"
	"slices"
	"strconv"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/ranking/metrics"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// Evaluation is the report of an evaluate step.
type Evaluation struct {
	Percent struct {
		rulePercent                // of the validity below
		ByTokens    rulePercent    `json:"by_tokens"`
		ByText      rulePercent    `json:"by_text"`
		Seen        *effectiveness `json:"seen"` // post-filtered, of queries whose document has a training query; null if there are none
		Unseen      *effectiveness `json:"unseen"`
	} `json:"percent" unit:"percent"`
	Queries       int        `json:"queries"`
	SeenQueries   int        `json:"seen_queries"`
	UnseenQueries int        `json:"unseen_queries"`
	Width         int        `json:"width"`
	Decoding      string     `json:"decoding"`
	EarlyStopping string     `json:"early_stopping"`
	Validity      string     `json:"validity"`
	Identifiers   docid.Kind `json:"identifiers"`
	Parameters    int64      `json:"parameters"`
}

// rulePercent is what a rule of validity makes of the search.
type rulePercent struct {
	Raw          effectiveness `json:"raw"`
	PostFiltered effectiveness `json:"post_filtered"`
	Invalid      *float64      `json:"invalid_40"`             // null for identifiers that cannot be invalid, and for fewer beams
	InvalidBeam  *float64      `json:"invalid_beam,omitempty"` // of fewer than 40 beams: of all, whose number is the report's width
}

// effectiveness is means over queries, in percent.
type effectiveness struct {
	Hits1  float64 `json:"hits_1"`
	Hits10 float64 `json:"hits_10"`
	MRR10  float64 `json:"mrr_10"`
}

// joinEvaluation puts the parts' runs together and scores them.
func joinEvaluation(_ context.Context, x *step.IO, c evaluateConfig) error {
	settings, ids, queries, err := c.Read(x)
	if err != nil {
		return err
	}
	search := c.search(settings)
	byTokens, err := readRuns(x)
	if err != nil {
		return err
	}
	rankings := map[retrieve.Validity][]trec.Ranking{retrieve.ByTokens: byTokens, retrieve.ByText: byText(byTokens, ids)}
	if err := writeJoined(x, rankings[search.Validity]); err != nil {
		return err
	}
	inout.Count(x, map[string]int{"queries": len(queries), "queries_without_hypothesis": len(queries) - len(byTokens)})
	judged, err := inout.WriteQrels(x, queries)
	if err != nil {
		return err
	}
	var model ShardReport
	if err := inout.ReadJSON(x, step.In(x.Parts()[0].Outputs["report"]), &model); err != nil {
		return err
	}
	e := Evaluation{Queries: len(queries), Width: c.Beams, Decoding: c.Decoding, EarlyStopping: string(search.EarlyStopping),
		Validity: string(search.Validity), Identifiers: model.Identifiers, Parameters: model.Parameters}
	if err := e.score(rankings, judged, queries); err != nil {
		return step.Permanent(err)
	}
	return inout.WriteJSON(x, "report", e)
}

// readRuns reads the parts' runs, one after another. What is not valid by tokens has its
// text.
func readRuns(x *step.IO) ([]trec.Ranking, error) {
	var all []trec.Ranking
	for _, p := range x.Parts() {
		part, err := inout.Read(x, step.In(p.Outputs["run"]), "", trec.ReadRun)
		if err != nil {
			return nil, err
		}
		all = append(all, part...)
	}
	return all, nil
}

// byText names the documents also of hypotheses that only their texts make valid.
func byText(rankings []trec.Ranking, ids *docid.Set) []trec.Ranking {
	texts := retrieve.TextsOf(ids)
	out := make([]trec.Ranking, len(rankings))
	for i, r := range rankings {
		out[i] = trec.Ranking{Query: r.Query, Hypotheses: slices.Clone(r.Hypotheses)}
		for k, h := range r.Hypotheses {
			if place, ok := texts.Find(h.Text); ok && h.Document == "" {
				out[i].Hypotheses[k].Document = ids.Identifiers[place].Document
			}
		}
	}
	return out
}

// writeJoined writes the run as one that trec_eval ranks alike.
func writeJoined(x *step.IO, all []trec.Ranking) error {
	for _, r := range all {
		x.Count("hypotheses", int64(len(r.Hypotheses)))
		for _, h := range r.Hypotheses {
			if h.Document == "" {
				x.Count("invalid", 1)
			}
		}
	}
	return inout.WriteRun(x, all)
}

// invalidDepth is how many hypotheses the paper's Invalid@40 looks at.
const invalidDepth = 40

// InvalidMetric is the metric's name: of fewer beams it has their number.
func InvalidMetric(beams int) string { return "Invalid@" + strconv.Itoa(min(beams, invalidDepth)) }

// score fills in the percentages.
func (e *Evaluation) score(rankings map[retrieve.Validity][]trec.Ranking, judged *trec.Judgments, queries []inout.Question) error {
	measures, err := metrics.ParseAll("Hits@1", "Hits@10", "MRR@10", InvalidMetric(e.Width))
	if err != nil {
		return err
	}
	seen := make(map[string]bool, len(queries))
	for _, q := range queries {
		seen[q.Name] = q.Seen
	}
	p := &e.Percent
	for validity, of := range map[retrieve.Validity]*rulePercent{retrieve.ByTokens: &p.ByTokens, retrieve.ByText: &p.ByText} {
		raw, err := metrics.Scoring{Metrics: measures, Mode: metrics.Raw}.Score(trec.Held(rankings[validity]), judged)
		if err != nil {
			return err
		}
		filtered, err := metrics.Scoring{Metrics: measures, Mode: metrics.PostFiltered}.Score(trec.Held(rankings[validity]), judged)
		if err != nil {
			return err
		}
		of.Raw, of.PostFiltered = *percent(raw.Mean), *percent(filtered.Mean)
		if e.Identifiers.CanBeInvalid() {
			invalid := metrics.Percent(raw.Mean[3])
			if e.Width < invalidDepth {
				of.InvalidBeam = &invalid
			} else {
				of.Invalid = &invalid
			}
		}
		if string(validity) == e.Validity {
			p.rulePercent = *of
			mean, n := filtered.MeanOf(func(q string) bool { return seen[q] })
			p.Seen, e.SeenQueries = percent(mean), n
			mean, n = filtered.MeanOf(func(q string) bool { return !seen[q] })
			p.Unseen, e.UnseenQueries = percent(mean), n
		}
	}
	return nil
}

// percent is of the means of Hits@1, Hits@10 and MRR@10; nil of none.
func percent(mean []float64) *effectiveness {
	if mean == nil {
		return nil
	}
	return &effectiveness{metrics.Percent(mean[0]), metrics.Percent(mean[1]), metrics.Percent(mean[2])}
}
