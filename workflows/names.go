package workflows

import (
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
)

// StepWorkflowID is the workflow ID of the work with the given key.
func StepWorkflowID(key artifacts.Digest) string { return "step/" + key.Hex() }

// NewRunID makes the name of a run: names sort by time. Unique tells apart runs
// of one second.
func NewRunID(at time.Time, unique string) string {
	return at.UTC().Format(runTime) + "-" + unique[max(0, len(unique)-8):]
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
