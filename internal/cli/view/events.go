package view

import (
	"bytes"
	"io"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/workflows"
)

// EventFormat is the format of Events' lines.
const EventFormat = "redsi-progress/1"

// Events tells programs of a run in progress: a JSON object a line. It is written at least as
// often as a state is seen, so that a reader that has gone is noticed.
type Events struct {
	w    io.Writer
	gone func() // called when nobody reads any more
	live *Live  // what a terminal would show
	seen map[string]workflows.StepState
}

// NewEvents makes them, with what a terminal of so many columns would show.
func NewEvents(w io.Writer, columns int, gone func()) *Events {
	return &Events{w, gone, NewLive(NewScreen(io.Discard), Style{}, columns), map[string]workflows.StepState{}}
}

// event is one line.
type event struct {
	Format string `json:"format"`
	Event  string `json:"event"` // begun, state or said
	Run    string `json:"run,omitempty"`
	URL    string `json:"url,omitempty"`
	Text   string `json:"text,omitempty"`
	*state
}

type state struct {
	Total  int                      `json:"total"`
	Done   int                      `json:"done"` // steps that have ended, in whatever way
	Counts map[workflows.Status]int `json:"counts"`
	Steps  []changedStep            `json:"steps"` // those with another status than in the line before
	Work   []workingStep            `json:"running"`
	Waits  string                   `json:"waits,omitempty"`
	News   []string                 `json:"news"`  // lines of a terminal, to be kept
	Block  []string                 `json:"block"` // and those below, until the next line
}

type changedStep struct {
	Address string           `json:"address"`
	Status  workflows.Status `json:"status"`
	TookS   float64          `json:"took_s,omitempty"`
	Error   string           `json:"error,omitempty"`
	Shared  bool             `json:"shared,omitempty"`
}

type workingStep struct {
	Address  string  `json:"address"`
	ForS     float64 `json:"for_s"`
	Progress string  `json:"progress,omitempty"`
}

// Begun says which run is followed.
func (e *Events) Begun(runID, url string) { e.write(event{Event: "begun", Run: runID, URL: url}) }

// Say says a line.
func (e *Events) Say(text string) { e.write(event{Event: "said", Text: text}) }

// Update tells of a new state, as Live shows it.
func (e *Events) Update(s workflows.State, work map[string]drive.Work, waits string, now time.Time) {
	x := &state{Total: len(s.Steps), Counts: map[workflows.Status]int{}, Waits: waits}
	var news bytes.Buffer
	e.live.now = now
	e.live.news(&news, s, work)
	x.News = strings.FieldsFunc(news.String(), func(r rune) bool { return r == '\n' })
	for _, line := range e.live.block(s, work, waits) {
		x.Block = append(x.Block, line.text)
	}
	for _, one := range s.Steps {
		x.Counts[one.Status]++
		if was, ok := e.seen[one.Address]; !ok || was.Status != one.Status {
			x.Steps = append(x.Steps, changedStep{one.Address, one.Status, one.TookS, one.Error, one.Shared})
		}
		e.seen[one.Address] = one
		switch one.Status {
		case workflows.Running:
			elapsed := now.Sub(e.live.began[one.Address])
			x.Work = append(x.Work, workingStep{one.Address, elapsed.Seconds(), Progress(work[one.Address].Progress, elapsed)})
		case workflows.Waiting, workflows.Queued:
		default:
			x.Done++
		}
	}
	e.write(event{Event: "state", state: x})
}

func (e *Events) write(x event) {
	x.Format = EventFormat
	if err := writeJSON(e.w, x); err != nil {
		e.gone()
	}
}
