package roofline

// Searching is queries that a model answers.
type Searching struct {
	Model     Model
	Batch     Batch   // of queries; the labels are not used
	Beams     float64 // hypotheses of each
	Tokens    float64 // that are written
	Along     bool    // a trie
	Documents int64   // of which each is a token; 0: beams
	Precision string
}

// Per element, what operations of a search read and write, as for training.
const (
	logitBytes = 24 // of a logit: softmax and the best of it
	cacheBytes = 5  // of an element of kept keys and values, in its own bytes: taken in a new order, padded, read
)

// Work is that of one batch.
func (s Searching) Work() Work {
	if s.Documents > 0 {
		return s.rank()
	}
	w := Work{Precision: s.Precision}
	s.encode(&w)
	first := s.token(s.Batch.Examples, 0)
	w = w.Plus(first)
	for i := 1.0; i < s.Tokens; i++ {
		w = w.Plus(s.token(s.Batch.Examples*s.Beams, i))
	}
	operation := OpStep
	if s.Along {
		operation = OpTrie
	}
	w = w.calibrated(factor(OpStep, s.Model, s.Precision, Counted.bytes, Counted.searchBytes))
	w.Launches = launchesOf(OpStart, s.Model, s.Precision) + s.Tokens*launchesOf(operation, s.Model, s.Precision)
	// Each token of the search brings candidates to the host, and takes rows back.
	w.Waits = s.Tokens
	w.Down, w.Up = s.Tokens*s.Batch.Examples*s.Beams*2*12, s.Tokens*s.Batch.Examples*s.Beams*40
	return w
}

// rank is one decoder step, and a product with the documents' rows.
func (s Searching) rank() Work {
	w := Work{Precision: s.Precision}
	s.encode(&w)
	one := s
	one.Model.Vocabulary = s.Documents
	w = w.Plus(one.token(s.Batch.Examples, 0))
	w = w.calibrated(factor(OpRank, s.Model, s.Precision, Counted.bytes, Counted.rankBytes))
	w.Launches = launchesOf(OpRank, s.Model, s.Precision)
	w.Waits, w.Down, w.Up = 1, s.Batch.Examples*s.Beams*12, 8*s.Batch.InputTokens
	return w
}

// encode is the encoder, and the keys of cross-attention.
func (s Searching) encode(w *Work) {
	m, b := s.Model, s.Batch
	t := Training{Model: m, Precision: s.Precision}
	h := element(s.Precision)
	width, inner, ff := float64(m.Width), float64(m.Inner), float64(m.FF)
	encoder, decoder := float64(m.Encoder), float64(m.Decoder)
	w.product(Products, b.InputTokens, width, inner, 4*encoder+2*decoder, h)
	w.product(Products, b.InputTokens, width, ff, encoder*float64(m.feed())/(width*ff), h)
	t.attention(w, encoder, b.Examples, b.LongestInput, b.LongestInput, inner)
	w.add(Pointwise, 0, encoder*b.InputTokens*(2*width*normBytes+ff*feedBytes*h/4)/3)
}

// token is one token of rows, after so many.
func (s Searching) token(rows, after float64) Work {
	m, b, h := s.Model, s.Batch, element(s.Precision)
	w := Work{Precision: s.Precision}
	width, inner, ff, decoder := float64(m.Width), float64(m.Inner), float64(m.FF), float64(m.Decoder)
	w.product(Products, rows, width, inner, 6*decoder, h)
	w.product(Products, rows, width, ff, decoder*float64(m.feed())/(width*ff), h)
	w.product(Head, rows, width, float64(m.Vocabulary), 1, h)
	w.add(Head, 0, rows*float64(m.Vocabulary)*logitBytes)
	w.add(Pointwise, 0, decoder*rows*(3*width*normBytes+ff*feedBytes*h/4)/3)
	look := after + 1
	w.add(Caches, decoder*4*rows*look*inner, decoder*rows*look*inner*2*h*cacheBytes)
	w.add(Attention, decoder*4*rows*b.LongestInput*inner, decoder*(b.Examples*b.LongestInput*inner*2*h+rows*float64(m.Heads)*b.LongestInput*scoreBytes/3))
	return w
}

// Embedding is texts that an encoder reads, in one batch.
type Embedding struct {
	Model Model
	Batch Batch // texts are the inputs
}

// Work is that of one batch, in float32.
func (e Embedding) Work() Work {
	w := e.formula()
	w = w.calibrated(factor(OpEmbed, e.Model, "fp32", Counted.bytes, Counted.embedBytes))
	w.Launches = launchesOf(OpEmbed, e.Model, "fp32")
	w.Waits, w.Down, w.Up = 1, 4*e.Batch.Examples*float64(e.Model.Width), 16*e.Batch.InputTokens
	return w
}

func (e Embedding) formula() Work {
	w := Work{Precision: "fp32"}
	s := Searching{Model: e.Model, Batch: e.Batch, Precision: "fp32"}
	s.encode(&w)
	return w
}

// Writing is queries that a model writes for documents, in one batch.
type Writing struct {
	Model     Model
	Batch     Batch   // of documents
	Rows      float64 // that are written together for each
	Tokens    float64
	Precision string
}

// Work is that of a search with as many rows.
func (w Writing) Work() Work {
	return Searching{Model: w.Model, Batch: w.Batch, Beams: w.Rows, Tokens: w.Tokens, Precision: w.Precision}.Work()
}
