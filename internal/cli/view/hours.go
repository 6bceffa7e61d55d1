package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/dustin/go-humanize"

	"github.com/redsi/redsi/internal/host/roofline"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/hours"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/escape"
	"github.com/redsi/redsi/internal/system/words"
)

// Hours prints the hours of a plan's steps on cards: by block and by table, in total, what does
// not fit, and the assumptions.
func Hours(w io.Writer, v *plan.Preview, st Style, h *hours.Hours) {
	Printf(w, "card      %s: %.3g TFLOP/s in half precision, %.3g in float32, %.3g TB/s (data sheet)\n", h.Card.Title, h.Card.Half/1e12, h.Card.Float/1e12, h.Card.Bandwidth/1e12)
	if h.Unsupported != "" {
		Printf(w, "%s  %s: these hours are for comparison only\n", st.Outcome("failed", "NOTE"), h.Unsupported)
	}
	if h.GPUSteps == 0 {
		Printf(w, "hours     none: no step on queue gpu is left to run\n")
		return
	}
	blocks, of := h.Blocks(v)
	hoursLines(w, st, "by block, steps on cards", blocks, onCards(v, len(blocks), of))
	tables := h.Tables(v)
	hoursLines(w, st, "by table, with all that it needs", tables, nil)

	known := h.GPUSteps - h.GPUUnknown
	Printf(w, "hours     %s on one card for %d of %s: %s\n", inHours(h.GPUP50), known, Count(h.GPUSteps, "step"), bases(h))
	if h.GPUUnknown > 0 {
		order, n := reasonsWhy(h)
		for _, why := range order {
			Printf(w, "unknown   %s: %s\n", Count(n[why], "step"), why)
		}
	}
	if known == 0 {
		return
	}
	if h.Cards > 1 {
		Printf(w, "wall      about %s with %s; the longest chain takes %s\n", inHours(h.Wall), Count(h.Cards, "card"), inHours(h.Critical))
	} else {
		Printf(w, "wall      about %s with one card; the longest chain takes %s\n", inHours(h.Wall), inHours(h.Critical))
	}
	Printf(w, "cost      $%s for these hours at $%.2f, $%s if %s rented all the time\n", humanize.Comma(int64(h.Cost()+0.5)), h.Price, humanize.Comma(int64(h.Rent()+0.5)), words.Of(h.Cards, "it is", "all are"))
	if len(h.Spent) > 0 {
		Printf(w, "spent     %s, of the computed hours\n", spent(h.Spent))
	}
	if rest := h.Steps - h.GPUSteps; rest > 0 {
		Printf(w, "others    %s for %d of %s that need no card, by history\n", Seconds(h.WorkP50-h.GPUP50), rest-(h.Unknown-h.GPUUnknown), Count(rest, "step"))
	}
	for _, f := range words.First(tooLarge(v, h), hoursShown, func(n int) { Printf(w, "memory    and %d more that do not fit: --json lists all\n", n) }) {
		Printf(w, "%s  %s needs %s at its peak, the card has %s: %s\n", st.Outcome("failed", "LARGE"), f.address, Size(f.Needs), Size(f.Room), change(f.Fit.Fit))
	}
	for _, text := range h.Assumed {
		Printf(w, "assumed   %s\n", text)
	}
	if known > 0 && h.Price == h.Card.Price {
		Printf(w, "assumed   $%.2f per card and hour, a typical rental price (%s); --price changes it\n", h.Price, roofline.PriceDate)
	}
}

// hoursShown is how many steps that do not fit are printed.
const hoursShown = 5

