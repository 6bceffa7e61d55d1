package workflows

import (
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/step"
)

// RunRecord is kept as "runs/<run id>": the root that garbage collection keeps
// results for, and what `redsi why` compares with. The steps of a long one are in
// the blob that Body names.
type RunRecord struct {
	Format   string            `json:"format"`
	RunID    string            `json:"run_id"`
	Workflow string            `json:"workflow,omitempty"`
	Pipeline string            `json:"pipeline"`
	Project  string            `json:"project,omitempty"`
	Plan     artifacts.Digest  `json:"plan"`
	Targets  []string          `json:"targets,omitempty"`
	Counts   map[Status]int    `json:"counts,omitempty"`
	Steps    []RunStep         `json:"steps,omitempty"`
	Body     *artifacts.Digest `json:"body,omitempty"`
}

// Of reports whether the run is one of a pipeline of a project: "" is one that has no run
// yet.
func (r *RunRecord) Of(project, pipeline string) bool {
	return r.Pipeline == pipeline && r.Project == project
}

// RunStep is a step's place in a run record.
type RunStep struct {
	Address string           `json:"address"`
	Key     artifacts.Digest `json:"key"`
	Outcome Status           `json:"outcome"`
	TookS   float64          `json:"took_s,omitempty"`
	Error   string           `json:"error,omitempty"`
}

// JournalRequest stores a run record and, where a worker loaded the pipeline from
// a file, adds the pins to the lock file beside it.
type JournalRequest struct {
	Run   RunRecord       `json:"run"` // without its steps
	Steps Pages[RunStep]  `json:"step_pages"`
	Pins  Pages[step.Pin] `json:"pin_pages"`
	Lock  string          `json:"lock_file,omitempty"`
}
