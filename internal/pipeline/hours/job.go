package hours

import (
	"math"
	"time"

	"github.com/redsi/redsi/internal/host/roofline"
	"github.com/redsi/redsi/step"
)

// Lengths that a plan does not know, in tokens: a query of Natural Questions has 9.2 words on
// average; prefix and end are around it.
const (
	queryTokens    = 14
	longestQuery   = 24 // of the queries of a batch
	aroundDocument = 3
	startSeconds   = 10 // for a step to read its inputs and its model
)

// job is what a card does for a step.
type job struct {
	parts    []part
	starts   float64 // times that a model is loaded
	training *roofline.Training
}

// part is a piece of work, times.
type part struct {
	work  roofline.Work
	times float64
}

// on is how long a card takes for it, and for what, but for loading models.
func (j *job) on(c roofline.Card) (took time.Duration, parts roofline.Parts) {
	for _, p := range j.parts {
		for n, seconds := range p.work.On(c, roofline.Assumed()).Parts {
			parts[n] += p.times * seconds
		}
	}
	return time.Duration((startSeconds*j.starts + parts.Seconds()) * float64(time.Second)), parts
}

// fit says whether the training fits a card.
func (j *job) fit(c roofline.Card) roofline.Fit {
	if j.training == nil {
		return roofline.Fit{Fits: true}
	}
	return roofline.Fits(c.Memory, *j.training)
}

// job is that of step i; why says why it is not known.
func (r *resolver) job(i int) (j job, why string, err error) {
	w := r.work(i)
	j.starts = 1
	for _, f := range []func() (string, error){
		func() (string, error) { return r.training(&j, w.Trains) },
		func() (string, error) { return r.searching(&j, w.Searches, w.Trains != nil) },
		func() (string, error) { return r.embedding(&j, w.Embeds) },
		func() (string, error) { return r.writing(&j, w.Writes) },
	} {
		if why, err = f(); why != "" || err != nil {
			return j, why, err
		}
	}
	if len(j.parts) == 0 {
		return j, "its kind does not say what it computes", nil
	}
	return j, "", nil
}

func (r *resolver) training(j *job, t *step.Training) (why string, err error) {
	if t == nil {
		return "", nil
	}
	model, why, err := r.model(t.Model)
	if why != "" || err != nil {
		return why, err
	}
	rows, err := r.rows(t.Model, t.Identifiers)
	if err != nil {
		return "", err
	}
	share := t.Documents
	if share < 0 {
		documents, queries := float64(paperDocuments), float64(paperTrain)
		if at, ok := r.source(t.Corpus); ok {
			documents = float64(r.documents(at))
		}
		if at, ok := r.source(t.Queries); ok {
			queries = float64(r.queries(at, "train"))
		}
		share = documents / max(1, documents+queries)
	}
	document, query := float64(t.MaxDocument+aroundDocument), math.Min(queryTokens, float64(t.MaxQuery+1))
	labels, longestLabel := query, float64(min(longestQuery, t.MaxQuery+1))
	_, ids, err := r.identifiers(t.Identifiers)
	if err != nil {
		return "", err
	}
	if ids != nil {
		labels, longestLabel = ids.Tokens, longest(ids)
	}
	n := float64(t.Batch)
	b := roofline.Batch{Examples: n, InputTokens: n * (share*document + (1-share)*query), LongestInput: math.Min(longestQuery, float64(t.MaxQuery+1)),
		LabelTokens: n * labels, LongestLabel: longestLabel}
	if share > 0 {
		b.LongestInput = max(b.LongestInput, document)
	}
	j.training = &roofline.Training{Model: model.Extended(rows), Batch: b, Precision: t.Precision, Optimizer: t.Optimizer,
		Accumulate: max(1, t.Accumulate), Recompute: t.Recomputes, Graphs: true}
	j.parts = append(j.parts, part{j.training.Work(), float64(t.Updates)})
	return "", nil
}

// longest is how many tokens the longest identifier has, about.
func longest(f *step.FutureIdentifiers) float64 {
	if f.OneToken {
		return math.Ceil(f.Tokens)
	}
	return math.Ceil(f.Tokens) + 2
}

func (r *resolver) searching(j *job, s *step.Searching, trained bool) (why string, err error) {
	if s == nil {
		return "", nil
	}
	model, why, err := r.model(s.Model)
	if why != "" || err != nil {
		return why, err
	}
	if trained {
		rows, err := r.rows(s.Model, s.Identifiers)
		if err != nil {
			return "", err
		}
		model = model.Extended(rows)
	}
	queries := float64(paperDev)
	if at, ok := r.source(s.Queries); ok {
		queries = float64(r.queries(at, s.Split))
	}
	at, ids, err := r.identifiers(s.Identifiers)
	if err != nil {
		return "", err
	}
	n := math.Min(float64(s.Batch), queries)
	search := roofline.Searching{Model: model, Batch: queriesBatch(n), Beams: float64(s.Beams), Tokens: 6, Along: s.Constrained, Precision: s.Precision}
	if ids != nil {
		search.Tokens = longest(ids)
		if ids.OneToken {
			search.Documents = r.documents(at)
		}
	}
	j.parts = append(j.parts, part{search.Work(), float64(max(1, s.Times)) * math.Ceil(queries/max(1, n))})
	if s.Part > 0 {
		j.starts += math.Ceil(queries/float64(s.Part)) - 1
	}
	return "", nil
}

func queriesBatch(n float64) roofline.Batch {
	return roofline.Batch{Examples: n, InputTokens: n * queryTokens, LongestInput: longestQuery}
}

func (r *resolver) embedding(j *job, e *step.Embedding) (why string, err error) {
	if e == nil {
		return "", nil
	}
	model, why, err := r.model(e.Model)
	if why != "" || err != nil {
		return why, err
	}
	texts, tokens := float64(paperDocuments), float64(e.MaxTokens)
	if at, ok := r.source(e.Corpus); ok {
		texts = float64(r.documents(at))
	} else if at, ok := r.source(e.Queries); ok {
		texts, tokens = float64(r.queries(at, e.Split)), math.Min(queryTokens, tokens)
	}
	n := max(1, math.Floor(float64(e.BatchTokens)/tokens))
	work := roofline.Embedding{Model: model, Batch: roofline.Batch{Examples: n, InputTokens: n * tokens, LongestInput: tokens}}.Work()
	j.parts = append(j.parts, part{work, math.Ceil(texts / n)})
	return "", nil
}

func (r *resolver) writing(j *job, g *step.Writing) (why string, err error) {
	if g == nil {
		return "", nil
	}
	model, why, err := r.model(g.Model)
	if why != "" || err != nil {
		return why, err
	}
	documents := float64(paperDocuments)
	if at, ok := r.source(g.Documents); ok {
		documents = float64(r.documents(at))
	}
	input := float64(g.MaxInput)
	if input == 0 {
		input = 512
	}
	rows, n := float64(max(g.PerDocument, g.Beams)), float64(g.Batch)
	work := roofline.Writing{Model: model, Batch: roofline.Batch{Examples: n, InputTokens: n * input, LongestInput: input}, Rows: rows,
		Tokens: math.Min(longestQuery, float64(g.MaxTokens)), Precision: "fp32"}.Work()
	j.parts = append(j.parts, part{work, math.Ceil(documents / n)})
	return "", nil
}