// hoursLines prints the groups that have steps on cards.
func hoursLines(w io.Writer, st Style, title string, groups []estimate.Group, steps []int) {
	width := 0
	for n, g := range groups {
		if g.GPU > 0 || steps != nil && steps[n] > 0 {
			width = max(width, ansi.StringWidth(escape.Line(groupName(g))))
		}
	}
	if width == 0 {
		return
	}
	Printf(w, "%s\n", st.Dim(title))
	for n, g := range groups {
		if g.GPU == 0 && (steps == nil || steps[n] == 0) {
			continue
		}
		note := Count(g.Todo(), "step")
		switch {
		case steps != nil && g.GPU == 0:
			note = Count(steps[n], "step") + ", not known"
		case steps != nil:
			note = Count(steps[n], "step")
		case g.Shared > 0:
			note += fmt.Sprintf(", %d shared with others", g.Shared)
		}
		Printf(w, "  %s  %10s  %s\n", pad(groupName(g), width), inHours(g.GPU), st.Dim(note))
	}
}

func groupName(g estimate.Group) string { return cmp.Or(g.Name, "no table or figure") }

// onCards counts the steps of each group that are on cards and not hits.
func onCards(v *plan.Preview, groups int, of []int) []int {
	out := make([]int, groups)
	for i, s := range v.Plan.Steps {
		if s.Queue == "gpu" && v.Items[i].Outcome != plan.Hit {
			out[of[i]]++
		}
	}
	return out
}

// inHours is a time in hours, with tenths below a hundred; less than one hour is shown like
// other times.
func inHours(d time.Duration) string {
	switch h := d.Hours(); {
	case h < 1:
		return Seconds(d)
	case h < 100:
		return fmt.Sprintf("%.1f h", h)
	default:
		return humanize.Comma(int64(h+0.5)) + " h"
	}
}

// bases says for how many steps hours were measured, scaled or computed.
func bases(h *hours.Hours) string {
	out := words.Counts([]words.Number{{N: h.ByBasis[estimate.Itself], Of: "measured on such a card"}, {N: h.ByBasis[estimate.Scaled], Of: "computed, scaled by results on such a card"}, {N: h.ByBasis[estimate.Computed], Of: "computed, not measured"}}...)
	if len(out) == 0 {
		return "none known"
	}
	return strings.Join(out, "; ")
}

// spent says what computed hours are spent on, without parts below one percent.
func spent(all []hours.Spent) string {
	sum, out := 0.0, []string{}
	for _, x := range all {
		sum += x.Took.Hours()
	}
	for _, x := range all {
		if part := 100 * x.Took.Hours() / sum; part >= 1 {
			out = append(out, fmt.Sprintf("%s %.0f %%", x.On, part))
		}
	}
	return strings.Join(out, ", ")
}

// reasonsWhy counts why hours are unknown, in the order of steps.
func reasonsWhy(h *hours.Hours) (order []string, n map[string]int) {
	n = map[string]int{}
	for i := range h.Each {
		if why, ok := h.Why[i]; ok {
			if n[why]++; n[why] == 1 {
				order = append(order, why)
			}
		}
	}
	return order, n
}

// large is a step that does not fit.
type large struct {
	address string
	hours.Fit
}

// tooLarge are the steps that do not fit, largest first, those of a block with the same need
// once.
func tooLarge(v *plan.Preview, h *hours.Hours) (out []large) {
	seen := map[string]bool{}
	for _, f := range h.TooLarge {
		s := v.Plan.Steps[f.Step]
		if key := fmt.Sprint(pipeline.BlockOf(s.Address), f.Needs); !seen[key] {
			seen[key] = true
			out = append(out, large{s.Address, f})
		}
	}
	slices.SortStableFunc(out, func(a, b large) int { return int(min(1, max(-1, b.Needs-a.Needs))) })
	return out
}

// change is what to do about a training that does not fit.
func change(f roofline.Fit) string {
	if len(f.Change) == 0 {
		return "use a card with more memory, or a smaller model"
	}
	return "use " + strings.Join(f.Change, ", or ")
}

