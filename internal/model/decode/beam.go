package decode

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/ranking/retrieve/stopping"
	"github.com/redsi/redsi/internal/system/lists"
)

// Beam is a configuration of beam search. The paper's is NewBeam's.
type Beam struct {
	Width         int           // num_beams
	Return        int           // num_return_sequences, at most Width
	MaxTokens     int           // max_new_tokens, the end of sequence included
	LengthPenalty float64       // a hypothesis scores its log-probability / length^LengthPenalty
	EarlyStopping stopping.Rule //
	Start         int32         // decoder_start_token_id
	EOS           int32         // ends a hypothesis
	Trie          *docid.Trie   // nil: every token may follow
	// ForcedBOS and ForcedEOS are tokens that are written without a trie at the first and at the last of MaxTokens
	// steps, at no cost (forced_bos_token_id, forced_eos_token_id); nil: none.
	ForcedBOS, ForcedEOS *int64
	// Overflows gives a query whose scores are not numbers no hypotheses, and searches on for the others; else such
	// scores are ErrNaN.
	Overflows bool
}

// NewBeam is the paper's search: 40 beams, all returned, length-normalized, for identifiers of at most maxTokens tokens
// (</s> included) of a T5 model. When it ends is as in the paper's released code; the paper does not say.
func NewBeam(maxTokens int, trie *docid.Trie) Beam {
	return Beam{Width: 40, Return: 40, MaxTokens: maxTokens, LengthPenalty: 1, EarlyStopping: stopping.Full, Start: 0, EOS: 1, Trie: trie}
}

func (b *Beam) Check() error {
	switch {
	case b.Width < 1:
		return fmt.Errorf("beam search: %d beams; at least 1 is needed", b.Width)
	case b.Return < 1 || b.Return > b.Width:
		return fmt.Errorf("beam search: %d hypotheses of %d beams; between 1 and %d can be returned", b.Return, b.Width, b.Width)
	case b.MaxTokens < 1:
		return fmt.Errorf("beam search: at most %d new tokens; at least 1 is needed", b.MaxTokens)
	case math.IsNaN(b.LengthPenalty) || math.IsInf(b.LengthPenalty, 0):
		return fmt.Errorf("beam search: length penalty %v", b.LengthPenalty)
	case b.Trie != nil && b.Trie.Nodes() < 2:
		return errors.New("beam search: the trie has no identifier")
	case b.Trie != nil && b.Trie.Depth > b.MaxTokens:
		return fmt.Errorf("beam search: the longest identifier has %d tokens and at most %d are generated; raise the number of new tokens", b.Trie.Depth, b.MaxTokens)
	case b.Trie != nil && b.Trie.End != b.EOS:
		ends := fmt.Sprintf("token %d", b.Trie.End)
		if b.Trie.End < 0 {
			ends = "several tokens"
		}
		return fmt.Errorf("beam search: identifiers end with %s, and the model ends what it writes with token %d: make them with the model's own tokenizer", ends, b.EOS)
	}
	if err := b.EarlyStopping.Check(); err != nil {
		return fmt.Errorf("beam search: %w", err)
	}
	return nil
}

// Hypothesis is a generated sequence.
type Hypothesis struct {
	Tokens []int32 // without the start token; with EOS, unless MaxTokens came first
	Score  float64 // log-probability / length^LengthPenalty
}

// Stepper runs a model's decoder for its queries. Rows are grouped by query and every query has the same number of
// them.
type Stepper interface {
	// Step appends tokens[i] to row i and returns the scores of what may follow. queries are the queries still
	// searched, in their order, a query several times where its rows are several groups; len(tokens) is a multiple of
	// their number. Row i continues from row parents[i] of the last Step, a row of the same query; at the first Step
	// parents is nil. The result is valid until the next Step.
	Step(ctx context.Context, queries []int, tokens, parents []int32) (Scores, error)
}

