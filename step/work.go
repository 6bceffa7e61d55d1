package step

// Work is what a task does in units whose pace a machine can be asked for, and what its result
// will count, as far as its configuration alone tells. It is for those who plan time, memory and
// disks: no key has it, and no result depends on it. What is not known before other steps have run,
// such as how many documents a collection has, is named by the input that will say it.
type Work struct {
	Does []Doing

	// What is said of the result, for those that read it.
	Counts      map[string]Amount // by the names of counts; BytesCount: how large it is
	Shape       string            // of a model: the name of a published one with the same sizes
	Like        Input             // or it is of this one's sizes
	Identifiers string            // of identifiers: their type
}

// Names in Work's Counts: the size of all outputs, and the updates of a training, by which times of
// results with other numbers of them are taken.
const (
	BytesCount   = "bytes"
	UpdatesCount = "updates"
)

// Unit is what work is measured in.
type Unit string

// The units.
const (
	Updates     Unit = "updates"       // of a model, of 128 examples
	Searches    Unit = "searches"      // of a query, by 40 beams over the whole vocabulary
	Constrained Unit = "trie searches" // along the identifiers
	Rankings    Unit = "rankings"      // of a query's documents, each of which is one token
	Tokens      Unit = "tokens"        // that an encoder reads
	GzipBytes   Unit = "gzip bytes"    // of files of Natural Questions, extracted
)

// InTraining is the unit of evaluations on the way of updates where those are of another precision, as on a card.
func (u Unit) InTraining() Unit { return "training " + u }

// Doing is a piece of work.
type Doing struct {
	Unit        Unit
	Amount      Amount
	Model       Input // that does it; not set: none
	Identifiers Input // that it writes; not set: none
	Evaluates   bool  // it is an evaluation on the way of updates
}

// Amount is a number that may depend on the result of another step.
type Amount struct {
	Times  float64
	Of     Inputs  // whose counts are added up; none: Times is the number
	Count  string  // which count of them
	AtMost float64 // 0: no bound
}

// Exactly is an amount that depends on nothing.
func Exactly(n float64) Amount { return Amount{Times: n} }
