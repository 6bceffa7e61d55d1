package drive

import (
	"cmp"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session/pilots"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

// Report is the answer of status.
type Report struct {
	Server    string       `json:"server,omitempty"`    // "" if none is running
	Elsewhere string       `json:"elsewhere,omitempty"` // which other machine runs the server of this state folder, and what to do
	Running   []Run        `json:"running"`
	Pilots    []pilots.Sum `json:"pilots,omitempty"` // of Slurm
	Ended     []Ended      `json:"ended,omitempty"`  // newest first
}

// Run is an open run. Of very many running or failed steps it lists some; Counts counts all.
type Run struct {
	RunID    string              `json:"run"`
	Workflow string              `json:"workflow"`
	URL      string              `json:"url"`
	Started  time.Time           `json:"started"`
	Counts   map[runs.Status]int `json:"counts"`
	Steps    []Step              `json:"steps,omitempty"`    // running and failed
	Priority int                 `json:"priority,omitempty"` // 0: unknown, or the server's default
	LeftS    float64             `json:"left_s,omitempty"`   // at least, as running steps report; 0: unknown
	Error    string              `json:"error,omitempty"`    // why its state is unknown
}

type Step struct {
	Address  string         `json:"address"`
	Status   runs.Status    `json:"status"`
	Progress *step.Progress `json:"progress,omitempty"`
	Error    string         `json:"error,omitempty"`
	Worker   string         `json:"worker,omitempty"` // host and batch job of who runs it, if not this machine's alone
}

// Ended is the outcome of a run that has ended.
type Ended struct {
	RunID    string              `json:"run"`
	Pipeline string              `json:"pipeline"`
	Targets  []string            `json:"targets,omitempty"`
	Counts   map[runs.Status]int `json:"counts"`
	Failed   []Step              `json:"failed,omitempty"`
}

// Tally is how many steps have each status, as text.
func Tally(n map[runs.Status]int) string {
	all := []runs.Status{runs.Hit, runs.Ran, runs.Running, runs.Queued, runs.Waiting, runs.Failed, runs.Skipped, runs.Cancelled, runs.NotStarted}
	list := lists.Map(all, func(s runs.Status) words.Number { return words.Number{N: n[s], Of: string(s)} })
	return cmp.Or(strings.Join(words.Counts(list...), ", "), "loading")
}
