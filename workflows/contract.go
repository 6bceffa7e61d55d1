package workflows

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/step"
)

// Names that people and other programs type.
const (
	TaskQueue     = "redsi"               // default queue: data and rendering
	GPUTaskQueue  = TaskQueue + gpuSuffix // steps that ask for queue = "gpu"
	gpuSuffix     = "-gpu"
	controlSuffix = "-control"

	ReproduceWorkflow = "Reproduce"
	StepWorkflow      = "Step"

	StateQuery   = "state"   // Reproduce: State, for people
	ChangesQuery = "changes" // Reproduce: Changes, for programs that follow it
)

// TaskTimeout is how long the server waits for a worker's answer to one task of a workflow. On a busy machine a long
// history takes longer than the usual 10 seconds to replay, and a run whose tasks are given up stands still; a worker
// that is killed during a task is missed after this time.
const TaskTimeout = 45 * time.Second

// GPUQueue returns the queue for steps with queue = "gpu" of runs on a queue.
func GPUQueue(queue string) string { return queue + gpuSuffix }

// IsGPUQueue reports whether GPUQueue returns the queue for some other queue.
func IsGPUQueue(queue string) bool { return strings.HasSuffix(queue, gpuSuffix) }

// ControlQueue returns the queue for the short work of runs on a queue: looking up, recording, and waiting for steps
// of other runs. It has slots of its own: on the queue of the steps, runs that wait for each other's steps could take
// every slot that those steps need, and a look-up would wait behind hours of training.
func ControlQueue(queue string) string { return queue + controlSuffix }

// Names of activities.
const (
	LoadActivity    = "Load"
	GrowActivity    = "Grow"
	PrepareActivity = "Prepare"
	SplitActivity   = "Split"
	DoActivity      = "Do"      // steps
	ExecuteActivity = "Execute" // a part of a step, or a step whose parts are done
	RestActivity    = "Rest"
	JournalActivity = "Journal"
	CloseActivity   = "Close" // a run without a record
	StashActivity   = "Stash" // a page of a list to its digest
	PageActivity    = "Page"  // a digest to its page

	ReleaseActivity = "Release"
)

// SettledSignal tells a run the outcomes of a batch so far, with a Settled, while one of its steps takes long.
const SettledSignal = "settled"

// A step is short if it is done in ShortStep. A batch begins no step after BatchTime, and reports its outcomes so far
// when a step has been running for LongStep.
const (
	ShortStep = time.Second
	BatchTime = 2 * time.Second
	LongStep  = 2 * time.Second
)

// AtWork is the detail of the cancellation of an activity that had begun.
const AtWork = "at work"

// Types of application errors, which decide about retries.
const (
	PermanentError     = "permanent"      // a retry cannot fix it
	TransientError     = "transient"      // a retry may fix it
	InputLostError     = "input-lost"     // an input's bytes are gone or corrupt: run its producer again
	SourceChangedError = "source-changed" // a source or program changed after planning: plan again

	PlanLostError = "plan-lost" // the worker's store does not have the plan; the detail is a PlanLost

	FailedRun = "failed" // of a run with failed steps; the detail is the ReproduceResult
)

// ReproduceInput starts a run. People write the first three fields; `redsi run` and continue-as-new fill in the rest.
type ReproduceInput struct {
	Pipeline string            `json:"pipeline"`          // file or folder, as the worker sees it
	Targets  []string          `json:"targets,omitempty"` // empty: everything
	Vars     map[string]string `json:"vars,omitempty"`

	FailFast bool              `json:"fail_fast,omitempty"` // start nothing new after a failure
	Plan     *artifacts.Digest `json:"plan,omitempty"`      // a plan already stored; Pipeline is then only its name
	RunID    string            `json:"run_id,omitempty"`
	Project  string            `json:"project,omitempty"` // whose run it is: the id in redsi.lock
	Dir      string            `json:"dir,omitempty"`     // to which names of files in the plan are relative, on the client's machine
	Slots    int               `json:"slots,omitempty"`   // steps at a time of all workers that somebody submits for the run; 0: nobody does
	Carried  *Carried          `json:"carried,omitempty"` // by continue-as-new

	Hits *Pages[DoneStep] `json:"hits,omitempty"` // the steps that were done when the plan was made, a moment ago
}

