package decode

import (
	"context"
	"fmt"
	"math"

	"github.com/redsi/redsi/internal/corpora/splitmix"
	"github.com/redsi/redsi/internal/system/lists"
)

// Sampling is a configuration of sampling: tokens are drawn one after another, each by the
// probabilities of transformers' logits processors for temperature, top_k and top_p.
type Sampling struct {
	Samples              int     // of each query
	MaxTokens            int     // max_new_tokens, the end of sequence included
	TopK                 int     // tokens that may be drawn: the most probable ones; 0: all
	TopP                 float64 // of these the fewest that have so much of their probability; 1: all
	Temperature          float64 // divides the scores
	Seed                 uint64
	Start                int32 // decoder_start_token_id
	EOS                  int32 // ends a sample
	ForcedBOS, ForcedEOS *int64
}

func (o *Sampling) Check() error {
	switch {
	case o.Samples < 1:
		return fmt.Errorf("sampling: %d samples; at least 1 is needed", o.Samples)
	case o.MaxTokens < 1:
		return fmt.Errorf("sampling: at most %d new tokens; at least 1 is needed", o.MaxTokens)
	case o.TopK < 0:
		return fmt.Errorf("sampling: top_k %d; it is 0, for all tokens, or more", o.TopK)
	case !(o.TopP > 0 && o.TopP <= 1):
		return fmt.Errorf("sampling: top_p %v; it must be above 0 and at most 1", o.TopP)
	case !(o.Temperature > 0) || math.IsInf(o.Temperature, 0):
		return fmt.Errorf("sampling: temperature %v; it must be above 0", o.Temperature)
	}
	return nil
}

// drawn is a sample that has not ended.
type drawn struct {
	query, number int
	row           int32 // of the last Step
	tokens        []int32
	score         float64
}

// Sample draws hypotheses of queries, in the order of their numbers for each query; their scores are the model's
// log-probabilities, of the whole vocabulary. The random number of a token is a function of seed, the query's key, the
// sample's number and the token's place: neither the queries that are sampled together nor the number of samples change
// it.
func Sample(ctx context.Context, s Stepper, keys []uint64, o Sampling) ([][]Hypothesis, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	out := make([][]Hypothesis, len(keys))
	live := make([]*drawn, 0, len(keys)*o.Samples)
	for q := range keys {
		out[q] = make([]Hypothesis, o.Samples)
		for n := range o.Samples {
			live = append(live, &drawn{query: q, number: n, row: int32(q)})
		}
	}
	for step := 1; step <= o.MaxTokens && len(live) > 0; step++ {
		next, err := o.step(ctx, s, step, live, keys)
		if err != nil {
			return nil, fmt.Errorf("decoder step %d: %w", step, err)
		}
		left := live[:0]
		for i, d := range live {
			c := next[i]
			d.tokens, d.score = append(d.tokens, c.Token), d.score+float64(c.Score)
			if c.Token == o.EOS || step == o.MaxTokens {
				out[d.query][d.number] = Hypothesis{Tokens: d.tokens, Score: d.score}
			} else {
				left = append(left, d)
			}
		}
		live = left
	}
	return out, nil
}

// drawing are Scores that draw on their own.
type drawing interface {
	// Draw returns the candidate of rows[i] that is drawn at u[i] of [0, 1), among the candidates that o allows.
	Draw(o *Sampling, rows []int32, u []float64) ([]Candidate, error)
}

