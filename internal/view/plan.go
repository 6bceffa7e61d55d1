package view

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/escape"
	"github.com/redsi/redsi/internal/estimate"
	"github.com/redsi/redsi/internal/plan"
)

// PlanStep is one step of a plan in JSON.
type PlanStep struct {
	Address string            `json:"address"`
	Kind    string            `json:"kind"`
	Outcome plan.Outcome      `json:"outcome"`
	Key     *artifacts.Digest `json:"key,omitempty"`
	Waits   []string          `json:"waits_for,omitempty"` // for maybe: the steps whose outputs decide
	Reason  string            `json:"reason,omitempty"`
	TookS   *float64          `json:"took_s,omitempty"`   // of the result, for a hit
	Bytes   *int64            `json:"bytes,omitempty"`    // of its outputs
	Origin  string            `json:"origin,omitempty"`   // the run it came from
	Expect  *float64          `json:"expect_s,omitempty"` // seconds that an earlier result of this step took
	File    string            `json:"file"`
	Line    int               `json:"line"`
}

// PlanJSON is a whole plan in JSON.
type PlanJSON struct {
	Pipeline string       `json:"pipeline"`
	Store    string       `json:"store"`
	Targets  []string     `json:"targets,omitempty"`
	Steps    []PlanStep   `json:"steps"`
	Summary  plan.Summary `json:"summary"`
}

// NewPlanJSON makes the JSON value of a preview.
func NewPlanJSON(v *plan.Preview, store string, e *estimate.Estimate, why map[int]string) PlanJSON {
	out := PlanJSON{Pipeline: v.Plan.Pipeline, Store: store, Targets: v.Plan.Targets, Summary: v.Summary(), Steps: []PlanStep{}}
	for i, s := range v.Plan.Steps {
		it := v.Items[i]
		p := PlanStep{Address: s.Address, Kind: s.Task.Kind, Outcome: it.Outcome, File: s.Pos.File, Line: s.Pos.Line, Reason: why[i]}
		if !it.Key.IsZero() {
			p.Key = &it.Key
		}
		for _, w := range it.Waits {
			p.Waits = append(p.Waits, v.Plan.Steps[w].Address)
		}
		if it.Outcome == plan.Hit {
			took, bytes := it.Took.Seconds(), it.Bytes
			p.TookS, p.Bytes, p.Origin = &took, &bytes, it.Run
		} else if x := e.Each[i]; x.Basis == estimate.Itself {
			sec := x.P50.Seconds()
			p.Expect = &sec
		}
		out.Steps = append(out.Steps, p)
	}
	return out
}

// Plan prints a preview for people: a line per step that is not a hit, hits
// only with all, and a summary with the time it saves and is likely to take.
func Plan(w io.Writer, v *plan.Preview, st Style, e *estimate.Estimate, why map[int]string, all bool) {
	width := 0
	for i, s := range v.Plan.Steps {
		if all || v.Items[i].Outcome != plan.Hit {
			width = max(width, ansi.StringWidth(escape.Line(s.Address)))
		}
	}
	var expect time.Duration
	known := 0
	for i, s := range v.Plan.Steps {
		it := v.Items[i]
		if it.Outcome != plan.Hit {
			if x := e.Each[i]; x.Basis == estimate.Itself {
				expect += x.P50
				known++
			}
		}
		if it.Outcome == plan.Hit && !all {
			continue
		}
		note := ""
		switch it.Outcome {
		case plan.Hit:
			note = fmt.Sprintf("%s, %s", Seconds(it.Took), Size(it.Bytes))
		case plan.Maybe:
			note = "known after " + names(v, it.Waits)
		default:
			note = why[i]
		}
		Printf(w, "%s  %s  %s\n", st.Outcome(string(it.Outcome), strings.ToUpper(string(it.Outcome))), pad(s.Address, width), st.Dim(note))
	}
	sum := v.Summary()
	Printf(w, "%d steps: %d hit, %d to run, %d known later", len(v.Items), sum.Hit, sum.Run, sum.Maybe)
	if sum.Hit > 0 {
		Printf(w, "; hits save %s", Seconds(v.Saved()))
	}
	if known > 0 {
		Printf(w, "; the rest took %s before", Seconds(expect))
		if n := sum.Run + sum.Maybe - known; n > 0 {
			Printf(w, " (%d have never run)", n)
		}
	}
	Println(w, ".")
}

func names(v *plan.Preview, waits []int) string {
	const most = 3
	var out []string
	for i, w := range waits {
		if i == most {
			out = append(out, fmt.Sprintf("%d more", len(waits)-most))
			break
		}
		out = append(out, v.Plan.Steps[w].Address)
	}
	return strings.Join(out, ", ")
}
