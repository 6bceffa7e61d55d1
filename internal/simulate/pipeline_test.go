package simulate

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/step"
)

// A pipelineScript is a pipeline as a value: each of its parts may be taken out, and the rest has the keys and ends that it had.
type pipelineScript struct {
	Seed   draw
	Limit  int // how many steps that are Limited run at a time; 0: there is no such name
	Blocks []block
}

// A block reads blocks before it alone. Without Fixed, Files and Names it is one step.
type block struct {
	Name, Kind   string   // work, short, list, cut, turns
	As           string   // the block whose name, and so whose keys, its steps have: all else is the same
	After        []string // blocks whose outputs it reads
	Fixed        int      // so many keys that are known beforehand
	Files, Names string   // one for each file that the list block made; for each name in its JSON
	Of           string   // of Files or Names: the key of its instance; "": it has none
	Empty        bool     // there may be none
	When         string   // "", "true", "false", or a block whose JSON decides
	OK           bool     // what the JSON of its own result says
	Pieces       int      // what a list makes, or a cut is cut into
	Temporary    bool
	Keeps        int     // the edition from which it is not
	Check        string  // "", holds, fails, warns
	LeaveOut     bool    // what gathers its steps goes on without those that fail
	AtLeast      float64 // if so many have results
	Limited, GPU bool
	CPUs, Memory int           // GB
	Time         time.Duration // the longest that it may take
	Retry        int
	End          string // how its work ends, see ends; of a block with several steps, that of some
	Since, Other int    // the edition that has it first; the edition from which it has another key, 0: none
}

func (b *block) many() bool  { return b.Fixed > 0 || b.grown() }
func (b *block) grown() bool { return b.Files+b.Names != "" }
func (b *block) cut() bool   { return b.Kind == "cut" || b.Kind == "turns" }

// temporary reports whether an edition lets go of a block's bytes.
func (b *block) temporary(edition int) bool {
	return b.Temporary && (b.Keeps == 0 || edition < b.Keeps)
}

// named is the name of one of its steps.
func (b *block) named(key string) string {
	return strings.TrimSuffix(cmp.Or(b.As, b.Name)+"/"+key, "/")
}

// at is the address of a block, of its step of a key, or of all of them: *.
func (b *block) at(key string) string {
	if key != "" {
		key = strings.Replace(fmt.Sprintf("[%q]", key), `"*"`, "*", 1)
	}
	return fmt.Sprintf("step.%s.%s%s", b.Kind, b.Name, key)
}

func (p pipelineScript) block(name string) *block {
	if i := slices.IndexFunc(p.Blocks, func(b block) bool { return b.Name == name }); i >= 0 {
		return &p.Blocks[i]
	}
	return nil
}

// source is the block whose pieces a block is for each of.
func (p pipelineScript) source(b *block) *block { return p.block(b.Files + b.Names) }

var blockOf = regexp.MustCompile(`^(?:step\.\w+\.)?(\w+).*`)

// of is the block of a step by its address or name: step.work.b3["k1"] or b3/k1.
func (p pipelineScript) of(at string) *block { return p.block(blockOf.ReplaceAllString(at, "$1")) }

// ends are how work ends, each name in one of a hundred blocks; most end well. It is done with other bytes at each try (other), takes
// minutes at the first one (slow) or for ever (hangs), is transient at the first ones (flaky) or all, finds that a source has other
// bytes than the plan (changed) or an input is gone from the store (loses), its program fails at all tries (exits) or two, it is permanent
// always or at the first try ever (heals).
var ends = strings.Fields(`other other other other flaky flaky flaky flaky flaky slow slow slow transient transient permanent permanent permanent
	panics hangs changed loses loses exits exits-first exits-first heals heals pins-panic`)

