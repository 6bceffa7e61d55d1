package checklist

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/pipeline/questions"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
)

// Bounds of the packages and of other items that an answer lists.
const mostPackages, mostShown = 200, 20

type facts struct {
	Input
	commands []Command
}

// about returns the answers about a topic; none about an unknown one, whose question stays blank.
func (f *facts) about(t questions.Topic) []Answer {
	answer := map[questions.Topic]func() []Answer{
		questions.Code: f.code, questions.Data: f.data, questions.Sizes: f.sizes, questions.Models: f.models, questions.Compute: f.compute,
		questions.Machines: f.machines, questions.Settings: f.settings, questions.Runs: f.runs, questions.Commands: f.commandsAnswer,
		questions.Expected: f.expected, questions.Available: f.available, questions.Parameters: f.parameters,
	}[t]
	if answer == nil {
		return nil
	}
	return answer()
}

func blank(what string) Answer { return Answer{Text: what, Blank: true} }

const ofResults = "records of results" // names the origin of recorded figures

func (f *facts) code() (out []Answer) {
	revisions := map[string]int{}
	for _, e := range f.Report.Envs {
		if r := e.Values["revision"]; r != "" {
			revisions[r] += e.Steps
		}
	}
	if len(revisions) == 0 {
		out = append(out, blank("the revision of the code"))
	} else {
		out = append(out, Answer{Text: "Revisions of redsi: " + counts(revisions, "step") + ".", From: ofResults})
	}
	if n := len(f.Packages); n > 0 {
		out = append(out, Answer{Text: fmt.Sprintf("%s of environments, with their licences: %s.", counted(n, "package"), environment.Sentence(f.Packages, mostPackages)), From: ofResults})
		without := slices.DeleteFunc(slices.Clone(f.Packages), func(p environment.Package) bool { return p.Licence != "" })
		if len(without) > 0 {
			out = append(out, blank("the licences of packages whose metadata names none: "+environment.Sentence(without, mostShown)))
		}
	}
	kinds := map[string]int{}
	for _, s := range f.Plan.Steps {
		kinds[s.Task.Kind]++
	}
	return append(out, Answer{Text: fmt.Sprintf("The workflow is the pipeline %s of %s, run by redsi on Temporal; its kinds of steps are %s.",
		f.Report.Pipeline, counted(len(f.Plan.Steps), "step"), strings.Join(slices.Sorted(maps.Keys(kinds)), ", ")), From: f.Report.Pipeline})
}

// data says which files each block downloads, and what the pipeline says about datasets and models.
func (f *facts) data() (out []Answer) {
	type brought struct {
		files, unsized int
		bytes          int64
		licenses       map[string]bool
		hosts          map[string]bool
		place          string
	}
	blocks := map[string]*brought{}
	for _, x := range f.Report.Files {
		name := address.Of(x.Step).Block()
		b := blocks[name]
		if b == nil {
			b = &brought{licenses: map[string]bool{}, hosts: map[string]bool{}, place: f.placeOf(x.Step)}
			blocks[name] = b
		}
		b.files++
		b.bytes += max(0, x.Size)
		if x.Size < 0 {
			b.unsized++
		}
		b.licenses[x.License] = true
		b.hosts[hostOf(x.URL)] = true
	}
	for _, name := range slices.Sorted(maps.Keys(blocks)) {
		b := blocks[name]
		text := fmt.Sprintf("%s: %s from %s", name, counted(b.files, "file"), strings.Join(slices.Sorted(maps.Keys(b.hosts)), ", "))
		if b.unsized < b.files {
			text += ", " + words.Size(b.bytes)
		}
		if b.unsized > 0 {
			text += fmt.Sprintf(" and %s of unknown size", counted(b.unsized, "file"))
		}
		if b.licenses[""] {
			out = append(out, blank("the licence of what "+name+" brings in ("+b.place+")"))
			delete(b.licenses, "")
		}
		if len(b.licenses) > 0 {
			text += "; licence " + strings.Join(slices.Sorted(maps.Keys(b.licenses)), ", ")
		}
		out = append(out, Answer{Text: text + ".", From: b.place})
	}
	if f.Report.Left.Files > 0 {
		out = append(out, Answer{Text: fmt.Sprintf("And %s more.", counted(f.Report.Left.Files, "file")), From: f.Report.Pipeline})
	}
	for _, a := range f.Said.Assets {
		parts := []string{fmt.Sprintf("%s %s", a.Type, a.Name)}
		for _, x := range []struct{ what, text string }{{"licence ", a.License}, {"", a.URL}, {"languages: ", strings.Join(a.Languages, ", ")}, {"", strings.TrimSuffix(a.About, ".")}} {
			if x.text != "" {
				parts = append(parts, x.what+x.text)
			}
		}
		out = append(out, Answer{Text: strings.Join(parts, "; ") + ".", From: place(a.Pos)})
		if a.License == "" {
			out = append(out, blank(fmt.Sprintf("the licence of the %s %s (%s)", a.Type, a.Name, place(a.Pos))))
		}
	}
	if len(out) == 0 {
		out = append(out, blank("the data, its licences and languages: no step brings files in, and the checklist block names no dataset"))
	} else if !slices.ContainsFunc(f.Said.Assets, func(a pipeline.Asset) bool { return len(a.Languages) > 0 }) {
		out = append(out, blank("the languages of the data"))
	}
	return out
}

