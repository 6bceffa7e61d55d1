package model

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/ranking/metrics"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/internal/ranking/retrieve/stopping"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

type evaluateConfig struct {
	asking
	EarlyStopping *string `hcl:"early_stopping,optional" enum:"full,heuristic,never" help:"when a search ends, as True, False and never of transformers 4.44.1; default: as in the model's training"`
	Validity      *string `hcl:"validity,optional" enum:"tokens,text" help:"when a hypothesis names a document: its tokens are an identifier's, or its text is, whichever tokens spell it; what raw, post_filtered and invalid_40 of the report stand for; default: as in the model's training"`
	Shard         int     `hcl:"shard,optional" min:"1" help:"queries of a part, which is cached and resumed as one"`
}

// asking is what an evaluate step and its parts have in common.
type asking struct {
	Model         step.Input  `hcl:"model" accepts:"dsi/model" help:"trained model"`
	IDs           step.Input  `hcl:"ids" accepts:"docid/ids" help:"the identifiers that it was trained on"`
	Queries       step.Input  `hcl:"queries" accepts:"nq/queries" help:"queries of the collection"`
	Tokenizer     step.Inputs `hcl:"tokenizer,was=t5_tokenizer" accepts:"files" help:"the model's tokenizer.json"`
	Split         string      `hcl:"split,optional" enum:"train,dev,test" help:"which queries are asked"`
	Decoding      string      `hcl:"decoding,optional" enum:"unconstrained,constrained" help:"beams over the whole vocabulary, or along the trie of identifiers; no effect on atomic identifiers"`
	Beams         int         `hcl:"beams,optional" min:"1" help:"beams, all of them returned; documents of an atomic ranking"`
	LengthPenalty float64     `hcl:"length_penalty,optional" help:"a hypothesis scores its log-probability / length^length_penalty"`
	Precision     string      `hcl:"precision,added" enum:"fp32,bf16,int8" help:"precision of matrix products; bf16 is faster than fp32 on cards and on processors with instructions for it, int8 is faster still, on processors only"`
	Batch         int         `hcl:"batch,optional,nokey" min:"0" help:"queries decoded together: memory grows with it, scores differ by rounding only; 0: 32, on a card as many as it has room for"`
	Device        string      `hcl:"device,optional,nokey" help:"cpu, cuda, cuda:1 …; auto: a free card of the worker, else the CPU"`
}

var evaluateDefaults = evaluateConfig{asking: asking{Split: string(nq.Dev), Decoding: unconstrained, Beams: 40, LengthPenalty: 1, Precision: "fp32", Device: "auto"}, Shard: 512}

var Evaluate = step.Define(step.Kind[evaluateConfig]{
	Name:    "evaluate",
	Version: 4,
	Doc: `Retrieve documents for queries by a trained model, and score the rankings (section "Experimental Setup").
Atomic identifiers are ranked by one decoder step, the others by beam search. Two
scores: raw, where a hypothesis that is not an identifier keeps its rank, and
post_filtered, the paper's, where it is left out (appendix "Decoding Procedures").
Both are reported by_tokens and by_text, from one search: validity says which of them is
also the report's raw, post_filtered and invalid_40, and what run has. Other measures, and
the scores of single queries, which compare reads, are kind score's, of run and qrels.
With fewer than 40 beams invalid_40 is null, and invalid_beam is the share of all of
them, Invalid@width. Hits and MRR find nothing beyond the beam, as in trec_eval.
Seen and unseen are post_filtered scores of queries whose document has a training
query, and of the others. How queries are read, early_stopping and validity are
those of training, from the model's redsi.json. Documents
and queries are named as kind export names them by number, in the formats of trec_eval.
Computes in float32, or, with precision = "bf16" or "int8", with operands of products rounded, which moves scores by
some thousandths or hundredths. Cost: each part loads the model and builds the trie once, about
2 s for T5-Small and 100,000 documents; then, on two cores, 10 ms a query for atomic
identifiers and 0.5 s for 40 beams. Time grows with queries x beams x tokens of the
longest identifier; with documents only for atomic identifiers, which have a row of
the output matrix each. Memory: 4 bytes x (parameters + output matrix), 12 bytes per
prefix of the trie, 8 bytes x d_model x decoder layers x tokens x beams x batch, and
100 bytes per hypothesis of the joined run.`,
	Example: `step "evaluate" "dsi" {
  model     = step.train.dsi["semantic/42"].model
  ids       = step.semantic_ids.title.ids
  queries   = step.dedup.nq["title"].queries
  tokenizer = step.download.t5_tokenizer.files
}`,
	Outputs: []step.Output{
		{Name: "run", Type: "trec/run", Help: "TREC run, invalid hypotheses as !POSITION:TEXT, further ones for a document as !POSITION=DOCUMENT; equal scores are set apart by the least that trec_eval sees, so that it ranks as we do",
			Alike: sameRun, Why: "scores differ in their last digits, and documents of nearly equal scores change places"},
		{Name: "qrels", Type: "trec/qrels", Help: "TREC qrels of the queries"},
		{Name: "report", Type: "dsi/metrics", Help: "means in percent, as JSON", Fields: step.FieldsOf[Evaluation](),
			Alike: sameMeans, Why: "a document that changes places changes its query's metrics"},
	},
	Defaults: evaluateDefaults,
	Queue:    step.GPU,
	Check:    inout.Checks(func(c evaluateConfig, ps *step.Problems) { inout.CheckDevice(ps, c.Device, c.Precision) }),
	Parts:    []step.Spec{EvaluateShard.Spec},
	Split:    splitEvaluation,
	Work: func(c evaluateConfig) step.Work { // parts share it
		unit := step.Searches
		if c.Decoding == Constrained {
			unit = step.Constrained
		}
		return by(step.Work{Does: []step.Doing{searches(unit, 1, c.Beams, c.Queries, c.Split)}}, c.Model, c.IDs)
	},
	Run: joinEvaluation,
})