func drawPipeline(d draw) pipelineScript {
	d = d.of("pipeline")
	p := pipelineScript{Seed: d}
	if d.of("limits").chance(0.2) {
		p.Limit = 1 + d.of("limit").n(3)
	}
	n, shape := 3+d.of("blocks").n(4), []string{"chain", "any", "any", "any", "diamond", "wide"}[d.of("shape").n(6)]
	switch size := d.of("size").n(200); {
	case size < 1: // many short ones
		p.Blocks = []block{{Name: "b0", Kind: "short"}, {Name: "b1", Kind: []string{"short", "work"}[d.of("kind").n(2)], Fixed: 300, After: []string{"b0"}}}
		n = 2 + d.of("rest").n(3)
	case size < 24:
		n += 5
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
	some := func(name string, chance float64, set func()) {
		if d.of(name).chance(chance) {
			set()
		}
	}
	retry := func() { b.Retry = 2 + d.of("retries").n(2) }
	some("since", 0.08, func() { b.Since = max(1, min(i, 2)) })
	some("changes", 0.2, func() { b.Other = 2 })
	some("keep", 0.15, func() {
		b.Temporary = true
		some("keeps", 0.4, func() { b.Keeps = 2 })
	})
	some("limited", 0.4, func() { b.Limited = p.Limit > 0 })
	some("gpu", 0.3, func() { b.GPU = p.Seed.of("gpu").chance(0.05) })
	some("asks", 0.2, func() { b.CPUs, b.Memory = 1+d.of("cpus").n(2), d.of("memory").n(3) })
	some("timed", 0.05, func() { b.Time = 2 * time.Hour })
	some("retry", 0.05, retry)
	earlier := func(what any, fits func(*block) bool) string {
		var names []string
		for _, e := range p.Blocks {
			if fits(&e) && e.Since <= b.Since {
				names = append(names, e.Name)
			}
		}
		return append(names, "")[d.of(what).n(max(1, len(names)))]
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
	lists := func(e *block) bool { return e.Kind == "list" && e.When == "" && !e.Temporary && e.Fixed == 0 }
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
			if list := p.source(from); list.Pieces == 0 || list.many() {
				b.Files, b.Of = "", "" // there may be no such step, whose name were a mistake
			}
		}
		if b.Files != "" && d.of("names").chance(0.4) {
			b.Files, b.Names = "", b.Files
		}
		b.Empty = b.grown() && d.of("empty").chance(0.9)
	}
	switch when := d.of("when").n(100); {
	case when < 6:
		b.When = fmt.Sprint(when < 3)
	case when < 16:
		b.When = earlier("whose", func(e *block) bool { return !e.many() && e.When == "" && !e.Temporary })
	}
	some("leave-out", 0.4, func() {
		b.LeaveOut, b.AtLeast = b.many(), []float64{1, 1, 2, 0.5, 0.95}[d.of("at-least").n(5)]
	})
	parts := 1 + d.of("parts").n(6)
	b.Pieces = map[string]int{"list": d.of("pieces").n(5), "cut": parts, "turns": parts}[b.Kind]
	b.Check = map[int]string{0: "holds", 1: "holds", 2: "warns", 3: "fails"}[d.of("check").n(40)]
	if end := d.of("end").n(100); end < len(ends) {
		b.End = ends[end]
	}
	switch b.End {
	case "hangs":
		b.Time = d.of("time").span(time.Minute, 2*time.Minute)
	case "exits-first":
		retry()
	}
	return b
}

// checks are the arguments of the check blocks.
var checks = map[string][]any{"holds": {1, "error"}, "fails": {1000, "error"}, "warns": {1000, "warning"}}

// hcl is the source of an edition, from 1 on.
func (p pipelineScript) hcl(edition int) string {
	var s strings.Builder
	line := func(is bool, format string, args ...any) {
		if is {
			fmt.Fprintf(&s, "  "+format+"\n", args...)
		}
	}
	said := func(from *block, key, path string) string { // the JSON of one of its steps
		return fmt.Sprintf("json(%s.out, %q)", from.at(key), map[bool]string{true: "said.json:"}[from.Kind == "list"]+path)
	}
	if p.Limit > 0 {
		fmt.Fprintf(&s, "limits {\n  few = %d\n}\n", p.Limit)
	}
	for _, b := range p.Blocks {
		if b.Since > edition {
			continue
		}
		when, after := b.When, []string{}
		if decides := p.block(b.When); decides != nil {
			when = said(decides, "", "ok")
		}
		if b.Files != "" {
			after = append(after, "[each.file]")
		}
		for _, name := range b.After {
			from := p.block(name)
			all := "[" + from.at("") + ".out]"
			if from.many() {
				all = from.at("*") + ".out"
			} else if from.When != "" {
				all = "try(" + all + ", [])"
			}
			after = append(after, all)
		}
		fmt.Fprintf(&s, "step %q %q {\n", b.Kind, b.Name)
		line(b.Fixed > 0, `for_each = toset(["%s"])`, strings.Join(keysOf(b.Fixed), `", "`))
		if from := p.source(&b); from != nil {
			line(b.Files != "", `for_each = files(%s.out, "p/*")`, from.at(b.Of))
			line(b.Names != "", "for_each = toset(%s)", said(from, b.Of, "names"))
		}
		line(b.grown() && b.Empty, "allow_empty = true")
		line(when != "", "when = %s", when)
		line(b.LeaveOut && b.many(), "on_failure = \"leave_out\"\n  at_least = %v", b.AtLeast)
		line(b.temporary(edition), "keep = false")
		line(b.Temporary, "size = 5000") // smaller blobs are not let go
		line(true, `name = "%s"`, b.named(map[bool]string{true: "${each.key}"}[b.many()]))
		line(b.Other > 0 && edition >= b.Other, "edition = %d", b.Other)
		line(len(after) > 0, "after = concat(%s)", strings.Join(after, ", "))
		line(b.Pieces > 0, "pieces = %d", b.Pieces)
		line(true, "ok = %v", b.OK)
		line(b.Check != "", "check \"enough\" {\n    counts   = \"made\"\n    min      = %d\n    severity = %q\n  }", checks[b.Check]...)
		limited := b.Limited && p.Limit > 0
		asks := b.CPUs+b.Memory+int(b.Time) > 0 || limited || b.GPU
		line(asks, "resources {")
		line(b.CPUs > 0, "  cpus = %d", b.CPUs)
		line(b.Memory > 0, "  memory = \"%dGB\"", b.Memory)
		line(b.Time > 0, "  time = %q", b.Time)
		line(limited, `  limits = ["few"]`)
		line(b.GPU, `  queue = "gpu"`)
		line(asks, "}")
		line(b.Retry > 0, "retry {\n    times = %d\n  }", b.Retry)
		s.WriteString("}\n")
	}
	return s.String()
}

