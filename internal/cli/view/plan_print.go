package view

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/lockfile/origins"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/pilots"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
)

// PlanStyle says how much of a plan is printed.
type PlanStyle struct {
	Style
	All     bool // each step, also hits
	Verbose bool // each step that is not a hit, and the longest chain
	ByTable bool // what each table and figure needs
}

// fewSteps is how many steps that are not hits are printed one by one.
const fewSteps = 20

// Plan prints a preview for people: its steps, if few are not hits or they are asked for, else its blocks, or what its tables need;
// and the expected cost.
func Plan(w io.Writer, v *plan.Preview, st PlanStyle, f PlanFacts) {
	switch {
	case st.ByTable:
		planTables(w, v, st, f)
	case st.All || st.Verbose || f.Estimate.Steps <= fewSteps:
		planSteps(w, v, st, f)
	default:
		printGroups(w, st.Style, blockRows(v, f))
	}
	for _, s := range v.Plan.Skipped {
		Printf(w, "%s  %s  %s\n", st.Dim("SKIPPED"), s.Address, st.Dim(s.Reason()))
	}
	planChecks(w, v, st)
	Printf(w, "%s.\n", planSentence(v, f))
	for i, it := range v.Items {
		for _, g := range gatherings(v.Plan, i) {
			if it.Outcome != plan.Hit {
				Printf(w, "%s goes on without steps of %s that fail, with %d of %d or more.\n", v.Plan.Steps[i].Address, g.Block, g.Least, g.Of)
			}
		}
	}
	Ignored(w, f.Folders)
	PrintEach(w, "In keys: %s.\n", f.Libraries)
	PrintEach(w, "Not in keys: %s.\n", f.Unkeyed)
	planOthers(w, v, f.Others)
	if f.Estimate.Steps > 0 {
		planCosts(w, v, st, f)
	}
	planPilots(w, st, f.Pilots)
	planRequests(w, v, st, f)
}

func planPilots(w io.Writer, st PlanStyle, uses []pilots.Use) {
	for _, u := range uses {
		Printf(w, "pilots    %s: %s", u.Pilot, Count(u.Steps, "step"))
		if known := u.Steps - u.Unknown; known > 0 {
			Printf(w, ", %s of work, %.1f core hours", words.Took(u.Hours*3600), u.Cores)
			printIf(w, u.Cards > 0, ", %.1f card hours", u.Cards)
		}
		printIf(w, u.Unknown > 0, ", %d without history", u.Unknown)
		printIf(w, u.Steps > 0, "; at most %s at a time", Count(u.Most, "pilot"))
		if u.Start != nil {
			Printf(w, "; the first could start at %s", u.Start.Format("2006-01-02 15:04"))
		}
		Println(w)
		printIf(w, u.Refused != "", "%s  pilot %s: %s\n", st.Outcome("failed", "REFUSED"), u.Pilot, u.Refused)
	}
}

func planSentence(v *plan.Preview, f PlanFacts) string {
	sum := v.Summary()
	accepted := lists.Count(v.Items, func(it plan.Item) bool { return it.Accepted != nil })
	released := lists.Count(v.Items, func(it plan.Item) bool { return it.Released && it.Outcome == plan.Hit })
	resumed := lists.Count(f.Estimate.Each, func(x estimate.Step) bool { return x.Resumes })
	var b strings.Builder
	Printf(&b, "%s: %d hit, %d to run, %d waiting for others", Count(len(v.Items), "step"), sum.Hit, sum.Run, sum.Maybe)
	printIf(&b, accepted > 0, "; %d of the hits by acceptance", accepted)
	printIf(&b, released > 0, "; %d of the hits released", released)
	printIf(&b, len(f.Failed) > 0, "; %d of those to run failed before", len(f.Failed))
	printIf(&b, resumed > 0, "; %d %s from a checkpoint", resumed, words.Of(resumed, "resumes", "resume"))
	printIf(&b, sum.Hit > 0, "; hits save %s", Seconds(v.Saved()))
	return b.String()
}

func LeftOut(w io.Writer, skipped []pipeline.Skipped) {
	of, whys := map[string][]string{}, []string{}
	for _, s := range skipped {
		if s.Why == "" || !address.Of(s.Address).IsRendered() {
			continue
		}
		if of[s.Why] == nil {
			whys = append(whys, s.Why)
		}
		of[s.Why] = append(of[s.Why], s.Address)
	}
	for _, why := range whys {
		Printf(w, "left out: %s\n          %s\n", strings.Join(of[why], ", "), why)
	}
}

// planRequests prints steps that ask for more than this machine has, or for far more or less than they took.
func planRequests(w io.Writer, v *plan.Preview, st PlanStyle, f PlanFacts) {
	var told []string
	off := f.Estimate.FarOff(v)
	for i, s := range v.Plan.Steps {
		if why := f.Unfit[i]; why != "" {
			told = append(told, fmt.Sprintf("%s  %s", st.Outcome("failed", "UNFIT"), why))
		}
		if why := off[i]; why != "" {
			told = append(told, fmt.Sprintf("request   %s %s", s.Address, why))
		}
	}
	for _, text := range words.First(told, requestsShown, func(n int) { Printf(w, "          … and %d more: see --json\n", n) }) {
		Println(w, text)
	}
}

