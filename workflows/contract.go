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

// TaskTimeout is how long the server waits for a worker's answer to one task of a
// workflow. On a busy machine a long history takes longer than the usual 10 seconds to
// replay, and a run whose tasks are given up stands still; a worker that is killed with
// a task in its hands is missed after this time.
const TaskTimeout = 45 * time.Second

// GPUQueue is where steps of runs on a queue are done that ask for queue = "gpu".
func GPUQueue(queue string) string { return queue + gpuSuffix }

// IsGPUQueue reports whether a queue is that of some other queue's steps that ask for queue = "gpu".
func IsGPUQueue(queue string) bool { return strings.HasSuffix(queue, gpuSuffix) }

// ControlQueue is where the short work of runs on a queue is done: looking up,
// recording, and waiting for steps of other runs. It has slots of its own: on the
// queue of the steps, runs that wait for each other's steps could take every slot
// that those steps need, and a look-up would wait behind hours of training.
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

// SettledSignal tells a run what came of a batch so far, with a Settled: one of its
// steps takes long, and the others need not wait for it.
const SettledSignal = "settled"

// A step is short if it is done in ShortStep; a batch starts nothing more after
// BatchTime, and one whose step has been running for LongStep reports what it has.
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

	PlanLostError = "plan-lost" // the worker's store has no such plan; its detail is a PlanLost

	FailedRun = "failed" // of a run some of whose steps failed; its detail is the ReproduceResult
)

// ReproduceInput starts a run. People write the first three fields; the rest is
// filled in by `redsi run` and by continue-as-new.
type ReproduceInput struct {
	Pipeline string            `json:"pipeline"`          // file or folder, as the worker sees it
	Targets  []string          `json:"targets,omitempty"` // empty: everything
	Vars     map[string]string `json:"vars,omitempty"`

	FailFast bool              `json:"fail_fast,omitempty"` // start nothing new after a failure
	Plan     *artifacts.Digest `json:"plan,omitempty"`      // a plan already stored; Pipeline is then only its name
	RunID    string            `json:"run_id,omitempty"`
	Project  string            `json:"project,omitempty"` // whose run it is: the id in redsi.lock
	Dir      string            `json:"dir,omitempty"`     // from which names of files in the plan start, on the machine that made it
	Slots    int               `json:"slots,omitempty"`   // steps that all workers may do at a time which somebody submits for the run; 0: nobody does
	Carried  *Carried          `json:"carried,omitempty"` // by continue-as-new

	Hits *Pages[DoneStep] `json:"hits,omitempty"` // what was done when the plan was made, a moment ago
}

// UnmarshalJSON refuses fields that there are not: an input is written by hand,
// and a mistyped "targets" would mean everything.
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
	Steps Pages[CarriedStep] `json:"steps"` // all but those that wait and have not been tried
	Pins  Pages[step.Pin]    `json:"pins"`
	Lock  string             `json:"lock,omitempty"`

	Released Released `json:"released,omitzero"` // so far
}

// CarriedStep is what has become of a step. It has no Address, which the plan has.
type CarriedStep struct {
	StepState
	Past
}

// Past is what a run knows of a step that has no result, from what came of it before.
type Past struct {
	Singly bool  `json:"singly,omitempty"` // it is in no batch any more
	Failed int32 `json:"failed,omitempty"` // attempts that have
	Lost   int   `json:"lost,omitempty"`   // how often its inputs were
	Bytes  bool  `json:"bytes,omitempty"`  // see Ready
}

// DoneStep is a step with a result.
type DoneStep struct {
	Index int              `json:"i"`
	Key   artifacts.Digest `json:"key"`
	Hit   bool             `json:"hit,omitempty"`
	TookS float64          `json:"took_s,omitempty"` // when it ran
	Gone  bool             `json:"gone,omitempty"`   // it has none, having failed: what gathers it goes on without
}

// ReproduceResult is what a run came to.
type ReproduceResult struct {
	RunID  string           `json:"run_id"`
	Plan   artifacts.Digest `json:"plan"`
	Hit    int              `json:"hit"`
	Ran    int              `json:"ran"`
	Failed int              `json:"failed"`

	Skipped    int `json:"skipped,omitempty"`
	Cancelled  int `json:"cancelled,omitempty"`
	NotStarted int `json:"not_started,omitempty"`

	// Changed are the failed steps whose sources or programs had other bytes than
	// the plan says; of very many, the first.
	Changed []string `json:"changed,omitempty"`

	Released Released `json:"released,omitzero"`
}

// State is the answer to StateQuery: counts, and running or failed steps. What
// follows a run has all steps in Steps, put together from Changes.
type State struct {
	RunID     string              `json:"run_id"`
	Plan      artifacts.Digest    `json:"plan"`
	Restarted string              `json:"restarted,omitempty"` // why the server has started the run again
	Counts    map[runs.Status]int `json:"counts,omitempty"`
	Steps     []StepState         `json:"steps"`
}

