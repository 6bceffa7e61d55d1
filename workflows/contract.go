package workflows

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/step"
)

// Names that people and other programs type.
const (
	TaskQueue     = "redsi"     // default queue: data and rendering
	GPUTaskQueue  = "redsi-gpu" // steps that ask for queue = "gpu"
	controlSuffix = "-control"

	ReproduceWorkflow = "Reproduce"
	StepWorkflow      = "Step"

	StateQuery = "state" // Reproduce: State
)

// ControlQueue is where the short work of runs on a queue is done: looking up,
// recording, and waiting for steps of other runs. It has slots of its own: on the
// queue of the steps, runs that wait for each other's steps could take every slot
// that those steps need, and a look-up would stand behind hours of training.
func ControlQueue(queue string) string { return queue + controlSuffix }

// Names of activities.
const (
	LoadActivity    = "Load"
	PrepareActivity = "Prepare"
	SplitActivity   = "Split"
	ExecuteActivity = "Execute"
	AwaitActivity   = "Await"
	JournalActivity = "Journal"
)

// Signals between runs and the Step workflows that they share.
const (
	joinSignal  = "join"  // to a Step, with the run's id
	leaveSignal = "leave" // to a Step, with a leaving
	staysSignal = "stays" // back to a run that has left: others still want the step
)

// leaving says which run no longer wants a step, and where it wants to be told
// that the step goes on without it.
type leaving struct {
	Run      string `json:"run"`
	Workflow string `json:"workflow"`
}

// Types of application errors, which decide about retries.
const (
	PermanentError     = "permanent"      // no retry can mend it
	TransientError     = "transient"      // a retry may mend it
	InputLostError     = "input-lost"     // an input's bytes are gone or corrupt: run its producer again
	SourceChangedError = "source-changed" // a source or program has other bytes than the plan: plan again
)

// ReproduceInput starts a run. People write the first three fields; the rest is
// filled in by `redsi run` and by continue-as-new.
type ReproduceInput struct {
	Pipeline string            `json:"pipeline"`          // file or folder, as the worker sees it
	Targets  []string          `json:"targets,omitempty"` // empty: everything
	Vars     map[string]string `json:"vars,omitempty"`

	FailFast bool              `json:"fail_fast,omitempty"` // start nothing new after a failure
	Plan     *artifacts.Digest `json:"plan,omitempty"`      // a plan already stored; Pipeline is then only its name
	Done     []DoneStep        `json:"done,omitempty"`      // carried over by continue-as-new
	RunID    string            `json:"run_id,omitempty"`
}

// UnmarshalJSON refuses fields that there are not: an input is written by hand,
// and a mistyped "targets" would mean everything.
func (in *ReproduceInput) UnmarshalJSON(b []byte) error {
	type plain ReproduceInput
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode((*plain)(in)); err != nil {
		return fmt.Errorf(`%w; an input is {"pipeline": "…", "targets": ["…"], "vars": {"…": "…"}, "fail_fast": true}`, err)
	}
	return nil
}

// DoneStep is a step with a result.
type DoneStep struct {
	Index int              `json:"i"`
	Key   artifacts.Digest `json:"key"`
	Hit   bool             `json:"hit,omitempty"`
}

// ReproduceResult is what a run came to.
type ReproduceResult struct {
	RunID  string           `json:"run_id"`
	Plan   artifacts.Digest `json:"plan"`
	Hit    int              `json:"hit"`
	Ran    int              `json:"ran"`
	Failed int              `json:"failed"`
	Pins   []step.Pin       `json:"pins,omitempty"`

	// Changed are the failed steps whose sources or programs had other bytes than
	// the plan says.
	Changed []string `json:"changed,omitempty"`
}

// Status of a step within a run.
type Status string

// The statuses that State shows.
const (
	Waiting Status = "waiting"
	Hit     Status = "hit"
	Running Status = "running"
	Ran     Status = "ran"
	Failed  Status = "failed"
	Skipped Status = "skipped" // an input failed
)

// State is the answer to StateQuery.
type State struct {
	RunID string      `json:"run_id"`
	Steps []StepState `json:"steps"`
}

// StepState is one step's part of a State.
type StepState struct {
	Address  string           `json:"address"`
	Status   Status           `json:"status"`
	Key      artifacts.Digest `json:"key"`
	TookS    float64          `json:"took_s,omitempty"`
	Error    string           `json:"error,omitempty"`
	Workflow string           `json:"workflow,omitempty"` // the Step workflow to look at for progress
	Shared   bool             `json:"shared,omitempty"`   // another run started it
	Changed  bool             `json:"changed,omitempty"`  // it failed since a source has other bytes than the plan
}

// LoadRequest asks for a plan.
type LoadRequest struct {
	Pipeline string            `json:"pipeline"`
	Targets  []string          `json:"targets,omitempty"`
	Vars     map[string]string `json:"vars,omitempty"`
	Plan     *artifacts.Digest `json:"plan,omitempty"`
}