func hostOf(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		host, _, _ := strings.Cut(rest, "/")
		return host
	}
	return "local files"
}

func (f *facts) sizes() (out []Answer) {
	blocks := lists.Filter(f.Report.Blocks, func(b report.Block) bool { return len(b.Counts) > 0 && !address.Of(b.Address).IsRendered() })
	slices.SortFunc(blocks, func(a, b report.Block) int { return cmp.Compare(a.Address, b.Address) })
	for _, b := range words.First(blocks, mostShown, func(n int) {
		out = append(out, Answer{Text: fmt.Sprintf("And the counts of %s more.", counted(n, "block")), From: f.Command("report")})
	}) {
		list := lists.Map(slices.Sorted(maps.Keys(b.Counts)), func(what string) string { return what + " " + humanize.Comma(b.Counts[what]) })
		out = append(out, Answer{Text: fmt.Sprintf("%s (%s): %s.", b.Address, counted(b.Done, "step"), strings.Join(list[:min(len(list), mostShown)], ", ")), From: "counts in " + ofResults})
	}
	if len(out) == 0 {
		out = append(out, blank("numbers of examples and splits: no result counts any"))
	}
	return out
}

func (f *facts) models() (out []Answer) {
	for _, block := range slices.Sorted(maps.Keys(f.Parameters)) {
		list := lists.Unique(lists.Map(f.Parameters[block], millions))
		shown := list[:min(len(list), mostShown)]
		text := fmt.Sprintf("%s: models of %s parameters", block, strings.Join(shown, ", "))
		if len(list) > len(shown) {
			text += fmt.Sprintf(" and %d other sizes, up to %s", len(list)-len(shown), list[len(list)-1])
		}
		out = append(out, Answer{Text: text + ".", From: "reports and counts of results"})
	}
	if len(out) == 0 {
		out = append(out, blank("the number of parameters of models: no result has one"))
	}
	return out
}

func (f *facts) compute() (out []Answer) {
	s, from := f.Spent, "records of runs, failures and results"
	out = append(out, Answer{Text: fmt.Sprintf("All work that the store has records of: %s, one step after another. That is %s of %s in %s; failed %s of %s, cancelled %s of %s.",
		hours(s.Took().Seconds()), hours(s.Results.Took.Seconds()), counted(s.Results.Steps, "result"), counted(s.Runs, "run"),
		hours(s.Failed.TookS), counted(s.Failed.Steps, "step"), hours(s.Cancelled.TookS), counted(s.Cancelled.Steps, "step")), From: from})
	if s.Results.CardMemory == 0 {
		out = append(out, blank("hours on cards: no result has a record of one"))
	}
	for _, r := range s.Results.Rows()[1:] {
		out = append(out, Answer{Text: strings.ToUpper(r.What[:1]) + r.What[1:] + ": " + r.Value + ".", From: ofResults})
	}
	if s.Results.EnergyOf == 0 {
		out = append(out, blank("energy: no machine measured it"))
	}
	if s.Damaged > 0 {
		out = append(out, blank(fmt.Sprintf("the work of %s whose records are damaged", counted(s.Damaged, "run"))))
	}
	return append(out, blank("work without a record here: in other stores, collected since, or by other programs"))
}

