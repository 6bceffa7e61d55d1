package workflows

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"sort"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/lists"
)

// Bounds of what the UI shows of a run, whatever its size.
const (
	stepsShown  = 15 // of each outcome
	blocksShown = 40
	describeGap = 5 * time.Second // details are renewed at most this often
)

// describe sets what the UI shows of a run: counts, the failed steps and the steps that workers have, each block, the
// longest steps, and the hits with the runs that left them. Details are answers to a query, and so not in the
// history.
func (r *run) describe(ctx workflow.Context) {
	r.described = workflow.Now(ctx)
	info := workflow.GetInfo(ctx)
	began, ok := RunBegan(r.id)
	if !ok {
		began = info.WorkflowStartTime // of this execution
	}
	var b strings.Builder
	if page := r.loaded.Features.Page; page != "" {
		fmt.Fprintf(&b, "[the graph of this run](%s/run/%s) · ", page, url.PathEscape(info.WorkflowExecution.ID))
	}
	fmt.Fprintf(&b, "[its steps that are cut into parts](%s)\n\n", listed(info, `ParentWorkflowId = "`+info.WorkflowExecution.ID+`"`))
	n := r.counts()
	fmt.Fprintf(&b, "**%s**, %s after its start: %d hit, %d ran, %d failed, %d skipped, %d cancelled, %d given to workers, %d to do or not started\n",
		Code(r.loaded.Name, shortText), max(0, r.described.Sub(began)).Round(time.Second),
		n[runs.Hit], n[runs.Ran], n[runs.Failed], n[runs.Skipped], n[runs.Cancelled], n[runs.Running], n[runs.Waiting]+n[runs.NotStarted])
	b.WriteString("\nOf the pending activities, each named by its step, those that are started are at work, and their last heartbeat says how far they are; the others wait for a worker. `redsi logs STEP` shows what a step says, `redsi trace STEP` what it is made of and which run made that.\n")
	r.describeSteps(&b, info, runs.Failed, "failed")
	r.describeSteps(&b, info, runs.Cancelled, "cancelled")
	r.describeSteps(&b, info, runs.Running, "given to workers")
	r.describeBlocks(&b)
	r.describeSteps(&b, info, runs.Ran, "took longest")
	r.describeHits(&b, info)
	workflow.SetCurrentDetails(ctx, b.String())
}

// describeBlocks writes a table of the steps by block.
func (r *run) describeBlocks(b *strings.Builder) {
	type sum struct {
		n    map[runs.Status]int
		took float64
	}
	var names []string
	sums := map[string]*sum{}
	for _, s := range r.steps {
		name := address.Of(s.Address).Block()
		if sums[name] == nil {
			names = append(names, name)
			sums[name] = &sum{n: map[runs.Status]int{}}
		}
		sums[name].n[s.Status]++
		if s.Status == runs.Ran {
			sums[name].took += s.TookS
		}
	}
	b.WriteString("\n| block | hit | ran | given out | failed | skipped | cancelled | to do | ran for |\n|---|---|---|---|---|---|---|---|---|\n")
	for i, name := range names {
		if i == blocksShown {
			fmt.Fprintf(b, "| … %d more | | | | | | | | |\n", len(names)-blocksShown)
			break
		}
		x := sums[name]
		fmt.Fprintf(b, "| %s | %d | %d | %d | %d | %d | %d | %d | %s |\n", Code(name, shortText),
			x.n[runs.Hit], x.n[runs.Ran], x.n[runs.Running], x.n[runs.Failed], x.n[runs.Skipped], x.n[runs.Cancelled], x.n[runs.Waiting]+x.n[runs.NotStarted], seconds(x.took))
	}
}

// describeSteps lists steps of an outcome under a title, the longest first.
func (r *run) describeSteps(b *strings.Builder, info *workflow.Info, of runs.Status, title string) {
	some := lists.Filter(r.steps, func(s StepState) bool { return s.Status == of })
	if len(some) == 0 {
		return
	}
	slices.SortStableFunc(some, func(x, y StepState) int { return cmp.Compare(y.TookS, x.TookS) })
	fmt.Fprintf(b, "\n**%s**\n\n", title)
	for i, s := range some {
		if i == stepsShown {
			fmt.Fprintf(b, "- … %d more\n", len(some)-stepsShown)
			break
		}
		name := Code(s.Address, shortText)
		if s.Workflow != "" {
			name = fmt.Sprintf("[%s](%s)", name, listed(info, `WorkflowId = "`+s.Workflow+`"`))
		}
		b.WriteString("- " + name)
		switch {
		case s.Error != "":
			b.WriteString(": " + Code(s.Error, shortText))
		case of == runs.Ran:
			b.WriteString(", " + seconds(s.TookS))
		}
		b.WriteByte('\n')
	}
}