// Loaded is the skeleton of a stored plan.
type Loaded struct {
	Plan     artifacts.Digest `json:"plan"`
	Name     string           `json:"name"`
	Steps    []Head           `json:"steps"`
	Hits     []DoneStep       `json:"hits,omitempty"`
	Features Features         `json:"features"`
}

// Features is what the server at hand can do.
type Features struct {
	SearchAttributes bool `json:"search_attributes,omitempty"`
}

// Head is what workflow code knows of a step.
type Head struct {
	Address string `json:"address"`
	Kind    string `json:"kind"`
	Deps    []int  `json:"deps,omitempty"`
	Queue   string `json:"queue,omitempty"`
	Inline  bool   `json:"inline,omitempty"`
	Splits  bool   `json:"splits,omitempty"`
}

// PrepareRequest asks for the keys of steps whose inputs have results.
type PrepareRequest struct {
	Plan  artifacts.Digest `json:"plan"`
	Steps []Ready          `json:"steps"`
}

// Ready is a step with the keys of its dependencies, in the order of Head.Deps.
type Ready struct {
	Index int                `json:"i"`
	Deps  []artifacts.Digest `json:"deps,omitempty"`
}

// Prepared is a step's key, its bound task stored by digest, and whether there
// is a result; Lost lists dependencies that turned out to have none.
type Prepared struct {
	Index int              `json:"i"`
	Key   artifacts.Digest `json:"key"`
	Task  artifacts.Digest `json:"task"`
	Hit   bool             `json:"hit,omitempty"`
	TookS float64          `json:"took_s,omitempty"` // when it ran, for a hit
	Lost  []int            `json:"lost,omitempty"`
	Error string           `json:"error,omitempty"`
}

// StepInput is one piece of work. Its workflow ID is StepWorkflowID(Key), so
// that it runs once at a time however many runs want it.
type StepInput struct {
	Key      artifacts.Digest `json:"key"`
	Task     artifacts.Digest `json:"task"`
	Address  string           `json:"address"` // for people: as the first run that wanted it calls it
	Kind     string           `json:"kind"`
	Queue    string           `json:"queue,omitempty"`
	Splits   bool             `json:"splits,omitempty"`
	RunID    string           `json:"run_id"`
	Features Features         `json:"features"`
}

// ExecuteRequest runs one task, or finds that it has run.
type ExecuteRequest struct {
	Key     artifacts.Digest   `json:"key"`
	Task    artifacts.Digest   `json:"task"`
	Address string             `json:"address"`
	RunID   string             `json:"run_id"`
	Parts   []artifacts.Digest `json:"parts,omitempty"`
}

// Executed is what Execute did.
type Executed struct {
	Key   artifacts.Digest `json:"key"`
	Hit   bool             `json:"hit,omitempty"`
	TookS float64          `json:"took_s"`
	Pins  []step.Pin       `json:"pins,omitempty"`
}

// Part is one task that a step was cut into. It runs on the step's queue.
type Part struct {
	Key   artifacts.Digest `json:"key"`
	Task  artifacts.Digest `json:"task"`
	Kind  string           `json:"kind"`
	Label string           `json:"label"`
	Hit   bool             `json:"hit,omitempty"`
}

// RunRecord is kept as "runs/<run id>": the root that garbage collection keeps
// results for, and what `redsi why` compares with.
type RunRecord struct {
	Format   string           `json:"format"`
	RunID    string           `json:"run_id"`
	Workflow string           `json:"workflow,omitempty"`
	Pipeline string           `json:"pipeline"`
	Plan     artifacts.Digest `json:"plan"`
	Targets  []string         `json:"targets,omitempty"`
	Steps    []RunStep        `json:"steps"`
}

// RunStep is a step's place in a run record.
type RunStep struct {
	Address string           `json:"address"`
	Key     artifacts.Digest `json:"key"`
	Outcome Status           `json:"outcome"`
	TookS   float64          `json:"took_s,omitempty"`
	Error   string           `json:"error,omitempty"`
}

// JournalRequest stores a run record and, where the worker loaded the pipeline
// from a file, adds the pins to the lock file beside it.
type JournalRequest struct {
	Run  RunRecord  `json:"run"`
	Pins []step.Pin `json:"pins,omitempty"`
	Lock bool       `json:"lock,omitempty"`
}

// StepWorkflowID is the workflow ID of the work with the given key.
func StepWorkflowID(key artifacts.Digest) string { return "step/" + key.Hex() }

// NewRunID makes the name of a run: names sort by time. Unique tells apart runs
// of one second.
func NewRunID(at time.Time, unique string) string {
	return at.UTC().Format("20060102T150405Z") + "-" + unique[max(0, len(unique)-8):]
}

// ReproduceWorkflowID is the workflow ID that `redsi run` gives to a run.
func ReproduceWorkflowID(runID string) string { return "reproduce-" + runID }
