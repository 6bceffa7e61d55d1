package simulate

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/step"
)

// pipelineScript is a pipeline as a value: each of its parts may be taken out, and the rest has
// the keys and ends that it had.
type pipelineScript struct {
	Seed   draw
	Limit  int // how many steps that are Limited run at a time; 0: there is no such name
	Blocks []block
}

// A block reads blocks before it alone.
type block struct {
	Name, Kind string   // work, short, list, cut, turns
	As         string   // the block whose name, and so whose keys, its steps have: all else is the same
	After      []string // blocks whose outputs it reads

	// Which steps it is: without any of these, one.
	Fixed int    // so many keys that are known beforehand
	Files string // one for each file that the list block made
	Names string // one for each name in its JSON
	Of    string // of Files or Names: the key of its instance; "": it has none
	Empty bool   // there may be none

	When string // "", "true", "false", or a block whose JSON decides
	OK   bool   // what the JSON of its own result says

	Pieces    int // what a list makes, or a cut is cut into
	Temporary bool
	Keeps     int    // the edition from which it is not
	Check     string // "", holds, fails, warns
	Limited   bool
	GPU       bool
	CPUs      int
	Memory    int           // GB
	Time      time.Duration // the longest that it may take
	Retry     int

	End   string // how its work ends, see ends; of a block with several steps, that of some
	Since int    // the edition that has it first
	Other int    // the edition from which it has another key; 0: none
}

func (b *block) many() bool  { return b.Fixed > 0 || b.grown() }
func (b *block) grown() bool { return b.Files+b.Names != "" }
func (b *block) list() bool  { return b.Kind == "list" }
func (b *block) cut() bool   { return b.Kind == "cut" || b.Kind == "turns" }

// json reports whether others may read what its one step says.
func (b *block) json() bool { return !b.many() && b.When == "" && !b.Temporary }

func (p pipelineScript) block(name string) *block {
	i := slices.IndexFunc(p.Blocks, func(b block) bool { return b.Name == name })
	if i < 0 {
		return nil
	}
	return &p.Blocks[i]
}

// of is the block of a step by its address or name: step.work.b3["k1"] or b3/k1.
func (p pipelineScript) of(at string) *block {
	at, _, _ = strings.Cut(at[strings.LastIndex(strings.Split(at, "[")[0], ".")+1:], "[")
	at, _, _ = strings.Cut(strings.ReplaceAll(at, "#", "/"), "/")
	return p.block(at)
}

// temporary reports whether an edition lets go of a block's bytes.
func (b *block) temporary(edition int) bool {
	return b.Temporary && (b.Keeps == 0 || edition < b.Keeps)
}

// named is the name of one of its steps.
func (b *block) named(key string) string {
	name := cmp.Or(b.As, b.Name)
	if key != "" {
		name += "/" + key
	}
	return name
}

// ends are how work ends, and in how many of a hundred blocks: most end well.
var ends = []struct {
	name string
	of   int
}{
	{"other", 4},     // done, with other bytes at each try
	{"flaky", 5},     // transient at the first tries
	{"slow", 3},      // the first try takes minutes
	{"transient", 2}, // at each try
	{"permanent", 3},
	{"panics", 1},
	{"hangs", 1},       // until its time is over
	{"changed", 1},     // a source has other bytes than the plan
	{"loses", 2},       // at the first try an input is gone from the store
	{"exits", 1},       // its program fails at each try
	{"exits-first", 2}, // at the first two
	{"heals", 2},       // permanent at the first try ever
	{"pins-panic", 1},
}

func drawPipeline(d draw) pipelineScript {
	d = d.of("pipeline")
	p := pipelineScript{Seed: d}
	if d.of("limits").chance(0.2) {
		p.Limit = 1 + d.of("limit").n(3)
	}
	n, shape := 3+d.of("blocks").n(6), []string{"chain", "any", "any", "any", "diamond", "wide"}[d.of("shape").n(6)]
	switch size := d.of("size").n(200); {
	case size < 1: // many short ones
		p.Blocks = []block{{Name: "b0", Kind: "short"}, {Name: "b1", Kind: []string{"short", "work"}[d.of("kind").n(2)], Fixed: 300, After: []string{"b0"}}}
		n = 2 + d.of("rest").n(3)
	case size < 24:
		n += 6
	case size < 40:
		n = 1 + d.of("few").n(2)
	}
	for i := len(p.Blocks); i < n; i++ {
		p.Blocks = append(p.Blocks, p.drawBlock(d.of("block", i), i, shape))
	}
	return p
}

