package fit

import (
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/train"
)

// part is a piece of a batch, and its share of the batch's labels: the mean loss of the batch is the sum of its parts'
// mean losses, times their shares.
type part struct {
	seq2seq.Batch
	share    float64
	prepared *seq2seq.Prepared
}

// cut makes n parts of a batch, fewer of a batch of fewer examples, whose numbers of examples differ by one at most.
func cut(b *train.Batch, n int) []part {
	n = max(1, min(n, len(b.Inputs)))
	all := count(b.Targets)
	parts := make([]part, n)
	for k := range parts {
		from, to := len(b.Inputs)*k/n, len(b.Inputs)*(k+1)/n
		parts[k] = part{
			Batch: seq2seq.Batch{Inputs: b.Inputs[from:to], Labels: b.Targets[from:to]},
			share: float64(count(b.Targets[from:to])) / float64(all),
		}
	}
	return parts
}

func count(sequences [][]int32) (n int) {
	for _, s := range sequences {
		n += len(s)
	}
	return n
}