func (f *facts) machines() (out []Answer) {
	for _, e := range f.Report.Envs[:min(len(f.Report.Envs), mostShown)] {
		var list []string
		for _, name := range []string{"platform", "devices", "libtorch", "go"} {
			if v := e.Values[name]; v != "" {
				list = append(list, name+" "+v)
			}
		}
		if len(list) > 0 {
			out = append(out, Answer{Text: fmt.Sprintf("%s: %s.", counted(e.Steps, "step"), strings.Join(list, ", ")), From: ofResults})
		}
	}
	cards := map[string]int{}
	for i := range f.Report.Nodes {
		if u := f.Report.Nodes[i].Used; u != nil && u.Card != "" {
			cards[u.Card]++
		}
	}
	if len(cards) > 0 {
		out = append(out, Answer{Text: "Cards: " + counts(cards, "step") + ".", From: ofResults})
	}
	if len(out) == 0 {
		out = append(out, blank("the machines: no result has a record of its machine"))
	}
	return out
}

func (f *facts) expected() (out []Answer) {
	verdicts, n := map[string]int{}, 0
	for _, it := range f.Report.Items {
		for _, k := range it.Checks {
			verdicts[string(k.Verdict)]++
			n++
		}
	}
	if n == 0 {
		return []Answer{blank("expected results: no table or figure states any")}
	}
	list := lists.Map(slices.Sorted(maps.Keys(verdicts)), func(v string) string { return fmt.Sprintf("%d %s", verdicts[v], v) })
	return []Answer{{Text: fmt.Sprintf("The pipeline states the paper's values, as %s: of these results %s. Each has an allowed difference; the list of commands has the largest for each table.",
		counted(n, "expectation"), strings.Join(list, ", ")), From: "expect blocks of " + f.Report.Pipeline}}
}

func (f *facts) available() (out []Answer) {
	if u := f.Report.Paper.URL; u != "" {
		out = append(out, Answer{Text: "The paper: " + u + ".", From: "paper block"})
	}
	hosts := map[string]int{}
	for _, x := range f.Report.Files {
		hosts[hostOf(x.URL)]++
	}
	if len(hosts) > 0 {
		out = append(out, Answer{Text: "Sources: " + counts(hosts, "file") + ", each pinned by its SHA-256 once it was fetched.", From: f.Report.Pipeline})
	}
	return append(out, blank("where code, results and models are archived, with an identifier such as a DOI"))
}

func (f *facts) parameters() (out []Answer) {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(f.Vars)) {
		var text string
		if json.Unmarshal(f.Vars[name], &text) != nil {
			text = string(f.Vars[name])
		} else if filepath.IsAbs(text) {
			text = "a path"
		}
		list = append(list, name+" = "+words.Clip(report.Unplaced(text), 80))
	}
	if len(list) == 0 {
		return nil
	}
	return []Answer{{Text: "Variables of the pipeline: " + words.And(list, mostShown) + ".", From: f.Report.Pipeline}}
}

func (f *facts) placeOf(address string) string {
	if i := slices.IndexFunc(f.Plan.Steps, func(s plan.Step) bool { return s.Address == address }); i >= 0 {
		return place(f.Plan.Steps[i].Pos)
	}
	return f.Report.Pipeline
}

func place(p pipeline.Pos) string { return report.FileOf(p.File) + ":" + strconv.Itoa(p.Line) }
