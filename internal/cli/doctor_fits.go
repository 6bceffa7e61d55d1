package cli

import (
	"fmt"
	"strings"

	"github.com/redsi/redsi/internal/roofline"
	"github.com/redsi/redsi/internal/view"
)

// largestUpdate is the update of the paper that takes most of a card's memory: T5-Base with
// a row for each of 109,739 documents, of which and of 307,373 queries a batch has its share.
func largestUpdate() roofline.Training {
	const documents, queries, batch = 109_739, 307_373, 128
	const share = float64(documents) / (documents + queries)
	return roofline.Training{Model: roofline.Base().Extended(documents), Precision: "fp16", Optimizer: "adafactor", Accumulate: 1,
		Batch: roofline.Batch{Examples: batch, InputTokens: batch * (share*67 + (1-share)*14), LongestInput: 67, LabelTokens: batch, LongestLabel: 1}}
}

// trainsOn says whether a card of so much memory has room for that, by computation.
func trainsOn(memory int64) finding {
	fit := roofline.Fits(memory, largestUpdate())
	f := finding{What: "GPU memory", OK: fit.Fits, Soft: true, Note: fmt.Sprintf("the paper's largest training (T5-Base, 109,739 atomic identifiers, batch 128, fp16, Adafactor) takes %s, computed: it fits %s",
		view.Size(fit.Needs), view.Size(memory))}
	if !fit.Fits {
		f.Note = strings.Replace(f.Note, "it fits", "it does not fit", 1)
		f.Do = strings.Join(fit.Change, ", or ")
	}
	return f
}
