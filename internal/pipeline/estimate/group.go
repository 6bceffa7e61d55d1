package estimate

import (
	"strings"

	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/plan"
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

	Shared    int     `json:"shared,omitempty"` // of these, steps that other tables need too
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
			a := address.Of(s.Address)
			name, isStep := strings.CutPrefix(a.Name, "step.")
			if !isStep {
				name = a.Type()
			}
			name = address.Address{Modules: a.Modules, Name: name}.String()
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
