package runs

import (
	"strings"

	"github.com/redsi/redsi/artifacts"
)

// Record is the record "runs/<run id>": garbage collection keeps the results that it names, and `redsi why` compares with
// it. The steps of a long run are in the blob that Body names.
type Record struct {
	Format   string            `json:"format"`
	RunID    string            `json:"run_id"`
	Workflow string            `json:"workflow,omitempty"`
	Pipeline string            `json:"pipeline"`
	Project  string            `json:"project,omitempty"`
	Plan     artifacts.Digest  `json:"plan"`
	Targets  []string          `json:"targets,omitempty"`
	Counts   map[Status]int    `json:"counts,omitempty"`
	Steps    []Step            `json:"steps,omitempty"`
	Body     *artifacts.Digest `json:"body,omitempty"`
}

// Of reports whether the run is of a pipeline of a project; "" is a project without an id.
func (r *Record) Of(project, pipeline string) bool {
	return r.Pipeline == pipeline && r.Project == project
}

type Step struct {
	Address string           `json:"address"`
	Key     artifacts.Digest `json:"key"`
	Outcome Status           `json:"outcome"`
	TookS   float64          `json:"took_s,omitempty"`
	Error   string           `json:"error,omitempty"`
	Lacks   []string         `json:"lacks,omitempty"` // steps that it gathers and that its result lacks
}

// Finished reports whether the step had a result at the end of its run.
func (s Step) Finished() bool { return s.Outcome == Hit || s.Outcome == Ran }

// Status of a step within a run: its outcome, or its state while the run is at work.
type Status string

const (
	Waiting Status = "waiting"
	Hit     Status = "hit"
	Running Status = "running"
	Ran     Status = "ran"
	Failed  Status = "failed"
	Skipped Status = "skipped" // an input failed

	Cancelled  Status = "cancelled"   // it was running when it was cancelled, most often with its run
	NotStarted Status = "not started" // the run ended before: cancelled, or with FailFast

	// Queued is a Running step that no worker has begun. A run does not know that: whoever follows it asks the server.
	Queued Status = "queued"
)

// Part is between the address of a step and the name of its activity, or of its part.
const Part = " · "

// StepOf returns the address of the step whose part, or which itself, is called so.
func StepOf(called string) string {
	address, _, _ := strings.Cut(called, Part)
	return address
}