// UnmarshalJSON refuses unknown fields: people write the input by hand, and a mistyped "targets" would mean everything.
func (in *ReproduceInput) UnmarshalJSON(b []byte) error {
	type plain ReproduceInput
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode((*plain)(in)); err != nil {
		return fmt.Errorf("%w; an input is "+inputForm, err)
	}
	return nil
}

const inputForm = `{"pipeline": "…", "targets": ["…"], "vars": {"…": "…"}, "fail_fast": true}`

// Carried is what a run whose history grew long hands over to its next execution.
type Carried struct {
	Steps Pages[CarriedStep] `json:"steps"` // without waiting steps that have not been tried
	Pins  Pages[step.Pin]    `json:"pins"`
	Lock  string             `json:"lock,omitempty"`

	Released  Released   `json:"released,omitzero"` // so far
	From      []HitsFrom `json:"from,omitempty"`    // the hits so far
	Restarted string     `json:"restarted,omitempty"`
}

// CarriedStep is the state of a step, without its Address, which the plan has.
type CarriedStep struct {
	StepState
	Past
}

// Past is what a run knows of earlier work on a step that has no result.
type Past struct {
	Singly bool  `json:"singly,omitempty"` // it goes in no batch any more
	Failed int32 `json:"failed,omitempty"` // attempts
	Lost   int   `json:"lost,omitempty"`   // how often its inputs were lost
	Bytes  bool  `json:"bytes,omitempty"`  // see Ready
}

// DoneStep is a step with a result, or, if Gone, a failed step, without which steps that gather it go on.
type DoneStep struct {
	Index int              `json:"i"`
	Key   artifacts.Digest `json:"key"`
	Hit   bool             `json:"hit,omitempty"`
	TookS float64          `json:"took_s,omitempty"` // when it ran
	Gone  bool             `json:"gone,omitempty"`
}

// ReproduceResult is the result of a run.
type ReproduceResult struct {
	RunID  string           `json:"run_id"`
	Plan   artifacts.Digest `json:"plan"`
	Hit    int              `json:"hit"`
	Ran    int              `json:"ran"`
	Failed int              `json:"failed"`

	Skipped    int `json:"skipped,omitempty"`
	Cancelled  int `json:"cancelled,omitempty"`
	NotStarted int `json:"not_started,omitempty"`

	// Changed are the failed steps, up to some number, whose sources or programs had other bytes than the plan says.
	Changed []string `json:"changed,omitempty"`

	Released Released `json:"released,omitzero"`
}

// State is the answer to StateQuery: counts, and running or failed steps. A program that follows a run builds a State
// with all steps from Changes.
type State struct {
	RunID     string              `json:"run_id"`
	Plan      artifacts.Digest    `json:"plan"`
	Restarted string              `json:"restarted,omitempty"` // why the server has restarted the run
	Counts    map[runs.Status]int `json:"counts,omitempty"`
	Steps     []StepState         `json:"steps"`
}

// Changes is the answer to ChangesQuery, whose argument is the Next of the answer before, 0 at first: the steps that have
// changed since then, as many as fit.
type Changes struct {
	RunID     string           `json:"run_id"`
	Plan      artifacts.Digest `json:"plan"`
	Execution string           `json:"execution"` // when it changes, start over at 0
	Restarted string           `json:"restarted,omitempty"`
	Total     int              `json:"total"`
	Steps     []StepState      `json:"steps"`
	Next      int              `json:"next"`
	More      bool             `json:"more,omitempty"` // ask again at once
}

