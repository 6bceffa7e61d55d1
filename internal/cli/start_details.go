package cli

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/workflows"
)

// variablesShown bounds the variables of a run that the UI shows.
const variablesShown = 20

// shownVariables are a pipeline's variables with their values as JSON, sensitive ones
// without.
func shownVariables(p *pipeline.Pipeline) map[string]string {
	shown := make(map[string]string, len(p.Vars)+len(p.Secrets))
	for name, value := range p.Vars {
		shown[name] = string(value)
	}
	for name := range p.Secrets {
		shown[name] = "(sensitive)"
	}
	return shown
}

// runSummary is what lists of workflows show about a run.
func (a *app) runSummary(pl *plan.Plan) string {
	return workflows.Short(cmp.Or(strings.Join(a.Targets, " "), "all steps") + " of " + pl.Pipeline)
}

// runDetails is what the UI shows about a run from its start.
func (a *app) runDetails(pl *plan.Plan, store artifacts.Store, digest artifacts.Digest) string {
	facts := []workflows.Fact{{Name: "targets", Value: cmp.Or(strings.Join(a.Targets, " "), "all")}, {Name: "steps", Value: view.Count(len(pl.Steps), "step")},
		{Name: "revision", Value: revision.Of()}, {Name: "store", Value: store.URL}, {Name: "plan", Value: digest.String()}}
	for i, name := range slices.Sorted(maps.Keys(a.variables)) {
		if i == variablesShown {
			facts = append(facts, workflows.Fact{Name: "var.…", Value: "the plan in the store has the others"})
			break
		}
		facts = append(facts, workflows.Fact{Name: "var." + name, Value: workflows.Short(a.variables[name])})
	}
	return workflows.StartDetails(facts)
}