const unconstrained, Constrained = "unconstrained", "constrained"

type EvaluateShardConfig struct {
	asking
	EarlyStopping string `hcl:"early_stopping" help:"when a search ends"`
	From          int    `hcl:"from" help:"first query, counted within the split"`
	To            int    `hcl:"to" help:"query after the last"`
}

var EvaluateShard = step.DefinePart(step.Kind[EvaluateShardConfig]{
	Name:    "evaluate_shard",
	Version: 1,
	Doc:     "Some queries of an evaluate step.",
	Outputs: []step.Output{
		{Name: "run", Type: "trec/run", Help: "TREC run of these queries", Alike: sameRun},
		{Name: "report", Type: "dsi/model_report", Help: "what the model is, as JSON"},
	},
	Defaults: EvaluateShardConfig{asking: asking{Precision: evaluateDefaults.Precision}},
	Queue:    step.GPU,
	Needs:    step.Libtorch,
	Device:   func(c EvaluateShardConfig) string { return c.Device },
})

type ShardReport struct {
	Identifiers docid.Kind `json:"identifiers"`
	Parameters  int64      `json:"parameters"` // trainable numbers, tied ones counted once
}

// splitEvaluation checks, before a model is loaded, that the inputs belong together.
func splitEvaluation(_ context.Context, x *step.IO, c evaluateConfig) ([]step.Task, error) {
	settings, _, queries, err := c.Read(x)
	if err != nil {
		return nil, err
	}
	stopping := c.search(settings).EarlyStopping
	if settings.Identifiers.OneToken() { // searched in one way: evaluations share parts
		c.Decoding, c.LengthPenalty = evaluateDefaults.Decoding, evaluateDefaults.LengthPenalty
		stopping = retrieve.DefaultSearch().EarlyStopping
	}
	var parts []EvaluateShardConfig
	for from := 0; from < len(queries); from += c.Shard {
		parts = append(parts, EvaluateShardConfig{asking: c.asking, EarlyStopping: string(stopping),
			From: from, To: min(from+c.Shard, len(queries))})
	}
	return inout.Tasks(EvaluateShard, parts)
}

// search returns the step's search, by default the model's.
func (c evaluateConfig) search(s retrieve.Settings) retrieve.Search {
	return retrieve.Search{EarlyStopping: stopping.Rule(inout.Or(c.EarlyStopping, string(s.Search.EarlyStopping))),
		Validity: retrieve.Validity(inout.Or(c.Validity, string(s.Search.Validity)))}
}

// Settings reads how the model was trained, without its weights.
func Settings(x *step.IO, model step.Input) (retrieve.Settings, error) {
	text, err := File(x, model, retrieve.SettingsFile)
	if err != nil {
		return retrieve.Settings{}, err
	}
	s, err := retrieve.ParseSettings(text)
	return s, step.Permanent(err)
}