// Changes is the answer to ChangesQuery, whose argument is the Next of the answer
// before, 0 at first: the steps that have changed since, as many as fit.
type Changes struct {
	RunID     string           `json:"run_id"`
	Plan      artifacts.Digest `json:"plan"`
	Execution string           `json:"execution"` // begin at 0 again when it is another
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
	Activity string           `json:"activity,omitempty"` // the ID of the run's activity to look at for progress, if it was given out
	Workflow string           `json:"workflow,omitempty"` // the Step workflow to look at, of one that is cut
	Lacks    int              `json:"lacks,omitempty"`    // how many of the steps that it gathers its result is without
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
	UnderWay bool              `json:"under_way,omitempty"` // the run is under way: what has a result is known
	Hits     *Pages[DoneStep]  `json:"hits,omitempty"`      // the same is known of the plan
}

// Loaded is a stored plan as a run begins with it: what workflow code knows of its steps, and
// which of them are done.
type Loaded struct {
	Steps    Pages[Head]      `json:"steps"`
	Hits     Pages[DoneStep]  `json:"hits"`
	Plan     artifacts.Digest `json:"plan"`
	Name     string           `json:"name"`
	Lock     string           `json:"lock,omitempty"` // the lock file beside the pipeline, on the worker that loaded it
	Project  string           `json:"project,omitempty"`
	Pins     Pages[step.Pin]  `json:"pins"` // that hits have, of a run with a lock file
	Features Features         `json:"features"`
	From     []HitsFrom       `json:"from,omitempty"` // of the hits, as far as it was looked up

	Limits map[string]int `json:"limits,omitempty"` // steps that may have a name of their resources at a time
}

// HitsFrom is how many hits among the steps of a block a run made.
type HitsFrom struct {
	Block string `json:"block"`
	Run   string `json:"run,omitempty"` // "" if its record does not say
	N     int    `json:"n"`
}

// Features is what the server at hand can do, and the worker that loaded the plan.
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
	Temporary bool            `json:"temporary,omitempty"` // its bytes go when all that read them are done

	Class string   `json:"class,omitempty"`  // steps of a class take alike, if nothing better is known
	TookS *float64 `json:"took_s,omitempty"` // the last time that it ran

	// Awaits are the steps, among Deps, whose results decide what the step is, or which
	// steps there are: it is pending, and not done itself.
	Awaits []int `json:"awaits,omitempty"`

	// Gathers are the steps, among Deps, that it goes on without if they fail.
	Gathers []Gather `json:"gathers,omitempty"`
}

// Gather are several steps of one block that a step reads: it goes on without those that fail if at least Least of
// them have results.
type Gather struct {
	Least int   `json:"least"`
	Of    []int `json:"of"` // ascending
}

// PrepareRequest asks for the keys of steps whose inputs have results, and of steps
// that follow from those alone, as far as there are hits.
type PrepareRequest struct {
	Plan  artifacts.Digest `json:"plan"`
	RunID string           `json:"run,omitempty"`
	Steps []Ready          `json:"steps"`
	Keys  Pages[DoneStep]  `json:"keys"` // of all their dependencies; zeros for one that is asked for in the same request
}

// Ready is a step that a run asks for.
type Ready struct {
	Index int  `json:"i"`
	Cut   bool `json:"cut,omitempty"`   // into parts: its bound task is to be stored
	Bytes bool `json:"bytes,omitempty"` // of a temporary step: a result counts only with its bytes
}

// Outcome is what came of a step that a run asked for: Hit, Ran or Failed; Running if it is at work still and others of
// its batch are told already; Waiting if it has no result and must be asked for, again if it was work.
type Outcome struct {
	Index  int              `json:"i"`
	Status runs.Status      `json:"status"`
	Key    artifacts.Digest `json:"key"`
	TookS  float64          `json:"took_s,omitempty"`
	Pins   []step.Pin       `json:"pins,omitempty"`
	From   string           `json:"from,omitempty"` // the run that made a hit
	Task   artifacts.Digest `json:"task,omitzero"`  // of one that is cut
	Error  string           `json:"error,omitempty"`
	Type   string           `json:"type,omitempty"` // of the error

	NotHere *NotHere `json:"not_here,omitempty"`
	Lost    bool     `json:"lost,omitempty"`   // a dependency has no result after all: look at all of them again
	Failed  int32    `json:"failed,omitempty"` // attempts that have ended in an error: they count on when it is asked for again
}

// NotHere is why a worker leaves a step.
type NotHere struct {
	Why  string `json:"why"`
	Busy bool   `json:"busy,omitempty"` // somebody else is at it; else the worker cannot do it
}

// DoRequest asks for steps, one after the other; those that follow from others of them are done when their inputs are
// there. Of several, none begins after BatchTime.
type DoRequest struct {
	Plan   artifacts.Digest `json:"plan"`
	RunID  string           `json:"run_id"`
	Number int              `json:"number"` // of the work, in its execution
	Steps  []Ready          `json:"steps"`
	Keys   Pages[DoneStep]  `json:"keys"`

	FailFast bool `json:"fail_fast,omitempty"` // start nothing after a failure

	// Of a single step: how long it took the last time, if that is known; how often it has failed; whether somebody else was at it.
	TookS   *float64 `json:"took_s,omitempty"`
	Failed  int32    `json:"failed,omitempty"`
	WasBusy bool     `json:"was_busy,omitempty"`
}

