package drive

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/pilots"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/worker"
)

func (o *Cluster) own() worker.Options {
	return worker.Options{CPU: o.Slots, Threads: o.Threads, Cores: o.CPUs, Memory: o.Memory}
}

// Unfit says, by place, why this machine never has enough for a step. With a cluster, or a server for other machines, it says nothing.
func (dr *Driver) Unfit(o Cluster, v *plan.Preview) map[int]string {
	if o.Given() || dr.head(o) {
		return nil
	}
	if i, _ := devserver.Running(dr.serverDir()); i.Listen != "" {
		return nil
	}
	has, found := o.own().Has(), map[int]string{}
	for i, s := range v.Todo() {
		if s.Resources == nil {
			continue
		}
		x := pilots.Of(s, estimate.Step{}, dr.Registry.Lookup(s.Task.Kind))
		if lacks := has.Lacks(x.Asks, "this machine"); lacks != "" {
			found[i] = fmt.Sprintf("%s asks for %s (%s)", x.Address, lacks, x.At)
		}
	}
	return found
}

const unfitTold = 5

func tellUnfit(unfit map[int]string, do string) error {
	var told []string
	for _, i := range words.First(slices.Sorted(maps.Keys(unfit)), unfitTold, func(n int) { told = append(told, fmt.Sprintf("… and %s more", words.Count(n, "step"))) }) {
		told = append(told, unfit[i])
	}
	return fault.Input(fmt.Errorf("%s\n%s", strings.Join(told, "\n"), do))
}
