package checklist

import (
	"fmt"
	"strings"

	"github.com/redsi/redsi/internal/paper/report"
)

// Command rebuilds one table or figure.
type Command struct {
	Address     string  `json:"address"`
	Paper       string  `json:"paper,omitempty"`
	Command     string  `json:"command"`
	Steps       int     `json:"steps"`              // of the table or figure, including itself
	WithResults int     `json:"steps_with_results"` // these have the time and bytes
	TookS       float64 `json:"took_s"`             // one step after another
	CardS       float64 `json:"card_s"`
	Disk        int64   `json:"disk"` // bytes of results
	Download    int64   `json:"download"`
	Unknown     int     `json:"download_unknown"` // files of unknown size
	Expected    int     `json:"expected"`         // numbers, texts and claims of the paper
	Allowed     float64 `json:"allowed"`          // the largest difference from a number that is allowed
	Place       string  `json:"place"`
}

func commands(in Input) []Command {
	fetched, unknown := map[string]int64{}, map[string]int{} // by step, bytes and files from other machines
	for _, f := range in.Report.Files {
		switch {
		case !strings.Contains(f.URL, "://"):
		case f.Size < 0:
			unknown[f.Step]++
		default:
			fetched[f.Step] += f.Size
		}
	}
	out := []Command{}
	for _, it := range in.Report.Items {
		if it.State == report.LeftOut {
			continue // no command rebuilds it
		}
		c := Command{Address: it.Address, Paper: it.Paper, Command: in.Command("run", "--target", it.Address), WithResults: it.Used.Steps, TookS: it.Used.Took.Seconds(), CardS: it.Used.CardS,
			Expected: len(it.Checks), Place: place(in.Plan.Steps[it.Index].Pos)}
		for _, i := range in.Report.Upstream(it) {
			n := &in.Report.Nodes[i]
			c.Steps++
			c.Disk += max(0, n.Bytes)
			c.Download += fetched[n.Address]
			c.Unknown += unknown[n.Address]
		}
		for _, k := range it.Checks {
			c.Allowed = max(c.Allowed, k.Allowed)
		}
		out = append(out, c)
	}
	return out
}

func (f *facts) commandsAnswer() []Answer {
	if len(f.commands) == 0 {
		return []Answer{blank("the commands: the pipeline has neither tables nor figures")}
	}
	left := ""
	if n := f.Report.Left.Items; n > 0 {
		left = fmt.Sprintf(" %d more are not listed.", n)
	}
	return []Answer{{Text: fmt.Sprintf("One command for each of the tables and figures, %d, with what it costs: see the list at the end.%s All: %s.",
		len(f.commands), left, f.Command("run")), From: f.Report.Pipeline}}
}