// Scores are the log-probabilities of all next tokens for each row of a Step, normalized over the whole vocabulary.
type Scores interface {
	// Top returns per query its best continuations over all its rows, best first and at most n: a candidate's score is
	// sums[row] plus its log-probability, in float32. A row whose sum is -Inf has none. Ties: by row, then by token.
	// With a trie, they are of the tokens that may follow each row's node; a row whose node is negative has none.
	Top(sums []float32, n int, trie *docid.Trie, nodes []docid.Node) ([][]Candidate, error)
}

// Candidate is a beam's possible continuation.
type Candidate struct {
	Row   int32 // of the Step
	Token int32
	Score float32
}

// Search finds the hypotheses of n queries, best first, as transformers 4.44.1 does: GenerationMixin._beam_search with
// BeamSearchScorer and, with a trie, PrefixConstrainedLogitsProcessor.
//
// NOTE: transformers starts Width equal beams, all but one at -1e9, and refills with masked candidates where a trie
// offers fewer than it wants. Here a query has only the beams that exist, so that no repeated or forbidden sequence is
// returned; there may then be fewer than Return. Full counts only real ones.
func Search(ctx context.Context, s Stepper, n int, b Beam) ([][]Hypothesis, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	searches := lists.Map(lists.Places(n), func(i int) *search { return newSearch(&b, i) })
	active := slices.Clone(searches)
	var parents []int32
	for step := 1; step <= b.MaxTokens && len(active) > 0; step++ {
		queries, tokens, sums, nodes := gather(active, b.Start)
		scores, err := s.Step(ctx, queries, tokens, parents)
		if err != nil {
			return nil, fmt.Errorf("decoder step %d: %w", step, err)
		}
		if token := b.forced(step); token != nil {
			scores = forced{int32(*token), len(queries)}
		}
		candidates, err := scores.Top(sums, 2*b.Width, b.Trie, nodes)
		if err != nil {
			return nil, fmt.Errorf("decoder step %d: %w", step, err)
		}
		width := len(tokens) / len(active)
		left, origins := active[:0], []int(nil)
		for i, q := range active {
			err := q.advance(step, candidates[i], i*width)
			if b.Overflows && errors.Is(err, ErrNaN) {
				q.done, q.kept.kept = true, nil
			} else if err != nil {
				return nil, fmt.Errorf("query %d, decoder step %d: %w", q.query, step, err)
			}
			if !q.done {
				left, origins = append(left, q), append(origins, i*width)
			}
		}
		active = left
		parents = lineage(active, origins)
	}
	return lists.Map(searches, (*search).finish), nil
}

// forced is the only token that a step may write, or nil.
func (b *Beam) forced(step int) *int64 {
	switch {
	case b.Trie != nil: // only the trie says what may follow
		return nil
	case step == b.MaxTokens && b.ForcedEOS != nil:
		return b.ForcedEOS
	case step == 1:
		return b.ForcedBOS
	}
	return nil
}

// gather lays the beams of the queries out as rows of equal number per query; a
// query with fewer beams gets dead rows, whose sum is -Inf and whose node is -1.
func gather(active []*search, pad int32) (queries []int, tokens []int32, sums []float32, nodes []docid.Node) {
	width := rows(active)
	for _, q := range active {
		queries = append(queries, q.query)
		for i := range width {
			b := beam{token: pad, sum: float32(math.Inf(-1)), node: -1}
			if i < len(q.beams) {
				b = q.beams[i]
			}
			tokens, sums, nodes = append(tokens, b.token), append(sums, b.sum), append(nodes, b.node)
		}
	}
	return queries, tokens, sums, nodes
}

// lineage is the parents argument of the next Step; origins are the first rows of the active queries in the last one.
func lineage(active []*search, origins []int) []int32 {
	width := rows(active)
	var parents []int32
	for k, q := range active {
		for i := range width {
			row := int32(origins[k])
			if i < len(q.beams) {
				row += q.beams[i].parent
			}
			parents = append(parents, row)
		}
	}
	return parents
}

// rows is the number of rows per query: the most beams that a query has.
func rows(active []*search) int {
	n := 0
	for _, q := range active {
		n = max(n, len(q.beams))
	}
	return n
}
