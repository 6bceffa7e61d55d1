package train

import (
	"fmt"
	"math"

	"github.com/redsi/redsi/internal/system/lists"
)

// Example is one training example: tokens, </s> included where the tokenizer puts
// it. An atomic identifier is one token without </s>.
type Example struct {
	Input  []int32 // a document's text, or a query
	Target []int32 // the document's identifier
}

// Data is what a model is trained on.
type Data struct {
	Indexing  []Example // one per document
	Retrieval []Example // one per labeled query
	Repeats   []int     // how often each indexing example is in a pass of ratio 1:1, at least once; nil: all alike
}

// DataError says that examples cannot be trained on.
type DataError struct{ Err error }

func (e *DataError) Error() string { return "training data: " + e.Err.Error() }

func (e *DataError) Unwrap() error { return e.Err }

// Check says which example is unusable: one without input or target, or with a token outside of vocab.
func (d *Data) Check(vocab int) error {
	for _, group := range []struct {
		name     string
		examples []Example
	}{{"indexing", d.Indexing}, {"retrieval", d.Retrieval}} {
		for i, e := range group.examples {
			switch {
			case len(e.Input) == 0:
				return fmt.Errorf("%s example %d has no input tokens", group.name, i)
			case len(e.Target) == 0:
				return fmt.Errorf("%s example %d has no identifier tokens", group.name, i)
			}
			for _, tokens := range [][]int32{e.Input, e.Target} {
				for _, t := range tokens {
					if t < 0 || int(t) >= vocab {
						return fmt.Errorf("%s example %d has token %d; the model's vocabulary has %d", group.name, i, t, vocab)
					}
				}
			}
		}
	}
	return nil
}

// Sampler is the order in which a run sees its examples: a function of position, without state. Examples come in
// passes; a pass is one order, drawn without replacement, of
//
//   - natural: every document and every query once;
//   - a:b: every query once, and n = round(queries * a / b) indexing examples: every
//     document floor(n / documents) times and, of the documents, n mod documents
//     different ones, drawn anew for each pass, once more. So indexing-heavy ratios
//     repeat documents, light ones take a part of them, and 0:1 takes none;
//   - 1:1 of data with Repeats: every query once, every document as often as that says.
//
// Batches follow each other without regard to passes: all have the same size.
type Sampler struct {
	documents, queries int
	indexing           int     // examples of a pass
	repeated           []int32 // the document of each of them, if data has Repeats
	seed               uint64
	batch              int

	pass  int64 // of the two orders below
	order permutation
	extra permutation
}

// NewSampler samples from d, whose examples must not change in number.
func NewSampler(d *Data, ratio Ratio, seed int64, batch int) (*Sampler, error) {
	s := &Sampler{documents: len(d.Indexing), queries: len(d.Retrieval), indexing: len(d.Indexing), seed: uint64(seed), batch: batch, pass: -1}
	if ratio != Natural {
		if s.queries == 0 {
			return nil, fmt.Errorf("the ratio %s needs labeled queries, and there are none", ratio)
		}
		n := math.Round(float64(s.queries) * float64(ratio.Indexing) / float64(ratio.Retrieval))
		if n > 0 && s.documents == 0 {
			return nil, fmt.Errorf("the ratio %s needs documents, and there are none", ratio)
		}
		if n+float64(s.queries) > 1<<40 {
			return nil, fmt.Errorf("the ratio %s makes passes of %.0f examples", ratio, n+float64(s.queries))
		}
		s.indexing = int(n)
	}
	if d.Repeats != nil {
		if ratio != (Ratio{1, 1}) || len(d.Repeats) != s.documents {
			return nil, fmt.Errorf("repeats of %d documents, and the ratio %s of %d: repeats are for the ratio 1:1 of all documents", len(d.Repeats), ratio, s.documents)
		}
		for i, n := range d.Repeats {
			for range n {
				s.repeated = append(s.repeated, int32(i))
			}
		}
		s.indexing = len(s.repeated)
	}
	if s.Pass() == 0 {
		return nil, fmt.Errorf("there is nothing to train on: no documents and no queries")
	}
	if batch < 1 {
		return nil, fmt.Errorf("batches of %d examples; at least 1 is needed", batch)
	}
	return s, nil
}

// Pass is the number of examples of a pass.
func (s *Sampler) Pass() int { return s.indexing + s.queries }

// Indexing is how many of them are indexing examples.
func (s *Sampler) Indexing() int { return s.indexing }

// Ref names an example of the data.
type Ref struct {
	Indexing bool
	Index    int
}

// At returns the example at a position of the run, counted from 0.
func (s *Sampler) At(position int64) Ref {
	length := int64(s.Pass())
	if pass := position / length; pass != s.pass {
		s.pass = pass
		s.order = newPermutation(s.Pass(), s.seed, uint64(pass), 0)
		s.extra = newPermutation(s.documents, s.seed, uint64(pass), 1)
	}
	i := s.order.at(int(position % length))
	if i < s.queries {
		return Ref{Index: i}
	}
	i -= s.queries
	if s.repeated != nil {
		return Ref{Indexing: true, Index: int(s.repeated[i])}
	}
	if full := s.indexing - s.indexing%max(s.documents, 1); i >= full {
		return Ref{Indexing: true, Index: s.extra.at(i - full)}
	}
	return Ref{Indexing: true, Index: i % s.documents}
}

// Batch returns the examples of a step, counted from 0.
func (s *Sampler) Batch(step int64) []Ref {
	return lists.Map(lists.Places(s.batch), func(i int) Ref { return s.At(step*int64(s.batch) + int64(i)) })
}

// Batch is the examples of one update, one per row, without packing and without padding: the model works on real tokens
// only. Its loss is the mean over all target tokens, as in transformers over labels whose padding is -100.
type Batch struct {
	Inputs  [][]int32
	Targets [][]int32

	Prepared any // by a Learner's Prepare
}

func NewBatch(d *Data, refs []Ref) *Batch {
	b := &Batch{Inputs: make([][]int32, len(refs)), Targets: make([][]int32, len(refs))}
	for i, r := range refs {
		of := d.Retrieval
		if r.Indexing {
			of = d.Indexing
		}
		b.Inputs[i], b.Targets[i] = of[r.Index].Input, of[r.Index].Target
	}
	return b
}
