package workflows

import (
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/step"
)

// JournalRequest stores a run record and, where a worker loaded the pipeline from
// a file, adds the pins to the lock file beside it.
type JournalRequest struct {
	Run   runs.Record      `json:"run"` // without its steps
	Steps Pages[runs.Step] `json:"step_pages"`
	Pins  Pages[step.Pin]  `json:"pin_pages"`
	Lock  string           `json:"lock_file,omitempty"`
}
