package train

// Batch is the examples of one update, one per row, without packing and without
// padding: the model works on real tokens only. Its loss is the mean over all
// target tokens, as in transformers over labels whose padding is -100.
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