func (p *pipelineScript) drawBlock(d draw, i int, shape string) block {
	if i > 1 && d.of("twin").chance(0.04) {
		b := p.Blocks[d.of("whose").n(i-1)]
		b.Name, b.As = fmt.Sprint("b", i), cmp.Or(b.As, b.Name)
		return b
	}
	b := block{Name: fmt.Sprint("b", i), Since: 1, OK: d.of("ok").chance(0.75),
		Kind: []string{"work", "work", "work", "short", "short", "list", "list", "cut", "turns"}[d.of("kind").n(9)]}
	earlier := func(what any, fits func(*block) bool) string {
		var names []string
		for _, e := range p.Blocks {
			if fits(&e) && e.Since <= b.Since {
				names = append(names, e.Name)
			}
		}
		return append(names, "")[d.of(what).n(max(1, len(names)))]
	}
	if i > 1 && d.of("since").chance(0.08) {
		b.Since = 2
	}
	if d.of("changes").chance(0.2) {
		b.Other = 2
	}
	for r := range map[string]int{"chain": 1, "diamond": 2, "wide": 1, "any": d.of("reads").n(4)}[shape] {
		of := map[string]string{"chain": fmt.Sprint("b", i-1), "wide": "b0"}[shape]
		name := earlier(r, func(e *block) bool { return e.Name == of })
		if name == "" || i%5 == 0 {
			name = earlier(r, func(*block) bool { return true })
		}
		if name != "" && !slices.Contains(b.After, name) {
			b.After = append(b.After, name)
		}
	}
	lists := func(e *block) bool { return e.list() && e.When == "" && !e.Temporary && e.Fixed == 0 }
	switch each := d.of("each").n(100); {
	case each < 25:
		b.Fixed = 2 + d.of("fixed").n(4)
	case each < 60:
		b.Files = earlier("files", lists)
		if again := earlier("again", func(e *block) bool { return lists(e) && e.grown() }); again != "" && d.of("rounds").chance(0.5) {
			b.Files = again
		}
		if from := p.block(b.Files); from != nil && from.grown() {
			b.Of = "k0"
			if list := p.block(from.Files + from.Names); list.Pieces == 0 || list.many() {
				b.Files, b.Of = "", "" // there may be no such step, whose name were a mistake
			}
		}
		if b.Files != "" && d.of("names").chance(0.4) {
			b.Files, b.Names = "", b.Files
		}
		b.Empty = b.grown() && d.of("empty").chance(0.9)
	}
	switch when := d.of("when").n(100); {
	case when < 3:
		b.When = "true"
	case when < 6:
		b.When = "false"
	case when < 16:
		b.When = earlier("whose", (*block).json)
	}
	if b.list() {
		b.Pieces = d.of("pieces").n(5)
	} else if b.cut() {
		b.Pieces = 1 + d.of("parts").n(6)
	}
	if b.Temporary = d.of("keep").chance(0.15); b.Temporary && d.of("keeps").chance(0.4) {
		b.Keeps = 2
	}
	b.Check = map[int]string{0: "holds", 1: "holds", 2: "warns", 3: "fails"}[d.of("check").n(40)]
	b.Limited = p.Limit > 0 && d.of("limited").chance(0.4)
	b.GPU = p.Seed.of("gpu").chance(0.05) && d.of("gpu").chance(0.3)
	if d.of("asks").chance(0.2) {
		b.CPUs, b.Memory = 1+d.of("cpus").n(2), d.of("memory").n(3)
	}
	at := d.of("end").n(100)
	for _, e := range ends {
		if at -= e.of; at < 0 {
			b.End = e.name
			break
		}
	}
	if b.End == "hangs" {
		b.Time = d.of("time").span(time.Minute, 2*time.Minute)
	} else if d.of("timed").chance(0.05) {
		b.Time = 2 * time.Hour
	}
	if b.End == "exits-first" || d.of("retry").chance(0.05) {
		b.Retry = 2 + d.of("retries").n(2)
	}
	return b
}

