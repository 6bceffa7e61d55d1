package view

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/system/escape"
	"github.com/redsi/redsi/workflows"
)

// Events tells programs of a run in progress: a JSON object a line, redsi-progress/1. One is
// written for each state that is seen, so that a reader that has gone is noticed.
type Events struct {
	w    io.Writer
	gone func() // called when nobody reads any more
	live *Live  // what a terminal would show
}

// NewEvents makes them, with what a terminal of so many columns would show.
func NewEvents(w io.Writer, columns int, gone func()) *Events {
	return &Events{w, gone, NewLive(NewScreen(io.Discard), Style{}, columns)}
}

// Begun says which run is followed.
func (e *Events) Begun(runID, url string) {
	e.write("begun", map[string]any{"run": runID, "url": url, "news": []string{"run " + runID, "Temporal UI: " + url}})
}

// Say says a line.
func (e *Events) Say(text string) {
	e.write("said", map[string]any{"news": []string{escape.Line(text)}})
}

// Update tells of a new state, as Live shows it.
func (e *Events) Update(s workflows.State, work map[string]drive.Work, waitsFor string, now time.Time) {
	counts := map[runs.Status]int{}
	var changed []workflows.StepState
	for _, x := range s.Steps {
		counts[x.Status]++
		if e.live.seen[x.Address] != x.Status {
			changed = append(changed, x)
		}
	}
	var news bytes.Buffer
	e.live.now = now
	e.live.news(&news, s, work)
	var block []string
	for _, line := range e.live.block(s, work, waitsFor) {
		block = append(block, line.text)
	}
	e.write("state", map[string]any{"total": len(s.Steps), "done": len(s.Steps) - counts[runs.Waiting] - counts[runs.Queued] - counts[runs.Running],
		"counts": counts, "steps": changed, "block": block,
		"news": slices.DeleteFunc(strings.Split(news.String(), "\n"), func(line string) bool { return line == "" })})
}

func (e *Events) write(event string, x map[string]any) {
	x["format"], x["event"] = "redsi-progress/1", event
	if err := writeJSON(e.w, x); err != nil {
		e.gone()
	}
}
