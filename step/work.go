package step

// Work is what a card computes for a task, and what the task says of the results of others'
// work, as far as its configuration alone tells. It is for those who plan hours and memory:
// no key has it, and no result depends on it. What is not known before other steps have run,
// such as how many documents a collection has, is named by the input that will say it.
type Work struct {
	Trains   *Training
	Searches *Searching
	Embeds   *Embedding
	Writes   *Writing

	// What those that read the task's outputs plan with.
	Model       *FutureModel
	Identifiers *FutureIdentifiers
	Collection  *FutureCollection
}

// Training is updates of a model. The evaluations on the way are a Searching.
type Training struct {
	Model       Input
	Identifiers Input // which it writes; not set: it writes queries
	Corpus      Input
	Queries     Input

	Updates    int
	Batch      int // examples of an update
	Accumulate int // parts that it is cut into; 0 and 1: it is whole
	Recomputes bool
	Optimizer  string // adafactor, adamw
	Precision  string // fp32, bf16, fp16

	MaxDocument int     // tokens of a document that are read
	MaxQuery    int     // of a query
	Documents   float64 // of the examples, the share that begin with a document; below 0: as there are documents and queries
}

// Searching is queries that a model answers by a beam search, or by one product where
// each document is a token.
type Searching struct {
	Model       Input
	Identifiers Input
	Queries     Input
	Split       string
	Times       int // that all queries are asked
	Beams       int
	Constrained bool
	Batch       int
	Part        int // queries of a part, each of which loads the model; 0: there is one
	Precision   string
	MaxQuery    int // 0: as in the model's training
}

// Embedding is texts that an encoder reads.
type Embedding struct {
	Model       Input
	Corpus      Input // or else
	Queries     Input
	Split       string
	MaxTokens   int
	BatchTokens int
}

// Writing is queries that a model writes for documents.
type Writing struct {
	Model       Input
	Documents   Input
	PerDocument int
	Beams       int // of a search; 0: they are drawn
	MaxInput    int // 0: as in the model's training, or 512
	MaxTokens   int
	Batch       int
}

// FutureModel says of which sizes a task's model will be, in one of three ways.
type FutureModel struct {
	Like       Input          // as this model's, but for rows that identifiers add
	Repository string         // as published there: OWNER/NAME of the Hugging Face hub
	Config     map[string]any // what config.json will have
}

// FutureIdentifiers says what the identifiers of a task will be like.
type FutureIdentifiers struct {
	Documents Input   // a collection, whose documents have one each
	OneToken  bool    // each is a token of its own
	Rows      int     // that the vocabulary grows by, beside those
	Tokens    float64 // of an identifier, about, its end among them
}

// FutureCollection says how large a collection will be.
type FutureCollection struct{ Documents, TrainQueries, DevQueries int64 }

// Work is what a card computes for a task, by its configuration; nothing if its kind does
// not say.
func (s *Spec) Work(t Task) Work {
	w, _ := ofTask(s, s.of.Work, t) // a run says what is wrong with it
	return w
}