// at is the address of a block, or of its step of a key.
func (b *block) at(key string) string {
	if key != "" {
		key = fmt.Sprintf("[%q]", key)
	}
	return fmt.Sprintf("step.%s.%s%s", b.Kind, b.Name, key)
}

// all is a list of a block's outputs, of those of its steps that there are.
func (b *block) all() string {
	switch {
	case b.many():
		return b.at("") + "[*].out"
	case b.When != "":
		return "try([" + b.at("") + ".out], [])"
	}
	return "[" + b.at("") + ".out]"
}

// said is the JSON of one of a block's steps, by a path.
func (b *block) said(key, path string) string {
	if b.list() {
		path = "said.json:" + path
	}
	return fmt.Sprintf("json(%s.out, %q)", b.at(key), path)
}

// hcl is the source of an edition, from 1 on.
func (p pipelineScript) hcl(edition int) string {
	var s strings.Builder
	if p.Limit > 0 {
		fmt.Fprintf(&s, "limits {\n  few = %d\n}\n", p.Limit)
	}
	for _, b := range p.Blocks {
		if b.Since <= edition {
			p.write(&s, &b, edition)
		}
	}
	return s.String()
}

func (p pipelineScript) write(s *strings.Builder, b *block, edition int) {
	line := func(is bool, format string, args ...any) {
		if is {
			fmt.Fprintf(s, "  "+format+"\n", args...)
		}
	}
	fmt.Fprintf(s, "step %q %q {\n", b.Kind, b.Name)
	key, after := "", []string{}
	if b.many() {
		key = "${each.key}"
	}
	line(b.Fixed > 0, `for_each = toset(["%s"])`, strings.Join(keysOf(b.Fixed), `", "`))
	if from := p.block(b.Files + b.Names); from != nil {
		line(b.Files != "", `for_each = files(%s.out, "p/*")`, from.at(b.Of))
		line(b.Names != "", "for_each = toset(%s)", from.said(b.Of, "names"))
	}
	if b.Files != "" {
		after = append(after, "[each.file]")
	}
	line(b.grown() && b.Empty, "allow_empty = true")
	when := b.When
	if decides := p.block(b.When); decides != nil {
		when = decides.said("", "ok")
	}
	line(when != "", "when = %s", when)
	line(b.temporary(edition), "keep = false")
	line(b.Temporary, "size = 5000") // smaller blobs are not let go
	line(true, `name = "%s"`, b.named(key))
	line(b.Other > 0 && edition >= b.Other, "edition = %d", b.Other)
	for _, a := range b.After {
		after = append(after, p.block(a).all())
	}
	line(len(after) > 0, "after = concat(%s)", strings.Join(after, ", "))
	line(b.Pieces > 0, "pieces = %d", b.Pieces)
	line(true, "ok = %v", b.OK)
	severity, least := "error", 1000
	if b.Check == "holds" {
		least = 1
	} else if b.Check == "warns" {
		severity = "warning"
	}
	line(b.Check != "", "check \"enough\" {\n    counts   = \"made\"\n    min      = %d\n    severity = %q\n  }", least, severity)
	limited := b.Limited && p.Limit > 0
	if b.CPUs+b.Memory+int(b.Time) > 0 || limited || b.GPU {
		line(true, "resources {")
		line(b.CPUs > 0, "  cpus = %d", b.CPUs)
		line(b.Memory > 0, "  memory = \"%dGB\"", b.Memory)
		line(b.Time > 0, "  time = %q", b.Time)
		line(limited, `  limits = ["few"]`)
		line(b.GPU, `  queue = "gpu"`)
		line(true, "}")
	}
	line(b.Retry > 0, "retry {\n    times = %d\n  }", b.Retry)
	s.WriteString("}\n")
}

func keyOf(i int) string { return fmt.Sprint("k", i) }