func Folder(w io.Writer, f origins.Folder) {
	switch {
	case f.Problem != "":
		Printf(w, "%s: %s\n", f.Address, f.Problem)
	case f.Ignored > 0:
		Printf(w, "%s: %s, %s; %s left out by .gitignore\n", f.Address, Count(f.Files, "file"), Size(f.Bytes), Count(f.Ignored, "other"))
	default:
		Printf(w, "%s: %s, %s\n", f.Address, Count(f.Files, "file"), Size(f.Bytes))
	}
}

// Ignored prints the source blocks of which .gitignore leaves files out.
func Ignored(w io.Writer, folders []origins.Folder) {
	for _, f := range folders {
		if f.Ignored > 0 {
			Folder(w, f)
		}
	}
}

func planChecks(w io.Writer, v *plan.Preview, st PlanStyle) {
	for i, it := range v.Items {
		warns := lists.Map(it.Snags().Warns, func(f string) string { return "warning: " + f })
		for _, f := range slices.Concat(it.Snags().Fails, warns) {
			Printf(w, "%s  %s  %s\n", st.Outcome(string(it.Outcome), strings.ToUpper(string(it.Outcome))), v.Plan.Steps[i].Address, f)
		}
	}
}

func planSteps(w io.Writer, v *plan.Preview, st PlanStyle, f PlanFacts) {
	shown := lists.Filter(lists.Places(len(v.Items)), func(i int) bool { return st.All || v.Items[i].Outcome != plan.Hit })
	width := widest(shown, func(i int) string { return v.Plan.Steps[i].Address })
	for _, i := range shown {
		it := v.Items[i]
		word := either(it.Released && it.Outcome == plan.Hit, "RELEASED", strings.ToUpper(string(it.Outcome)))
		if it.From != "" {
			word += " (from " + it.From + ")"
		}
		Printf(w, "%s  %s  %s\n", st.Outcome(string(it.Outcome), word), pad(v.Plan.Steps[i].Address, width), st.Dim(stepNote(v, f, i)))
	}
}

// stepNote says what a done step took; and why another step must run, and what it is expected to take.
func stepNote(v *plan.Preview, f PlanFacts, i int) (note string) {
	switch it := v.Items[i]; it.Outcome {
	case plan.Hit:
		note = fmt.Sprintf("%s, %s", Seconds(it.Took), Size(it.Bytes))
		if size, ok := f.fetch(i); ok && size > 0 {
			note += ", " + Size(size) + " to fetch"
		}
		if it.Accepted != nil {
			note += "; " + it.Accepted.Sentence()
		}
	case plan.Maybe:
		note = cmp.Or(it.Snags().Wrong, "known after "+few(v.Plan.Addresses(it.Snags().Waits)))
		if n := f.Pieces[v.Plan.Steps[i].Address]; n > 0 {
			note = fmt.Sprintf("%d last time; %s", n, note)
		}
	default:
		note = f.Why[i]
	}
	if there := partsThere(f, []int{i}); there != "" {
		note += "; " + there
	}
	if x := f.Estimate.At(i); x.Basis != estimate.Nothing {
		note += "; about " + Seconds(x.P50)
	}
	return note
}

// partsThere says how many parts of some steps are there; "" if none is.
func partsThere(f PlanFacts, steps []int) string {
	var sum plan.Parts
	counted := true // the number of parts of each step
	for _, i := range steps {
		p := f.Parts[i]
		sum.There, sum.Of, counted = sum.There+p.There, sum.Of+p.Of, counted && p.Of > 0
	}
	switch {
	case sum.There == 0:
		return ""
	case !counted:
		return Count(sum.There, "part") + " of it in the store"
	}
	return fmt.Sprintf("%d of %s in the store", sum.There, Count(sum.Of, "part"))
}

func few(names []string) string {
	const most = 3
	if n := len(names) - most; n > 0 {
		names = append(slices.Clip(names[:most]), fmt.Sprintf("%d more", n))
	}
	return strings.Join(names, ", ")
}

// blockRows are the blocks that are not all hits, each with why.
func blockRows(v *plan.Preview, f PlanFacts) (rows []groupRow) {
	blocks, of := f.Estimate.Blocks(v)
	why, after := reasons(len(blocks), of, f), waits(v, blocks, of)
	for n, g := range blocks {
		if g.Steps == 0 {
			continue
		}
		note := cmp.Or(reasonsText(why[n]), after[n])
		if there := partsThere(f, slices.DeleteFunc(slices.Collect(maps.Keys(f.Parts)), func(i int) bool { return of[i] != n })); there != "" {
			note += "; " + there
		}
		count := counts(g)
		if first := v.Plan.Steps[slices.Index(of, n)].Address; f.Pieces[first] > 0 && address.Of(first).Type() == "step" { // it stands for all
			count += fmt.Sprintf(", %d last time", f.Pieces[first])
		}
		rows = append(rows, groupRow{g, count, note})
	}
	return rows
}

