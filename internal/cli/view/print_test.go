package view

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	charm "github.com/charmbracelet/log"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/alike"
	"github.com/redsi/redsi/internal/paper/attest"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/escape"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// nasty is text that takes a terminal over: it writes the clipboard, clears the
// screen in seven and in eight bits, turns the writing, and forges a line.
const nasty = "a\x1b]52;c;YWJj\a\x9b2J\u009b2J\u202eb\u2066\x7f\rc\nDONE   step.forged\x00"

// harmless checks what is printed without colour.
func harmless(t *testing.T, what, out string) {
	t.Helper()
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if strings.ContainsFunc(line, escape.Unsafe) || strings.ToValidUTF8(line, "") != line {
			t.Errorf("%s prints %q", what, line)
		}
		if strings.HasPrefix(line, "DONE   step.forged") {
			t.Errorf("%s prints a forged line: %q", what, out)
		}
	}
	if !strings.Contains(out, `\x1b]52;c;`) {
		t.Errorf("%s does not show what there is: %q", what, out)
	}
}

func TestPrintedIsHarmless(t *testing.T) {
	type named string
	steps := []workflows.StepState{
		{Address: nasty, Status: runs.Running},
		{Address: nasty + "2", Status: runs.Failed, Error: nasty},
		{Address: nasty + "3", Status: runs.Ran, TookS: 1},
		{Address: nasty + "4", Status: runs.Skipped, Error: nasty}}
	for what, show := range map[string]func(b *bytes.Buffer){
		"Printf": func(b *bytes.Buffer) {
			Printf(b, "%s %v %s %-20s %s %v\n", nasty, named(nasty), Lines(nasty), nasty, []string{nasty}, struct{ A string }{nasty})
		},
		"Printf of a change": func(b *bytes.Buffer) { Printf(b, "%s\n", step.Change{Path: nasty, Old: nasty, New: nasty}) },
		"Println":            func(b *bytes.Buffer) { Println(b, "redsi:", nasty, errors.New(nasty)) },
		"Style": func(b *bytes.Buffer) {
			var st Style
			Println(b, st.Dim(nasty), st.Bold(nasty), st.Outcome("hit", nasty), st.DimLines(nasty))
		},
		"Copy": func(b *bytes.Buffer) { Copy(b, strings.NewReader("\n "+strings.ReplaceAll(nasty, "\n", "")), true) },
		"Live": func(b *bytes.Buffer) {
			l := NewLive(b, Style{}, 0)
			now := time.Unix(0, 0)
			l.Update(workflows.State{Steps: steps}, nil, "", now)
			for i := range 3 {
				l.Update(workflows.State{Steps: steps}, map[string]drive.Work{nasty: {Progress: step.Progress{Done: 1, Note: nasty, Unit: nasty}}}, nasty, now.Add(time.Duration(i)*time.Minute))
			}
		},
		"the block of Live": func(b *bytes.Buffer) {
			l := NewLive(b, Style{}, 80)
			l.Update(workflows.State{Steps: steps[:1]}, map[string]drive.Work{nasty: {Progress: step.Progress{Note: nasty}}}, nasty, time.Unix(9, 0))
		},
		"Plan": func(b *bytes.Buffer) {
			v := &plan.Preview{Plan: &plan.Plan{Steps: []plan.Step{{Address: nasty}, {Address: nasty}}},
				Items: []plan.Item{{Outcome: plan.Run}, {Outcome: plan.Maybe, Rare: &plan.Snags{Waits: []int{0}}}}}
			f := PlanFacts{Store: nasty, Estimate: estimate.Of(v, estimate.History{}), Why: map[int]string{0: nasty}, Free: -1}
			for _, st := range []PlanStyle{{All: true}, {Verbose: true}, {ByTable: true}} {
				Plan(b, v, st, f)
			}
			printGroups(b, Style{}, blockRows(v, f))
		},
		"Trace": func(b *bytes.Buffer) {
			Trace(b, &report.Trace{Address: nasty, Cell: nasty, Text: nasty, Sources: []report.Source{{Step: nasty, Output: nasty}},
				Steps: []report.Node{{Address: nasty, Config: []report.Leaf{{Path: nasty, Value: nasty}}, Counts: map[string]int64{nasty: 1},
					Notes: map[string]string{nasty: nasty}, Inputs: []report.Edge{{Path: nasty}},
					Rebuilt: &attest.Told{Summary: attest.Summary{People: 1, Signed: attest.Verdicts{Same: 1}}, List: []attest.Shown{{By: nasty, Machine: nasty,
						Verdict: nasty, When: nasty, Worst: &alike.Difference{Output: nasty, File: nasty, Path: nasty, Stands: nasty, Made: nasty, What: nasty}}}}}}})
		},
		"Log": func(b *bytes.Buffer) {
			log := slog.New(Log(charm.New(b)))
			log.With(nasty, nasty).WithGroup(nasty).Error(nasty, "err", fmt.Errorf("%w: %s", os.ErrNotExist, nasty), slog.Group(nasty, "k", nasty))
		},
	} {
		var b bytes.Buffer
		show(&b)
		harmless(t, what, b.String())
	}
}