// load is the plan of an edition, as a run begins with it.
func (p pipelineScript) load(edition int, reg *step.Registry) (*plan.Plan, error) {
	src := map[string][]byte{"t.hcl": []byte(p.hcl(edition))}
	loaded, ds := pipeline.Load(src, pipeline.Options{Registry: reg})
	if ds.HasErrors() {
		var text strings.Builder
		_ = ds.Write(&text, pipeline.Style{Width: 100})
		return nil, errors.New(text.String())
	}
	return plan.Build("t.hcl", loaded, reg, nil)
}

// smaller are pipelines with one thing less, the largest things first.
func (p pipelineScript) smaller() (all []pipelineScript) {
	for i := len(p.Blocks) - 1; i >= 0; i-- {
		all = append(all, p.without(p.Blocks[i].Name))
	}
	change := func(i int, less func(b *block)) {
		q := p
		q.Blocks = slices.Clone(p.Blocks)
		if less(&q.Blocks[i]); fmt.Sprint(q.Blocks[i]) != fmt.Sprint(p.Blocks[i]) {
			all = append(all, q)
		}
	}
	for i, b := range p.Blocks {
		if b.Fixed > 8 {
			change(i, func(b *block) { b.Fixed /= 2 })
		}
		if b.Pieces > 1 || b.Pieces == 1 && b.list() && !p.instanceOf(b.Name) {
			change(i, func(b *block) { b.Pieces-- })
		}
		for n := range b.After {
			change(i, func(b *block) { b.After = slices.Delete(slices.Clone(b.After), n, n+1) })
		}
		for _, plain := range []string{"Fixed", "When", "End", "Check", "Temporary", "Keeps", "Limited", "GPU", "CPUs", "Memory", "Time", "Retry", "Other", "As"} {
			change(i, func(b *block) { reflect.ValueOf(b).Elem().FieldByName(plain).SetZero() })
		}
		change(i, func(b *block) { b.Since = 1 })
		if b.cut() {
			change(i, func(b *block) { b.Kind, b.Pieces = "work", 0 })
		}
	}
	if q := p; p.Limit > 0 {
		q.Limit = 0
		all = append(all, q)
	}
	return slices.DeleteFunc(all, func(q pipelineScript) bool { return len(q.Blocks) == 0 })
}

// instanceOf reports whether a block is for each of what a step makes whose name hangs on this block.
func (p pipelineScript) instanceOf(name string) bool {
	return slices.ContainsFunc(p.Blocks, func(b block) bool {
		from := p.block(b.Files + b.Names)
		return b.Of != "" && from.Files+from.Names == name
	})
}

// without has a block less, and what depends on it depends on one thing less.
func (p pipelineScript) without(name string) pipelineScript {
	q := p
	q.Blocks = nil
	for _, b := range p.Blocks {
		if b.Name == name {
			continue
		}
		if b.Files+b.Names == name {
			b.Files, b.Names, b.Of, b.Empty = "", "", "", false
		} else if from := p.block(b.Files + b.Names); b.Of != "" && from.Files+from.Names == name {
			b.Of = "" // that step is the only one of its block now
		}
		if b.When == name {
			b.When = ""
		}
		if b.As == name {
			b.As = ""
		}
		b.After = slices.DeleteFunc(slices.Clone(b.After), func(a string) bool { return a == name })
		q.Blocks = append(q.Blocks, b)
	}
	return q
}

// TestPipelines: what is drawn loads in each edition, and so does what is smaller.
func TestPipelines(t *testing.T) {
	reg, steps, grown := kinds(nil), 0, 0
	for seed := range draw(500) {
		p := drawPipeline(seed)
		if again := drawPipeline(seed); fmt.Sprint(again) != fmt.Sprint(p) {
			t.Fatalf("seed %d draws two pipelines", seed)
		}
		for edition := 1; edition <= 2; edition++ {
			pl, err := p.load(edition, reg)
			if err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, p.hcl(edition))
			}
			steps += len(pl.Steps)
			if pl.Pending() {
				grown++
			}
		}
		if all := p.smaller(); seed%10 == 0 && len(all) > 0 {
			q := all[seed.of("smaller").n(len(all))]
			if _, err := q.load(2, reg); err != nil {
				t.Fatalf("seed %d, smaller: %v\n%s", seed, err, q.hcl(2))
			}
		}
	}
	t.Logf("%d steps, %d of 1000 editions grow", steps, grown)
}