// StepState is one step's part of a State.
type StepState struct {
	Index    int              `json:"i"`
	Address  string           `json:"address"`
	Status   runs.Status      `json:"status"`
	Key      artifacts.Digest `json:"key"`
	TookS    float64          `json:"took_s,omitempty"`
	Error    string           `json:"error,omitempty"`
	Activity string           `json:"activity,omitempty"` // the ID of the run's activity that has the progress, if it was given out
	Workflow string           `json:"workflow,omitempty"` // the Step workflow that has the progress, if it is cut
	Lacks    int              `json:"lacks,omitempty"`    // how many of the steps that it gathers its result lacks
	Changed  bool             `json:"changed,omitempty"`  // it failed because a source changed after planning
}

// LoadRequest asks for a plan.
type LoadRequest struct {
	Pipeline string            `json:"pipeline"`
	Targets  []string          `json:"targets,omitempty"`
	Vars     map[string]string `json:"vars,omitempty"`
	Plan     *artifacts.Digest `json:"plan,omitempty"`
	RunID    string            `json:"run_id,omitempty"`
	Project  string            `json:"project,omitempty"`
	UnderWay bool              `json:"under_way,omitempty"` // the run is under way, and knows which steps are done
	Hits     *Pages[DoneStep]  `json:"hits,omitempty"`      // the steps of the plan that are done
}

// Loaded is a stored plan as a run begins with it: what workflow code knows of its steps, and which of them are done.
type Loaded struct {
	Steps    Pages[Head]      `json:"steps"`
	Hits     Pages[DoneStep]  `json:"hits"`
	Plan     artifacts.Digest `json:"plan"`
	Name     string           `json:"name"`
	Lock     string           `json:"lock,omitempty"` // the lock file beside the pipeline, on the worker that loaded it
	Project  string           `json:"project,omitempty"`
	Pins     Pages[step.Pin]  `json:"pins"` // of the hits, for a run with a lock file
	Features Features         `json:"features"`
	From     []HitsFrom       `json:"from,omitempty"` // of the first hits

	Limits map[string]int `json:"limits,omitempty"` // by name: how many steps may have it among their resources at a time
}

// HitsFrom is how many hits of a block a run left.
type HitsFrom struct {
	Block string `json:"block"`
	Run   string `json:"run,omitempty"` // "" if its record does not say
	N     int    `json:"n"`
}

// Features is what the server can do, and the worker that loaded the plan.
type Features struct {
	SearchAttributes bool `json:"search_attributes,omitempty"`
	Slots            int  `json:"slots,omitempty"` // steps that the worker does at a time

	Page string `json:"page,omitempty"` // of the graphs of runs, to link to
}

// Head is what workflow code knows of a step.
type Head struct {
	Address string `json:"address"`
	Kind    string `json:"kind"`
	Deps    []int  `json:"deps,omitempty"`
	Queue   string `json:"queue,omitempty"`
	Inline  bool   `json:"inline,omitempty"`
	Splits  bool   `json:"splits,omitempty"`

	Resources *step.Resources `json:"resources,omitempty"` // what it asks for; nil: nothing
	Temporary bool            `json:"temporary,omitempty"` // its bytes go when all of its readers are done

	Class string   `json:"class,omitempty"`  // steps of a class are expected to take equally long
	TookS *float64 `json:"took_s,omitempty"` // the last time that it ran

	// Awaits are the steps, among Deps, whose results decide what the step is, or which steps there are. A step with
	// Awaits is pending, and never done itself.
	Awaits []int `json:"awaits,omitempty"`

	// Gathers are the steps, among Deps, without which it goes on if they fail.
	Gathers []Gather `json:"gathers,omitempty"`
}

// Gather is several steps of one block that a step reads: it goes on without the failed ones if at least Least have
// results.
type Gather struct {
	Least int   `json:"least"`
	Of    []int `json:"of"` // ascending
}

// PrepareRequest asks for the keys of steps whose inputs have results and, as far as there are hits, of steps that
// follow from them.
type PrepareRequest struct {
	Plan  artifacts.Digest `json:"plan"`
	RunID string           `json:"run,omitempty"`
	Steps []Ready          `json:"steps"`
	Keys  Pages[DoneStep]  `json:"keys"` // of all their dependencies; zero for a step of the same request
}

