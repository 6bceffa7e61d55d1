package workflows

import (
	"fmt"
	"strings"
	"time"
)

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