func keysOf(n int) (keys []string) {
	for i := range n {
		keys = append(keys, fmt.Sprint("k", i))
	}
	return keys
}

// load is the plan of an edition, as a run begins with it.
func (p pipelineScript) load(edition int, reg *step.Registry) (*plan.Plan, error) {
	loaded, ds := pipeline.Load(map[string][]byte{"t.hcl": []byte(p.hcl(edition))}, pipeline.Options{Registry: reg})
	if err := ds.Err(); err != nil {
		return nil, err
	}
	return plan.Build("t.hcl", loaded, reg, nil)
}

// smaller are pipelines with one thing less, the largest things first.
func (p pipelineScript) smaller() (all []pipelineScript) {
	for i := len(p.Blocks) - 1; i >= 0 && len(p.Blocks) > 1; i-- {
		all = append(all, p.without(p.Blocks[i].Name))
	}
	plainer := strings.Fields("Fixed When LeaveOut End Check Temporary Keeps Limited GPU CPUs Memory Time Retry Other As")
	named := slices.ContainsFunc(p.Blocks, func(b block) bool { return b.Of != "" }) // by a piece of a list
	for i, b := range p.Blocks {
		least := map[bool]int{true: 1}[named || b.cut()]
		changes := []func(b *block){
			func(b *block) { b.Fixed -= b.Fixed / 2 },
			func(b *block) { b.Pieces = max(b.Pieces-1, min(b.Pieces, least)) },
			func(b *block) { b.Since = 1 },
			func(b *block) { b.Kind = map[bool]string{true: "work", false: b.Kind}[b.cut()] },
		}
		for n := range b.After {
			changes = append(changes, func(b *block) { b.After = slices.Delete(slices.Clone(b.After), n, n+1) })
		}
		for _, plain := range plainer {
			changes = append(changes, func(b *block) { reflect.ValueOf(b).Elem().FieldByName(plain).SetZero() })
		}
		for _, change := range changes {
			q := p
			q.Blocks = slices.Clone(p.Blocks)
			if change(&q.Blocks[i]); !reflect.DeepEqual(q.Blocks[i], b) {
				all = append(all, q)
			}
		}
	}
	if p.Limit > 0 {
		p.Limit = 0
		all = append(all, p)
	}
	return all
}

// without has a block less, and what depends on it depends on one thing less.
func (p pipelineScript) without(name string) pipelineScript {
	p.Blocks = slices.DeleteFunc(slices.Clone(p.Blocks), func(b block) bool { return b.Name == name })
	for i := range p.Blocks {
		b := &p.Blocks[i]
		b.After = slices.DeleteFunc(slices.Clone(b.After), func(a string) bool { return a == name })
		for _, on := range []*string{&b.Files, &b.Names, &b.When, &b.As} {
			if *on == name {
				*on = ""
			}
		}
		b.Empty = b.Empty && b.grown()
		if from := p.source(b); from == nil || !from.grown() { // which is the only one of its block, now
			b.Of = ""
		}
	}
	return p
}

// TestPipelines: what is drawn loads in each edition, and so does what is smaller.
func TestPipelines(t *testing.T) {
	reg, steps, grown := kinds(nil), 0, 0
	for seed := range draw(500) {
		p := drawPipeline(seed)
		all := append(p.smaller(), p)
		for e, q := range []pipelineScript{p, p, all[seed.of("smaller").n(len(all))]} {
			pl, err := q.load(min(e+1, 2), reg)
			if err != nil || !reflect.DeepEqual(p, drawPipeline(seed)) {
				t.Fatalf("seed %d draws two pipelines, or does not load: %v\n%s", seed, err, q.hcl(2))
			}
			steps += len(pl.Steps)
			if pl.Pending() {
				grown++
			}
		}
	}
	t.Logf("%d steps, %d of 1500 plans grow", steps, grown)
}