// Ready is a step that a run asks for.
type Ready struct {
	Index int  `json:"i"`
	Cut   bool `json:"cut,omitempty"`   // it is cut into parts: its bound task is to be stored
	Bytes bool `json:"bytes,omitempty"` // of a temporary step: a result counts only with its bytes
}

// Outcome is the outcome of a step that a run asked for: Hit, Ran or Failed; Running if it is still at work and
// others of its batch are reported; Waiting if it has no result and must be asked for, also if it was given out.
type Outcome struct {
	Index  int              `json:"i"`
	Status runs.Status      `json:"status"`
	Key    artifacts.Digest `json:"key"`
	TookS  float64          `json:"took_s,omitempty"`
	Pins   []step.Pin       `json:"pins,omitempty"`
	From   string           `json:"from,omitempty"` // the run that made a hit
	Task   artifacts.Digest `json:"task,omitzero"`  // of a step that is cut
	Error  string           `json:"error,omitempty"`
	Type   string           `json:"type,omitempty"` // of the error

	NotHere *NotHere `json:"not_here,omitempty"`
	Lost    bool     `json:"lost,omitempty"`   // a dependency has no result after all: look all of them up
	Failed  int32    `json:"failed,omitempty"` // attempts that have ended in an error, which count when it is asked for again
}

// NotHere is why a worker leaves a step.
type NotHere struct {
	Why  string `json:"why"`
	Busy bool   `json:"busy,omitempty"` // somebody else is working on it; else the worker cannot do it
}

// DoRequest asks for steps, one after the other; steps that follow from others of them are done when their inputs are
// there. Of several, none begins after BatchTime.
type DoRequest struct {
	Plan   artifacts.Digest `json:"plan"`
	RunID  string           `json:"run_id"`
	Number int              `json:"number"` // of the work, in its execution
	Steps  []Ready          `json:"steps"`
	Keys   Pages[DoneStep]  `json:"keys"`

	FailFast bool `json:"fail_fast,omitempty"` // start nothing after a failure

	// Of a single step: how long it took the last time, if it ran; how often it has failed; whether somebody else was
	// working on it.
	TookS   *float64 `json:"took_s,omitempty"`
	Failed  int32    `json:"failed,omitempty"`
	WasBusy bool     `json:"was_busy,omitempty"`
}

// RestRequest asks for a rest of a step, until nobody else is working on it, or for a while.
type RestRequest struct {
	Key     artifacts.Digest `json:"key"`
	Address string           `json:"address"`
	RunID   string           `json:"run_id"`
	NotHere NotHere          `json:"not_here"`
}

// Settled says that work has begun, and has the outcomes of a batch so far.
type Settled struct {
	Number int       `json:"number"` // see DoRequest
	Steps  []Outcome `json:"steps,omitempty"`
}

// StepInput is a step that is cut into parts.
type StepInput struct {
	Key       artifacts.Digest `json:"key"`
	Task      artifacts.Digest `json:"task"`
	Address   string           `json:"address"`
	Queue     string           `json:"queue,omitempty"`
	RunID     string           `json:"run_id"`
	Resources *step.Resources  `json:"resources,omitempty"`

	// Failed are attempts of the step and of its unfinished parts, by their keys: see Outcome.
	Failed map[artifacts.Digest]int32 `json:"tries,omitempty"`
}

// ExecuteRequest asks for the result of the task of a part, or of a step with its Parts.
type ExecuteRequest struct {
	Key     artifacts.Digest        `json:"key"`
	Task    artifacts.Digest        `json:"task"`
	Address string                  `json:"address"`
	RunID   string                  `json:"run_id"`
	Parts   Pages[artifacts.Digest] `json:"part_keys"`
	Of      artifacts.Digest        `json:"of,omitzero"`        // of a part: the key of its step
	TookS   *float64                `json:"took_s,omitempty"`   // the last time, if it ran
	Failed  int32                   `json:"failed,omitempty"`   // attempts before, see Outcome
	WasBusy bool                    `json:"was_busy,omitempty"` // somebody else was at it
	Fresh   time.Duration           `json:"fresh,omitempty"`    // how long its result counts; 0: for ever

	Resources *step.Resources `json:"resources,omitempty"`
}