// Colours are ours alone.
func TestColour(t *testing.T) {
	var b bytes.Buffer
	Printf(&b, "%s\n", Style{Color: true}.Bold("a\x1b[31mb"))
	if got, want := b.String(), "\x1b[1ma\\x1b[31mb\x1b[0m\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What programs read is exact: bytes that are copied, and the value of JSON.
func TestExact(t *testing.T) {
	var b bytes.Buffer
	if err := Copy(&b, strings.NewReader(nasty), false); err != nil || b.String() != nasty {
		t.Errorf("copied as %q, %v", b.String(), err)
	}
	b.Reset()
	valid := strings.ToValidUTF8(nasty, "")
	errtest.None(t, WriteJSON(&b, map[string]string{valid: valid}))
	var back map[string]string
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || back[valid] != valid {
		t.Errorf("%q, %v", back, err)
	}
	harmless(t, "WriteJSON", strings.ReplaceAll(b.String(), `\u001b`, `\x1b`))
}

func TestWriteJSONLists(t *testing.T) {
	type inner struct {
		Names []string `json:"names"`
	}
	type outer struct {
		inner                  // no field that can be set
		In    inner            `json:"in"`
		At    *inner           `json:"at"`
		Nil   *inner           `json:"nil"`
		Any   any              `json:"any"`
		Left  []inner          `json:"left,omitempty"`
		Zero  []inner          `json:"zero,omitzero"`
		Some  []inner          `json:"some"`
		By    map[string]inner `json:"by"`
		Raw   json.RawMessage  `json:"raw"`
	}
	for want, v := range map[string]any{
		"[]":                   []string(nil),
		"null":                 nil,
		"12345678901234567890": json.Number("12345678901234567890"), // not a text
		`{"a":[],"b":null,"c":[],"d":{"names":[]},"e":{"x":[]}}`: map[string]any{"a": []string(nil), "b": nil, "c": any([]int(nil)), "d": inner{}, "e": map[string][]int{"x": nil}},
		`{"names":["x"],"in":{"names":[]},"at":{"names":[]},"nil":null,"any":[],"some":[{"names":[]}],"by":{"k":{"names":[]}},"raw":null}`: outer{inner: inner{[]string{"x"}}, At: &inner{},
			Any: []any(nil), Some: []inner{{}}, By: map[string]inner{"k": {}}},
	} {
		var b, tight bytes.Buffer
		errtest.None(t, WriteJSON(&b, v))
		if err := json.Compact(&tight, b.Bytes()); err != nil || tight.String() != want {
			t.Errorf("%s, not %s: %v", tight.String(), want, err)
		}
	}
}

// TestLostInOrder: the same results are named each time.
func TestLostInOrder(t *testing.T) {
	var first string
	for range 20 {
		var out bytes.Buffer
		done := artifacts.Transferred{Lost: map[artifacts.Digest]string{}}
		for i := range lostShown + 2 {
			done.Lost[artifacts.Digest{byte(i)}] = "gone"
		}
		Transferred(&out, &artifacts.Transfer{}, done)
		if first == "" {
			first = out.String()
		}
		if out.String() != first || !strings.Contains(first, "\nand 2 more could not be copied") {
			t.Fatalf("%s, before %s", &out, first)
		}
	}
}

// TestCollectedOpen: a copy that holds what has arrived is not called a run.
func TestCollectedOpen(t *testing.T) {
	for _, id := range []string{"20260101T000000Z-00000000", "push-0123456789ab", "archive-0123456789abcdef"} {
		var b bytes.Buffer
		hint := func(verb string, args ...string) string { return verb + " " + strings.Join(args, " ") }
		Collected(&b, artifacts.Garbage{Open: []artifacts.OpenRun{{RunID: id, Since: time.Now()}}}, artifacts.GCOptions{}, hint)
		if text := b.String(); !strings.HasPrefix(text, "the run or copy "+id+" is at work, or ") || !strings.Contains(text, "release it with `gc --forget-run "+id+"`") {
			t.Errorf("%s: %s", id, text)
		}
	}
}