// planTables prints a line for each table and figure that is not a hit.
func planTables(w io.Writer, v *plan.Preview, st PlanStyle, f PlanFacts) {
	var rows []groupRow
	for _, g := range f.Estimate.Tables(v) {
		note := ""
		switch {
		case g.Steps == 0:
			continue
		case g.Name == "":
			g.Name = "no table or figure"
		case g.Shared > 0 && g.Shared == g.Steps:
			note = "all shared with others"
		case g.Shared > 0:
			note = fmt.Sprintf("%d shared with others", g.Shared)
			if g.SharedP50 > 0 {
				note += " (" + words.Took(g.SharedP50) + ")"
			}
		}
		rows = append(rows, groupRow{g, Count(g.Steps, "step"), note})
	}
	printGroups(w, st.Style, rows)
}

type groupRow struct {
	estimate.Group
	counts, note string
}

func printGroups(w io.Writer, st Style, rows []groupRow) {
	name := widest(rows, func(r groupRow) string { return r.Name })
	count := widest(rows, func(r groupRow) string { return r.counts })
	cost := widest(rows, func(r groupRow) string { return costs(r.Group) })
	for _, r := range rows {
		outcome := either(r.Run+r.Resume > 0, plan.Run, plan.Maybe)
		Printf(w, "%s  %s  %-*s  %-*s  %s\n", st.Outcome(string(outcome), strings.ToUpper(string(outcome))), pad(r.Name, name),
			count, r.counts, cost, costs(r.Group), st.Dim(r.note))
	}
}

func counts(g estimate.Group) string {
	return strings.Join(words.Counts(words.Number{N: g.Run, Of: "run"}, words.Number{N: g.Resume, Of: "resume"}, words.Number{N: g.Maybe, Of: "maybe"}, words.Number{N: g.Hit, Of: "hit"}), ", ")
}

// costs is the expected cost of a group, and how many of its steps have a history.
func costs(g estimate.Group) string {
	if g.Unknown == g.Steps {
		return "no history"
	}
	text := spread(g.P50, g.P90) + ", " + Size(g.Bytes)
	if g.Unknown > 0 {
		text += fmt.Sprintf(" (%d of %d known)", g.Steps-g.Unknown, g.Steps)
	}
	return text
}

func spread(p50, p90 float64) string {
	text := words.Took(p50)
	if slow := words.Took(p90); slow != text {
		text += " (p90 " + slow + ")"
	}
	return text
}

// reasons counts why the steps of each group must run, most frequent first. Reasons that differ only in values count as one.
func reasons(groups int, of []int, f PlanFacts) [][]Reason {
	counted := make([]map[string]Reason, groups)
	for _, i := range slices.Sorted(maps.Keys(f.Why)) {
		text := f.Why[i]
		cause := cmp.Or(f.Causes[i], text)
		if counted[of[i]] == nil {
			counted[of[i]] = map[string]Reason{}
		}
		r := counted[of[i]][cause]
		if r.Steps++; r.Steps > 1 && r.Reason != text {
			text = cause + " differs"
		}
		r.Reason = text
		counted[of[i]][cause] = r
	}
	out := make([][]Reason, groups)
	for n, causes := range counted {
		for _, cause := range slices.Sorted(maps.Keys(causes)) {
			out[n] = append(out[n], causes[cause])
		}
		slices.SortStableFunc(out[n], func(a, b Reason) int { return cmp.Compare(b.Steps, a.Steps) })
	}
	return out
}

func reasonsText(all []Reason) string {
	if len(all) == 1 {
		return all[0].Reason
	}
	var out []string
	for _, r := range words.First(all, reasonsShown, func(n int) { out = append(out, Count(n, "other reason")) }) {
		out = append(out, fmt.Sprintf("%d: %s", r.Steps, r.Reason))
	}
	return strings.Join(out, "; ")
}

// waits says after which blocks the keys of each block become known.
func waits(v *plan.Preview, blocks []estimate.Group, of []int) []string {
	out := make([]string, len(blocks))
	seen := make([]map[int]bool, len(blocks))
	for i, it := range v.Items {
		for _, d := range it.Snags().Waits {
			if seen[of[i]] == nil {
				seen[of[i]] = map[int]bool{}
			}
			if of[d] != of[i] {
				seen[of[i]][of[d]] = true
			}
		}
	}
	for n, before := range seen {
		if len(before) > 0 {
			out[n] = "known after " + few(lists.Map(slices.Sorted(maps.Keys(before)), func(b int) string { return blocks[b].Name }))
		}
	}
	return out
}