// HoursJSON is what --hours adds to a plan in JSON.
type HoursJSON struct {
	Card     roofline.Card `json:"card"`
	Cards    int           `json:"cards"`
	Price    float64       `json:"price"`                 // dollars per card and hour
	Why      string        `json:"unsupported,omitempty"` // libtorch does not support such a card
	Steps    int           `json:"steps"`                 // on cards, not hits
	Unknown  int           `json:"unknown"`
	Measured int           `json:"measured"`
	Scaled   int           `json:"scaled"`
	Computed int           `json:"computed"`

	Hours    float64 `json:"hours"` // of one card
	Wall     float64 `json:"wall_hours"`
	Critical float64 `json:"critical_path_hours"`
	Cost     float64 `json:"cost"`
	Rent     float64 `json:"rent"` // if all cards are rented until the end

	Spent []HoursSpent `json:"spent"` // computed hours, largest first

	Each     []HoursStep  `json:"each"`
	Blocks   []HoursGroup `json:"blocks"`
	Tables   []HoursGroup `json:"tables"`
	TooLarge []LargeJSON  `json:"too_large"`

	Assumptions roofline.Assumptions `json:"assumptions"`
	Assumed     []string             `json:"assumed"`
}

// HoursSpent is a part of computed hours: a type of operation, gaps between them, waiting for
// the host, or loading models.
type HoursSpent struct {
	On    string  `json:"on"`
	Hours float64 `json:"hours"`
}

// HoursStep is a step on cards.
type HoursStep struct {
	Address string         `json:"address"`
	Hours   *float64       `json:"hours,omitempty"`
	Basis   estimate.Basis `json:"basis,omitempty"` // step (measured), scaled or computed
	Why     string         `json:"why,omitempty"`   // if unknown
}

// HoursGroup is a block, or a table with what it needs.
type HoursGroup struct {
	Name  string  `json:"name"`
	Hours float64 `json:"hours"`
	Cost  float64 `json:"cost"`
}

// LargeJSON is a step that does not fit the card.
type LargeJSON struct {
	Address string `json:"address"`
	roofline.Fit
}

func hoursJSON(v *plan.Preview, h *hours.Hours) *HoursJSON {
	out := &HoursJSON{Card: h.Card, Cards: h.Cards, Price: h.Price, Why: h.Unsupported, Steps: h.GPUSteps, Unknown: h.GPUUnknown,
		Measured: h.ByBasis[estimate.Itself], Scaled: h.ByBasis[estimate.Scaled], Computed: h.ByBasis[estimate.Computed],
		Hours: h.GPUHours(), Wall: h.Wall.Hours(), Critical: h.Critical.Hours(), Cost: h.Cost(), Rent: h.Rent(),
		Spent: []HoursSpent{}, Each: []HoursStep{}, Blocks: []HoursGroup{}, Tables: []HoursGroup{}, TooLarge: []LargeJSON{},
		Assumptions: roofline.Assumed(), Assumed: slices.Concat([]string{}, h.Assumed)}
	for i, s := range v.Plan.Steps {
		if s.Queue != "gpu" || v.Items[i].Outcome == plan.Hit {
			continue
		}
		x := HoursStep{Address: s.Address, Basis: h.Each[i].Basis, Why: h.Why[i]}
		if x.Basis != estimate.Nothing {
			took := h.Each[i].P50.Hours()
			x.Hours = &took
		}
		out.Each = append(out.Each, x)
	}
	for _, x := range h.Spent {
		out.Spent = append(out.Spent, HoursSpent{x.On, x.Took.Hours()})
	}
	group := func(all []estimate.Group) []HoursGroup {
		groups := []HoursGroup{}
		for _, g := range all {
			if g.GPU > 0 {
				groups = append(groups, HoursGroup{g.Name, g.GPU.Hours(), g.GPU.Hours() * h.Price})
			}
		}
		return groups
	}
	blocks, _ := h.Blocks(v)
	out.Blocks, out.Tables = group(blocks), group(h.Tables(v))
	for _, f := range h.TooLarge {
		out.TooLarge = append(out.TooLarge, LargeJSON{v.Plan.Steps[f.Step].Address, f.Fit})
	}
	return out
}