// describeHits writes a table of the hits by the runs that left them.
func (r *run) describeHits(b *strings.Builder, info *workflow.Info) {
	if len(r.from) == 0 {
		return
	}
	b.WriteString("\n**hits**, and the runs that made them\n\n| block | hits | run |\n|---|---|---|\n")
	for i, h := range r.from {
		if i == blocksShown {
			fmt.Fprintf(b, "| others | %d | |\n", h.N)
			break
		}
		run := "not recorded"
		if h.Run != "" {
			run = fmt.Sprintf("[%s](%s)", Code(h.Run, shortText), listed(info, `WorkflowId = "`+ReproduceWorkflowID(h.Run)+`"`))
		}
		fmt.Fprintf(b, "| %s | %d | %s |\n", Code(h.Block, shortText), h.N, run)
	}
}

// AddHit counts a hit of a step under its block and the run that left it. A last entry counts the hits that are not
// shown.
func AddHit(list []HitsFrom, step, run string) []HitsFrom {
	block := address.Of(step).Block()
	i := slices.IndexFunc(list, func(h HitsFrom) bool { return h.Block == block && h.Run == run })
	switch {
	case i >= 0:
		list[i].N++
	case len(list) < blocksShown:
		list = append(list, HitsFrom{Block: block, Run: run, N: 1})
	case len(list) == blocksShown:
		list = append(list, HitsFrom{N: 1})
	default:
		list[blocksShown].N++
	}
	return list
}

// listed returns the address, on the same server, of the list of workflows that a query finds. The list is there even
// if the server has forgotten the workflow, or never had it.
func listed(info *workflow.Info, query string) string {
	return "/namespaces/" + url.PathEscape(info.Namespace) + "/workflows?query=" + strings.ReplaceAll(url.QueryEscape(query), "+", "%20")
}

// Fact is a name with its value.
type Fact struct{ Name, Value string }

// StartDetails returns what the UI shows of a workflow from its start, in Markdown: facts that have a value.
func StartDetails(facts []Fact) string {
	var b strings.Builder
	for _, f := range facts {
		if f.Value != "" {
			fmt.Fprintf(&b, "- %s: %s\n", f.Name, Code(f.Value, 1000))
		}
	}
	return b.String()
}

func seconds(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(10 * time.Millisecond).String()
}

// shortText is how many bytes of a text a page shows.
const shortText = 200

// Code returns the beginning of a text as Markdown that shows it verbatim, also within a table.
func Code(text string, most int) string {
	text = cut(strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " "), most)
	if text == "" {
		return "–"
	}
	text = strings.ReplaceAll(text, "|", `\|`)
	if strings.Contains(text, "`") {
		return "`` " + strings.ReplaceAll(text, "``", "` `") + " ``"
	}
	return "`" + text + "`"
}

// Bounds of one answer to a query.
const (
	changesShown = 1000      // steps
	changesBytes = 256 << 10 // of their texts
	activeShown  = 100
)

// queries lets a run be looked at while it works, and when it has ended.
func (r *run) queries(ctx workflow.Context) error {
	execution := workflow.GetInfo(ctx).WorkflowExecution.RunID
	err := workflow.SetQueryHandler(ctx, ChangesQuery, func(since int) (Changes, error) { return r.changesSince(execution, since), nil })
	if err != nil {
		return err
	}
	return workflow.SetQueryHandler(ctx, StateQuery, func() (State, error) { return r.state(), nil })
}

// state returns counts, and running or failed steps up to activeShown, for people.
func (r *run) state() State {
	s := State{RunID: r.id, Restarted: r.restarted}
	if r.progress == nil {
		return s
	}
	s.Counts, s.Plan = r.counts(), r.loaded.Plan
	for _, x := range r.steps {
		if (x.Status == runs.Running || x.Status == runs.Failed) && len(s.Steps) < activeShown {
			s.Steps = append(s.Steps, x)
		}
	}
	return s
}

// changesSince lists the steps that have changed after a number of changes, oldest first.
func (r *run) changesSince(execution string, since int) Changes {
	c := Changes{RunID: r.id, Execution: execution, Restarted: r.restarted, Next: since}
	if r.progress == nil {
		return c
	}
	c.Total, c.Plan = len(r.steps), r.loaded.Plan
	if n := len(r.moves); n > 0 { // the steps have other places
		c.Execution += fmt.Sprintf(" grown %d", n)
	}
	var changed []int
	for i, at := range r.at {
		if at > since {
			changed = append(changed, i)
		}
	}
	sort.Slice(changed, func(x, y int) bool { return r.at[changed[x]] < r.at[changed[y]] })
	bytes := 0
	for n, i := range changed {
		s := r.steps[i]
		if bytes += len(s.Address) + len(s.Error) + len(s.Workflow) + 100; n == changesShown || n > 0 && bytes > changesBytes {
			c.More = true
			break
		}
		c.Steps = append(c.Steps, s)
		c.Next = r.at[i]
	}
	return c
}
