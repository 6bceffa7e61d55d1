package cli

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/workflows"
)

// variablesShown bounds the variables of a run that the UI shows.
const variablesShown = 20

// runSummary is what lists of workflows show about a run.
func (a *app) runSummary(pl *plan.Plan) string {
	return workflows.Short(cmp.Or(strings.Join(a.Targets, " "), "all steps") + " of " + pl.Pipeline)
}

// runDetails is what the UI shows about a run from its start.
func (a *app) runDetails(pl *plan.Plan, store artifacts.Store, digest artifacts.Digest) string {
	facts := []workflows.Fact{{Name: "targets", Value: cmp.Or(strings.Join(a.Targets, " "), "all")}, {Name: "steps", Value: view.Count(len(pl.Steps), "step")},
		{Name: "revision", Value: revision.Of()}, {Name: "store", Value: store.URL}, {Name: "plan", Value: digest.String()}}
	for i, name := range slices.Sorted(maps.Keys(a.Variables)) {
		if i == variablesShown {
			facts = append(facts, workflows.Fact{Name: "var.…", Value: "the plan in the store has the others"})
			break
		}
		facts = append(facts, workflows.Fact{Name: "var." + name, Value: workflows.Short(a.Variables[name])})
	}
	return workflows.StartDetails(facts)
}
