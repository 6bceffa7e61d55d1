package estimate

import (
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/words"
)

// Group is what some steps of a plan come to.
type Group struct {
	Name string `json:"name"` // train.dsi, table; by table the table's address, "" for what none needs

	Run    int     `json:"run"`    // from the beginning
	Resume int     `json:"resume"` // from a checkpoint
	Maybe  int     `json:"maybe"`
	Hit    int     `json:"hit"`
	Saved  float64 `json:"saved_s"` // what the hits took

	Cost // of the steps that are not hits

	Shared    int     `json:"shared,omitempty"` // of these, those that other tables need too
	SharedP50 float64 `json:"shared_s,omitempty"`
}

func (e *Estimate) count(g *Group, v *plan.Preview, i int) {
	switch it := v.Items[i]; {
	case it.Outcome == plan.Hit:
		g.Hit++
		g.Saved += it.Took.Seconds()
		return
	case it.Outcome == plan.Maybe:
		g.Maybe++
	case e.Each[i].Resumes:
		g.Resume++
	default:
		g.Run++
	}
	g.Add(e.Each[i].Cost(v.Plan.Steps[i].Queue))
}

// Blocks groups a plan by its blocks, in order, then all tables as one, and all figures. of is the group of each step.
func (e *Estimate) Blocks(v *plan.Preview) (groups []Group, of []int) {
	at := map[string]int{}
	of = make([]int, len(v.Items))
	for _, rendered := range []bool{false, true} {
		for i, s := range v.Plan.Steps {
			if s.IsRendered() != rendered {
				continue
			}
			name := blockName(s.Address)
			n, ok := at[name]
			if !ok {
				n = len(groups)
				at[name] = n
				groups = append(groups, Group{Name: name})
			}
			e.count(&groups[n], v, i)
			of[i] = n
		}
	}
	return groups, of
}

func blockName(of string) string {
	a := address.Of(of)
	name, ok := strings.CutPrefix(a.Name, "step.")
	if !ok {
		name = a.Type()
	}
	return address.Address{Modules: a.Modules, Name: name}.String()
}

// Tables groups a plan by tables and figures, each with all steps that it needs; a last group has the steps that none needs.
func (e *Estimate) Tables(v *plan.Preview) []Group {
	ends := v.Plan.Rendered()
	users := make([]int, len(v.Items)) // tables that need the step
	for _, i := range v.Plan.Leading(ends) {
		users[i]++
	}
	groups := make([]Group, len(ends), len(ends)+1)
	for n, i := range v.Plan.Leading(ends) {
		g := &groups[n]
		e.count(g, v, i)
		if users[i] > 1 && v.Items[i].Outcome != plan.Hit {
			g.Shared++
			g.SharedP50 += e.Each[i].P50.Seconds()
		}
	}
	for n, i := range ends {
		groups[n].Name = v.Plan.Steps[i].Address
	}
	var rest Group
	for i, n := range users {
		if n == 0 {
			e.count(&rest, v, i)
		}
	}
	if rest.Steps+rest.Hit > 0 {
		groups = append(groups, rest)
	}
	return groups
}

// UsualLimits are those of a run that nobody has set others for.
const UsualLimits = "4h,20GB"

// unknownSteps is how many steps without history, after downloads of unknown size, exceed any limit.
const unknownSteps = 20

// Limits are what a run may take before somebody is asked.
type Limits struct {
	Work     time.Duration
	Download int64
}

// ParseLimits reads a time, a size, or both, and takes the usual limit for the other; nil: "never" or "0".
func ParseLimits(text string) (*Limits, error) {
	text = strings.TrimSpace(text)
	if text == "never" || text == "0" {
		return nil, nil
	}
	var l Limits
	for part := range strings.SplitSeq(UsualLimits+","+text, ",") {
		part = strings.TrimSpace(part)
		if d, err := time.ParseDuration(part); err == nil && d > 0 {
			l.Work = d
		} else if n, err := humanize.ParseBytes(part); err == nil && n > 0 && n <= 1<<62 {
			l.Download = int64(n)
		} else {
			return nil, fmt.Errorf("%s: want a time such as 4h, a size such as 20GB, both with a comma between them, or never", text)
		}
	}
	return &l, nil
}

// Exceeded reports whether a run takes more, as far as that is known.
func (l *Limits) Exceeded(e *Estimate) bool {
	return e.P50 > l.Work.Seconds() || e.Download > l.Download || e.Unfetched > 0 && e.Obscure()
}

// Obscure reports whether many steps have no history.
func (e *Estimate) Obscure() bool { return e.Unknown > unknownSteps }

// A request of memory is far off if steps took more, or less than a fourth of a request that counts.
const (
	farBelow = 4
	counts   = 100 << 20
)

// FarOff says, by place, which requests of memory are far from what such steps, or their blocks, took.
func (e *Estimate) FarOff(v *plan.Preview) map[int]string {
	found := map[int]string{}
	for i, s := range v.Plan.Steps {
		if s.Resources == nil || s.Resources.Memory == 0 {
			continue
		}
		asked, peak := s.Resources.Memory, v.Items[i].Memory
		if b := e.At(i).MemoryBasis; v.Items[i].Outcome != plan.Hit && (b == Itself || b == Block) {
			peak = e.Each[i].Memory
		}
		if peak > asked || peak > 0 && asked >= counts && peak < asked/farBelow {
			found[i] = fmt.Sprintf("asks for %s and took %s at most (%s)", words.Size(asked), words.Size(peak), s.Resources.At)
		}
	}
	return found
}