// step runs a step and draws what follows each sample. The first one has a row for each
// query, the others have one for each sample.
func (o *Sampling) step(ctx context.Context, s Stepper, step int, live []*drawn, keys []uint64) ([]Candidate, error) {
	var of []int
	var tokens, parents []int32
	if step == 1 {
		for q := range keys {
			of, tokens = append(of, q), append(tokens, o.Start)
		}
	} else {
		for i, d := range live {
			of, tokens, parents = append(of, d.query), append(tokens, d.tokens[len(d.tokens)-1]), append(parents, d.row)
			d.row = int32(i)
		}
	}
	scores, err := s.Step(ctx, of, tokens, parents)
	if err != nil {
		return nil, err
	}
	b := Beam{MaxTokens: o.MaxTokens, ForcedBOS: o.ForcedBOS, ForcedEOS: o.ForcedEOS}
	if token := b.forced(step); token != nil {
		scores = forced{int32(*token), len(of)}
	}
	rows, u := make([]int32, len(live)), make([]float64, len(live))
	for i, d := range live {
		rows[i], u[i] = d.row, uniform(o.Seed, keys[d.query], uint64(d.number), uint64(step))
	}
	if d, ok := scores.(drawing); ok {
		return d.Draw(o, rows, u)
	}
	may, err := o.choices(scores, len(of))
	if err != nil {
		return nil, err
	}
	return lists.Map(lists.Places(len(live)), func(i int) Candidate { return may[rows[i]].draw(u[i], o.Temperature) }), nil
}

// choices are the tokens that may be drawn for a row, best first.
type choices []Candidate

// enough is how many candidates are looked at first where top_k does not say.
const enough = 1024

// choices returns the tokens that may be drawn for each row of a step.
func (o *Sampling) choices(scores Scores, rows int) ([]choices, error) {
	n := enough
	if o.TopK > 0 {
		n = o.TopK + 1
	}
	for {
		top, err := scores.Top(make([]float32, rows), n, nil, nil)
		if err != nil {
			return nil, err
		}
		out, all := make([]choices, rows), true
		for row, candidates := range top {
			if len(candidates) == 0 || math.IsNaN(float64(candidates[0].Score)) {
				return nil, ErrNaN
			}
			c, ok := o.filter(candidates, len(candidates) < n)
			out[row], all = c, all && ok
		}
		if all {
			return out, nil
		}
		n *= 4
	}
}

// filter keeps the candidates of a row that may be drawn. complete says that there are no more candidates; the result
// is false if a missing one might matter. As in transformers, tokens as probable as the last of top_k are kept with it.
func (o *Sampling) filter(c choices, complete bool) (choices, bool) {
	all := c
	if o.TopK > 0 && o.TopK < len(c) {
		k := o.TopK
		for k < len(c) && c[k].Score == c[k-1].Score {
			k++
		}
		c = c[:k]
	}
	cut := len(c) < len(all) // more candidates do not matter
	if o.TopP == 1 {
		return c, cut || complete
	}
	total := c.weight(o.Temperature)
	decided := cut || complete
	if !decided && o.TopK == 0 && o.Temperature == 1 {
		total, decided = 1/math.Exp(float64(c[0].Score)), true // scores are of the whole vocabulary
	}
	before := 0.0
	for i := range c {
		if before >= o.TopP*total {
			return c[:i], decided
		}
		before += c.at(i, o.Temperature)
	}
	return c, cut || complete
}

// at is how probable a candidate is, compared with the first.
func (c choices) at(i int, temperature float64) float64 {
	return math.Exp((float64(c[i].Score) - float64(c[0].Score)) / temperature)
}

func (c choices) weight(temperature float64) float64 {
	sum := 0.0
	for i := range c {
		sum += c.at(i, temperature)
	}
	return sum
}

// draw is the candidate at u of [0, 1).
func (c choices) draw(u, temperature float64) Candidate {
	target, sum := u*c.weight(temperature), 0.0
	for i := range c {
		if sum += c.at(i, temperature); target < sum {
			return c[i]
		}
	}
	return c[len(c)-1]
}

// uniform is a number of [0, 1) that depends on all words.
func uniform(words ...uint64) float64 {
	h := uint64(0)
	for _, w := range words {
		h = splitmix.Finish(h + splitmix.Gamma + w)
	}
	return float64(splitmix.Finish(h+splitmix.Gamma)>>11) / (1 << 53)
}
