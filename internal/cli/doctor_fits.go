package cli

import (
	"strings"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/roofline"
)

// trainsOn says which of the paper's trainings are computed to fit a GPU with so much memory.
func trainsOn(memory int64) finding {
	f := finding{What: "GPU memory", OK: true, Soft: true, Note: view.Size(memory) + ": " + roofline.PaperFitsText(memory)}
	for _, t := range roofline.PaperFits(memory) {
		if t.Paper && !t.Fits { // the largest is the last
			f.OK, f.Do = false, strings.Join(t.Change, ", or ")
		}
	}
	return f
}
