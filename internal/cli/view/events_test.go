package view

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// TestEvents: a line for each state has what has changed and what a terminal would show; a text cannot forge a line.
func TestEvents(t *testing.T) {
	var b bytes.Buffer
	e := NewEvents(&b, 80, func() { t.Error("the reader is there") })
	now := time.Unix(1000, 0)
	s := workflows.State{Steps: []workflows.StepState{{Address: "step.a", Status: runs.Hit, TookS: 2}, {Address: "step.b", Status: runs.Running}, {Address: "step.c", Status: runs.Waiting}}}
	work := map[string]drive.Work{"step.b": {Began: now.Add(-10 * time.Second), Progress: step.Progress{Done: 1, Total: 4, Unit: "files"}}}
	e.Begun("r1", "http://x/<r1>")
	e.Update(s, work, "a worker", now)
	s.Steps[1] = workflows.StepState{Address: "step.b", Status: runs.Failed, Error: "no\nroom\x1b[2J"}
	s.Steps[2].Status = runs.Skipped
	e.Update(s, nil, "", now)
	e.Say("a\nb")
	want := `{"event":"begun","format":"redsi-progress/1","news":["run r1","Temporal UI: http://x/<r1>"],"run":"r1","url":"http://x/<r1>"}
{"block":["…      step.b  10 s   25 %  1 of 4 files, 30 s left","…      a worker","       1 running, 1 to do of 3"],"counts":{"hit":1,"running":1,"waiting":1},"done":1,"event":"state","format":"redsi-progress/1","news":["HIT    1 step already done"],"steps":[{"i":0,"address":"step.a","status":"hit","key":"","took_s":2},{"i":0,"address":"step.b","status":"running","key":""},{"i":0,"address":"step.c","status":"waiting","key":""}],"total":3}
{"block":["       0 running, 0 to do of 3"],"counts":{"failed":1,"hit":1,"skipped":1},"done":3,"event":"state","format":"redsi-progress/1","news":["FAIL   step.b  no","       room\\x1b[2J","SKIP   step.c  "],"steps":[{"i":0,"address":"step.b","status":"failed","key":"","error":"no\nroom\u001b[2J"},{"i":0,"address":"step.c","status":"skipped","key":""}],"total":3}
{"event":"said","format":"redsi-progress/1","news":["a\\nb"]}
`
	if got := b.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestEventsWithoutReader(t *testing.T) {
	gone := 0
	e := NewEvents(closed{}, 80, func() { gone++ })
	e.Update(workflows.State{}, nil, "", time.Unix(9, 0))
	if gone != 1 {
		t.Errorf("the end of the reader was noticed %d times", gone)
	}
}

// TestEventsOfNarrowTerminal: COLUMNS may be anything.
func TestEventsOfNarrowTerminal(t *testing.T) {
	for _, columns := range []int{1, 2, 30} {
		var b bytes.Buffer
		NewEvents(&b, columns, nil).Update(workflows.State{Steps: []workflows.StepState{{Address: "step.command.long", Status: runs.Running}}}, nil, "", time.Unix(9, 0))
		if strings.Count(b.String(), "\n") != 1 {
			t.Errorf("%d columns: %q", columns, b.String())
		}
	}
}