// Part is one task that a step was cut into. It runs on the step's queue.
type Part struct {
	Key      artifacts.Digest `json:"key"`
	Task     artifacts.Digest `json:"task"`
	Kind     string           `json:"kind"`
	Label    string           `json:"label"`
	Hit      bool             `json:"hit,omitempty"`
	OneByOne bool             `json:"one_by_one,omitempty"` // no other part of the step runs meanwhile
}

// JournalRequest stores a run's record and, if a worker loaded the pipeline from a file, adds the pins to the lock
// file beside it.
type JournalRequest struct {
	Run   runs.Record      `json:"run"` // without its steps
	Steps Pages[runs.Step] `json:"step_pages"`
	Pins  Pages[step.Pin]  `json:"pin_pages"`
	Lock  string           `json:"lock_file,omitempty"`
}

// StepWorkflowID returns the workflow ID of a step that is cut, by the number of its work in an execution of its run:
// when a run is restarted, the workflow of its earlier execution may still be open.
func StepWorkflowID(execution string, number int) string {
	return fmt.Sprintf("step/%s/%d", execution, number)
}

// NewRunID returns the id of a run. Ids sort by time. Of the eight hexadecimal digits at its end, three say when in
// the second it began, in 1/4096 s; five are the end of unique, and tell apart runs of one moment.
func NewRunID(at time.Time, unique string) string {
	at = at.UTC()
	part := at.Nanosecond() * 4096 / int(time.Second)
	return fmt.Sprintf("%s-%03x%s", at.Format(runTime), part, unique[max(0, len(unique)-5):])
}

const runTime = "20060102T150405Z"

// RunBegan returns when a run began, to the second, by its id: its workflow may be in a later execution. ok is false
// for an id that is not NewRunID's.
func RunBegan(id string) (at time.Time, ok bool) {
	text, _, _ := strings.Cut(id, "-")
	at, err := time.Parse(runTime, text)
	return at, err == nil
}

// ReproduceWorkflowID returns the workflow ID that `redsi run` gives to a run.
func ReproduceWorkflowID(runID string) string { return "reproduce-" + runID }

// pipelineAttribute is the search attribute by which runs are found in the UI.
var pipelineAttribute = temporal.NewSearchAttributeKeyKeyword("RedsiPipeline")

// SearchAttributes are the names that a server must have, all of type Keyword.
func SearchAttributes() []string { return []string{pipelineAttribute.GetName()} }

// searchable returns an address without quotation marks, step.dedup.nq[url]: in a summary the UI would curl them.
func searchable(address string) string { return Short(strings.ReplaceAll(address, `"`, "")) }

// askRetries is how often Ask retries a query: more often than a stopping worker leaves polls behind.
const askRetries = 10

// Ask puts a query to a run and decodes its answer. The server may hand a query to the poll of a worker that has just
// stopped; then the query ends as cancelled, or after the SDK's own bound of one call (10 s), and Ask retries it
// while ctx lives.
func Ask[T any](ctx context.Context, c client.Client, workflow, query string, args ...any) (answer T, err error) {
	for n := 0; ; n++ {
		v, err := c.QueryWorkflow(ctx, workflow, "", query, args...)
		if err == nil {
			err = v.Get(&answer)
			return answer, err
		}
		_, gone := errors.AsType[*serviceerror.Canceled](err)
		if n == askRetries || ctx.Err() != nil || !gone && !Late(err) {
			return answer, err
		}
	}
}

// Late reports whether a call to Temporal ended without an answer in time, which is the SDK's bound unless the
// caller's context ended.
func Late(err error) bool {
	_, late := errors.AsType[*serviceerror.DeadlineExceeded](err)
	return late || errors.Is(err, context.DeadlineExceeded)
}
