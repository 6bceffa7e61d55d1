// Package drive owns what drives runs: it connects to Temporal or starts it, runs steps in this process, starts, follows and
// finds runs, and reads their results. It must not know flags, or how any of it is shown on a terminal.
package drive

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/redsi/redsi/internal/host/compute"
	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/host/scratch"
	"github.com/redsi/redsi/internal/host/telemetry"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/pilots"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

// Driver drives runs for a session: it connects to Temporal, runs steps here, and finds out how runs are.
type Driver struct {
	*session.Session
	MetricsAddress string
	// Show begins to show a run that is followed, until over.
	Show func() (s Screen, over func())

	Delays    Delays
	telemetry *telemetry.Telemetry   // once something is shown
	Scratch   *scratch.Area          // once steps may run here
	second    *compute.Pool          // likewise
	meter     *usage.Meter           // likewise
	watching  sync.Mutex             // of watched
	watched   map[string]*watchedRun // by workflow
}

func (dr *Driver) Close() {
	dr.second.Close()
	if dr.Scratch != nil {
		if left := dr.Scratch.Close(); left != nil {
			dr.Log.Warn("folders of steps", "err", left)
		}
	}
	dr.telemetry.Close()
}

// SecondProgram is the pool of processes that compute what this program cannot.
func (dr *Driver) SecondProgram() *compute.Pool {
	if dr.second == nil {
		dr.second = compute.New(compute.Options{Program: compute.Find(), Build: revision.Build(), Registry: dr.Registry, CacheDir: dr.CacheDir(), Log: dr.Log})
	}
	return dr.second
}

// Lacking starts the second program, and returns why its steps cannot run: it is missing, or of another build.
func (dr *Driver) Lacking(ctx context.Context) error {
	err := dr.SecondProgram().Check(ctx)
	if program, ok := errors.AsType[*compute.ProgramError](err); ok {
		return program
	}
	return nil // a step reports other errors
}

func (dr *Driver) Computed() (names []string) {
	kinds := lists.Filter(dr.Registry.Kinds(), func(k step.Spec) bool { return k.SecondFor() != "" && !k.Hidden })
	return slices.Sorted(slices.Values(lists.Map(kinds, func(k step.Spec) string { return k.Name })))
}

// ReadySecond checks the second program if steps need it, and says how many lack it. The channel gets the reason, or nil.
func (dr *Driver) ReadySecond(ctx context.Context, v *plan.Preview) <-chan error {
	why := make(chan error, 1)
	n := 0
	for _, s := range v.Todo() {
		tree, err := s.Task.Tree()
		spec := dr.Registry.Lookup(s.Task.Kind)
		if err == nil && (spec.NeedsSecond(tree) || s.Pending() && spec.SecondFor() != "") {
			n++
		}
	}
	if n == 0 {
		why <- nil
		return why
	}
	go func() {
		err := dr.Lacking(ctx)
		if err != nil {
			dr.Say(fmt.Sprintf("%s cannot be computed here: %v. Other steps run", words.Count(n, "step"), err))
		}
		why <- err
	}()
	return why
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

// tellUnfit is the error that some steps never fit, which says what to do.
func tellUnfit(unfit map[int]string, do string) error {
	var told []string
	for _, i := range words.First(slices.Sorted(maps.Keys(unfit)), unfitTold, func(n int) { told = append(told, fmt.Sprintf("… and %s more", words.Count(n, "step"))) }) {
		told = append(told, unfit[i])
	}
	return fault.Input(fmt.Errorf("%s\n%s", strings.Join(told, "\n"), do))
}

// OpenForWorker loads a pipeline named by a workflow's input, from accepted files.
func (dr *Driver) OpenForWorker(ctx context.Context, accept func(file string) error, file string, vars map[string]string, targets []string) (*plan.Plan, string, error) {
	p, err := dr.LoadWith(ctx, accept, file, vars)
	if err != nil {
		return nil, "", err
	}
	pl, err := dr.PlanOf(ctx, p, file, targets)
	return pl, filepath.Join(session.ProjectDir(file), lockfile.Name), err
}