// File reads a small file of a model; nil if there is none.
func File(x *step.IO, model step.Input, name string) ([]byte, error) {
	f, ok := model.Artifact.File(name)
	if !ok {
		return nil, nil
	}
	return inout.ReadFile(x, f)
}

// Read reads how the model was trained, its identifiers, and the queries that it is asked. Documents of queries of all
// splits must have identifiers.
func (c asking) Read(x *step.IO) (retrieve.Settings, *docid.Set, []inout.Question, error) {
	settings, err := Settings(x, c.Model)
	ids, errIDs := inout.ReadIDs(x, c.IDs)
	if err = cmp.Or(err, errIDs); err != nil {
		return settings, nil, nil, err
	}
	if err := settings.Match(ids); err != nil {
		return settings, nil, nil, step.Permanent(err)
	}
	pairing := ids.PairWith("queries")
	queries, err := inout.ReadQuestions(x, c.Queries, nq.Split(c.Split), func(q *dedup.Query) error {
		_, err := pairing.Find(int(q.Doc))
		return err
	})
	return settings, ids, queries, err
}

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
	InvalidBeam  *float64      `json:"invalid_beam,omitempty"` // of all beams, if they are fewer than 40
}

// effectiveness has means over queries, in percent.
type effectiveness struct {
	Hits1  float64 `json:"hits_1"`
	Hits10 float64 `json:"hits_10"`
	MRR10  float64 `json:"mrr_10"`
}

func joinEvaluation(_ context.Context, x *step.IO, c evaluateConfig) error {
	settings, ids, queries, err := c.Read(x)
	if err != nil {
		return err
	}
	search := c.search(settings)
	var byTokens []trec.Ranking // the parts' runs, one after another; hypotheses that are invalid by tokens have texts
	for _, p := range x.Parts() {
		part, err := inout.Read(x, step.In(p.Outputs["run"]), "", trec.ReadRun)
		if err != nil {
			return err
		}
		byTokens = append(byTokens, part...)
	}
	rankings := map[retrieve.Validity][]trec.Ranking{retrieve.ByTokens: byTokens, retrieve.ByText: byText(byTokens, ids)}
	run := rankings[search.Validity]
	for _, r := range run {
		x.Count("hypotheses", int64(len(r.Hypotheses)))
		if invalid := lists.Count(r.Hypotheses, func(h trec.Hypothesis) bool { return h.Document == "" }); invalid > 0 {
			x.Count("invalid", int64(invalid))
		}
	}
	if err := inout.WriteRun(x, run); err != nil {
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

// byText names documents also for hypotheses that are valid only by their texts.
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

// invalidDepth is how many hypotheses the paper's Invalid@40 looks at.
const invalidDepth = 40

// InvalidMetric names the metric, which looks at all beams if they are fewer.
func InvalidMetric(beams int) string { return "Invalid@" + strconv.Itoa(min(beams, invalidDepth)) }

func (e *Evaluation) score(rankings map[retrieve.Validity][]trec.Ranking, judged *trec.Judgments, queries []inout.Question) error {
	measures, _ := metrics.ParseAll("Hits@1", "Hits@10", "MRR@10", InvalidMetric(e.Width)) // names of ours
	seen := make(map[string]bool, len(queries))
	for _, q := range queries {
		seen[q.Name] = q.Seen
	}
	p := &e.Percent
	for validity, of := range map[retrieve.Validity]*rulePercent{retrieve.ByTokens: &p.ByTokens, retrieve.ByText: &p.ByText} {
		held := trec.Held(rankings[validity])
		raw, err := metrics.Scoring{Metrics: measures, Mode: metrics.Raw}.Score(held, judged)
		filtered, errFiltered := metrics.Scoring{Metrics: measures, Mode: metrics.PostFiltered}.Score(held, judged)
		if err = cmp.Or(err, errFiltered); err != nil {
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

// percent turns the means of Hits@1, Hits@10 and MRR@10 into percent; nil without means.
func percent(mean []float64) *effectiveness {
	if mean == nil {
		return nil
	}
	return &effectiveness{metrics.Percent(mean[0]), metrics.Percent(mean[1]), metrics.Percent(mean[2])}
}