// RestRequest asks for a rest of a step, until nobody else is at it, or for a while.
type RestRequest struct {
	Key     artifacts.Digest `json:"key"`
	Address string           `json:"address"`
	RunID   string           `json:"run_id"`
	NotHere NotHere          `json:"not_here"`
}

// Settled says that work has begun, and what came of a batch so far.
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

	// Failed are attempts of the step and of its parts, by their keys: see Outcome.
	Failed map[artifacts.Digest]int32 `json:"failed,omitempty"`
}

// ExecuteRequest runs the task of a part, or of a step with its Parts, or finds that it has run.
type ExecuteRequest struct {
	Key     artifacts.Digest        `json:"key"`
	Task    artifacts.Digest        `json:"task"`
	Address string                  `json:"address"`
	RunID   string                  `json:"run_id"`
	Parts   Pages[artifacts.Digest] `json:"part_keys"`
	Of      artifacts.Digest        `json:"of,omitzero"`        // of a part: the key of its step
	TookS   *float64                `json:"took_s,omitempty"`   // the last time, if it is known
	Failed  int32                   `json:"failed,omitempty"`   // attempts before, see Outcome
	WasBusy bool                    `json:"was_busy,omitempty"` // somebody else was at it
	Fresh   time.Duration           `json:"fresh,omitempty"`    // for how long its result counts; 0: for ever

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

// JournalRequest stores a run record and, where a worker loaded the pipeline from
// a file, adds the pins to the lock file beside it.
type JournalRequest struct {
	Run   runs.Record      `json:"run"` // without its steps
	Steps Pages[runs.Step] `json:"step_pages"`
	Pins  Pages[step.Pin]  `json:"pin_pages"`
	Lock  string           `json:"lock_file,omitempty"`
}

// StepWorkflowID is the workflow ID of a step that is cut, by the number of its work in an execution of its run: that
// of a run which is started again may be open still.
func StepWorkflowID(execution string, number int) string {
	return fmt.Sprintf("step/%s/%d", execution, number)
}

// NewRunID makes the name of a run: names sort by time. Of the eight hexadecimal digits at
// its end, three say when in the second it began, in 1/4096 s; five are the end of unique,
// and tell apart runs of one moment.
func NewRunID(at time.Time, unique string) string {
	at = at.UTC()
	part := at.Nanosecond() * 4096 / int(time.Second)
	return fmt.Sprintf("%s-%03x%s", at.Format(runTime), part, unique[max(0, len(unique)-5):])
}

const runTime = "20060102T150405Z"

// RunBegan is when a run began, to the second, by its id: the execution of its workflow may
// be a later one. ok is false for an id that NewRunID has not made.
func RunBegan(id string) (at time.Time, ok bool) {
	text, _, _ := strings.Cut(id, "-")
	at, err := time.Parse(runTime, text)
	return at, err == nil
}

// ReproduceWorkflowID is the workflow ID that `redsi run` gives to a run.
func ReproduceWorkflowID(runID string) string { return "reproduce-" + runID }

// pipelineAttribute is the search attribute by which runs are found in the UI.
var pipelineAttribute = temporal.NewSearchAttributeKeyKeyword("RedsiPipeline")

// SearchAttributes are the names that a server must have, all of type Keyword.
func SearchAttributes() []string { return []string{pipelineAttribute.GetName()} }

// searchable is an address without its quotation marks, step.dedup.nq[url]: the UI would curl those of a summary.
func searchable(address string) string { return Short(strings.ReplaceAll(address, `"`, "")) }

// askedAgain is how often a question is given to another poll: more than the polls that
// one stopping worker leaves behind.
const askedAgain = 10

// Ask puts a query to a run and decodes its answer. The server may hand a question to the
// poll of a worker that has just stopped. Then it ends as cancelled, or with the SDK's own
// bound of one call (10 s). It is asked again while ctx lives.
func Ask[T any](ctx context.Context, c client.Client, workflow, query string, args ...any) (answer T, err error) {
	for n := 0; ; n++ {
		v, err := c.QueryWorkflow(ctx, workflow, "", query, args...)
		if err == nil {
			return answer, v.Get(&answer)
		}
		_, gone := errors.AsType[*serviceerror.Canceled](err)
		if n == askedAgain || ctx.Err() != nil || !gone && !Late(err) {
			return answer, err
		}
	}
}

// Late reports whether a call to Temporal ended because no answer came in its time, which
// is the SDK's bound unless the caller's context ended.
func Late(err error) bool {
	_, late := errors.AsType[*serviceerror.DeadlineExceeded](err)
	return late || errors.Is(err, context.DeadlineExceeded)
}
