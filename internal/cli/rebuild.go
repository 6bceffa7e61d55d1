package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/paper/alike"
	"github.com/redsi/redsi/internal/paper/attest"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/signature"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// rebuildOptions say which steps to run again, and how.
type rebuildOptions struct {
	target  string
	needs   bool          // also all that it needs
	sample  int           // how many of the steps, at random; 0: all
	seed    uint64        // that picks them
	budget  time.Duration // for all steps; 0: none
	threads int           // per operation; 0: as the result says
	by      string        // who, if there is no key
}

// rebuildFlags are the flags that say how.
var rebuildFlags = []string{"needs", "sample", "seed", "budget", "threads", "by"}

func (o *rebuildOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.needs, "needs", false, "with --rebuild: also run all that the step needs, as for a table")
	f.IntVar(&o.sample, "sample", 0, "with --rebuild: run only this many of the steps, picked uniformly at random (default: all)")
	f.Uint64Var(&o.seed, "seed", 0, "with --sample: random seed for picking steps (default: a new one each time, which is printed)")
	f.DurationVar(&o.budget, "budget", 0, "with --rebuild: leave out steps that, going by last time, would not fit into this time, such as 2h (default: none)")
	f.IntVar(&o.threads, "threads", 0, "with --rebuild: threads per operation of a step that computes (default: as many as for its result, where they matter)")
	f.StringVar(&o.by, "by", "", "with --rebuild: your name in attestations, if you have no signing key")
}

// check checks the options, and draws a seed if none is given.
func (o *rebuildOptions) check(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	switch {
	case changed("sample") && o.sample < 1:
		return fmt.Errorf("--sample %d: want the number of steps to pick, at least 1", o.sample)
	case changed("seed") && !changed("sample"):
		return errors.New("--seed picks the steps of --sample: give both")
	case changed("budget") && o.budget <= 0:
		return fmt.Errorf("--budget %s: want a time above 0, such as 2h", o.budget)
	case changed("threads") && o.threads < 1:
		return fmt.Errorf("--threads %d: want at least 1", o.threads)
	}
	if changed("by") {
		if err := attest.CheckBy(o.by); err != nil {
			return fmt.Errorf("--by: %w", err)
		}
	}
	if !changed("seed") {
		o.seed = rand.Uint64N(1 << 32)
	}
	return nil
}

// rebuilt is how a step that was run again compares with its result.
type rebuilt struct {
	Address     string            `json:"address"`
	Verdict     alike.Verdict     `json:"verdict,omitempty"` // "" if it failed
	TookS       float64           `json:"took_s"`
	StoodS      float64           `json:"took_s_before"` // of the existing result
	Outputs     []alike.Found     `json:"outputs,omitempty"`
	Worst       *alike.Difference `json:"worst,omitempty"`
	Details     []alike.Detail    `json:"details,omitempty"` // for the first files that differ
	More        int               `json:"more_files,omitempty"`
	Attestation string            `json:"attestation,omitempty"`
	Error       string            `json:"error,omitempty"`
}

// leftOut is a step for which there was no time.
type leftOut struct {
	Address  string  `json:"address"`
	ExpectsS float64 `json:"expects_s"`
}

// rebuiltAll is the result of `verify --rebuild`.
type rebuiltAll struct {
	Target  string    `json:"target"`
	Of      int       `json:"of"` // steps of the target, or that it needs
	Sample  int       `json:"sample,omitempty"`
	Seed    *uint64   `json:"seed,omitempty"`
	Steps   []rebuilt `json:"steps"`
	LeftOut []leftOut `json:"left_out,omitempty"`
	Same    int       `json:"same"`
	Within  int       `json:"within"`
	Differs int       `json:"differs"`
	Failed  int       `json:"failed,omitempty"`
	Signer  string    `json:"signer,omitempty"` // public key; "" for attestations that are not signed
}

// rebuilder runs steps again.
type rebuilder struct {
	*app
	rebuildOptions
	store artifacts.Store
	acts  *activities.Activities
	key   *signature.Private
	whole *plan.Preview      // of the whole pipeline, once asked for
	reads map[step.Ref][]int // steps of evaluating kinds in whole, by what they read
}

// rebuild runs steps with results again, here, compares, and attests.
func (a *app) rebuild(ctx context.Context, o rebuildOptions) error {
	key, err := a.Signer()
	if err != nil {
		return err
	}
	if o.by != "" && key != nil {
		return fault.Input(fmt.Errorf("--by %s: cannot be used with a signing key, which already names %s", o.by, key.Public().Name))
	}
	a.Targets = []string{o.target}
	all := o.needs || report.IsItem(o.target)
	pl, _, err := a.LoadPlan(ctx)
	if err != nil {
		return err
	}
	chosen := func(i int) bool { return all || plan.Matches(o.target, pl.Steps[i].Address) }
	store, err := a.OpenStore(ctx)
	if err != nil {
		return err
	}
	v, err := a.PreviewOf(ctx, store, pl, func(i int, _ *plan.Item) bool { return chosen(i) })
	if err != nil {
		return err
	}
	var steps []int
	for i, s := range pl.Steps {
		if !chosen(i) {
			continue
		}
		if v.Items[i].Result == nil {
			return fmt.Errorf("%s has no result to compare with: %s", s.Address, a.hint("run", "--target", s.Address))
		}
		steps = append(steps, i)
	}
	r := &rebuilder{app: a, rebuildOptions: o, store: store, acts: a.Activities(store, nil, workflows.Features{}), key: key}
	said := rebuiltAll{Target: o.target, Of: len(steps), Steps: []rebuilt{}}
	if key != nil {
		said.Signer = key.Public().String()
	}
	if o.sample > 0 && o.sample < len(steps) {
		steps = pick(steps, o.sample, o.seed)
		said.Sample, said.Seed = o.sample, &r.seed
		if !a.JSON {
			view.Printf(a.Out, "%d of %s, picked by --seed %d\n", o.sample, view.Count(said.Of, "step"), o.seed)
		}
	}
	stopped := r.all(ctx, v, steps, &said)
	if a.JSON {
		err = view.WriteJSON(a.Out, said)
	} else {
		a.printRebuiltEnd(said, o)
	}
	switch {
	case stopped != nil:
		return stopped
	case err != nil:
		return err
	case said.Differs > 0:
		err = fmt.Errorf("%d of %d steps gave results that differ by more than is allowed; the first results stay, and the others are recorded as nondeterminism", said.Differs, len(said.Steps))
	}
	if said.Failed > 0 {
		err = errors.Join(err, fmt.Errorf("%s could not be run again", view.Count(said.Failed, "step")))
	}
	if err != nil {
		return fault.Failed(err)
	}
	return nil
}

// pick draws n elements of a list uniformly, keeping their order.
func pick(list []int, n int, seed uint64) []int {
	order := rand.New(rand.NewPCG(seed, 0)).Perm(len(list))[:n]
	slices.Sort(order)
	for i, at := range order {
		order[i] = list[at]
	}
	return order
}

// all runs steps again until all are done or it is stopped.
func (r *rebuilder) all(ctx context.Context, v *plan.Preview, steps []int, said *rebuiltAll) error {
	began := time.Now()
	for _, i := range steps {
		address := v.Plan.Steps[i].Address
		if r.budget > 0 {
			expects, err := r.expects(ctx, v, i)
			if err != nil {
				return err
			}
			if time.Since(began)+expects > r.budget {
				said.LeftOut = append(said.LeftOut, leftOut{address, expects.Seconds()})
				continue
			}
		}
		done, err := r.one(ctx, v, i)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			done.Error = err.Error()
			said.Failed++
		}
		switch done.Verdict {
		case alike.Same:
			said.Same++
		case alike.Within:
			said.Within++
		case alike.Differs:
			said.Differs++
		}
		said.Steps = append(said.Steps, done)
		if !r.JSON {
			r.printRebuilt(done)
		}
	}
	return nil
}

// one runs a step again, and attests the outcome.
func (r *rebuilder) one(ctx context.Context, v *plan.Preview, i int) (rebuilt, error) {
	address, it := v.Plan.Steps[i].Address, v.Items[i]
	done := rebuilt{Address: address, StoodS: it.Took.Seconds()}
	again, err := r.acts.Rebuild(ctx, address, it.Key, it.Task, activities.RebuildOptions{Threads: r.threads,
		Readers: func(ctx context.Context, output, kind string) ([]activities.Reader, error) {
			return r.readers(ctx, address, output, kind)
		}})
	if err != nil {
		return done, err
	}
	if again.First {
		return done, errors.New("its result, or a blob of it, has gone since it was looked up; the new result takes its place")
	}
	done.TookS = again.Made.Took.Seconds()
	attestation := r.attestation(address, it.Task.Kind, again)
	attestation.By = r.by
	if done.Attestation, err = attest.File(ctx, r.store, attestation, r.key); err != nil {
		return done, err
	}
	done.Verdict, done.Outputs, done.Worst = again.Verdict, again.Outputs, again.Worst()
	spec := r.Registry.Lookup(it.Task.Kind)
	rules, err := spec.Rules(it.Task)
	if err != nil {
		return done, err
	}
	if done.Details, done.More, err = alike.Details(ctx, r.store.Blobs, spec.Outputs, rules, again.Stands.Outputs, again.Made.Outputs, again.Outputs); err != nil {
		return done, err
	}
	if spec.Name != "command" { // only commands have rules
		for i := range done.Details {
			done.Details[i].Allow = ""
		}
	}
	return done, nil
}

// attestation is the record of a step that was run again here and now.
func (a *app) attestation(address, kind string, again activities.Rebuilt) attest.Attestation {
	said := attest.Attestation{Key: again.Stands.Key, Step: address, Stands: again.Stands.OutputsDigest(), Made: again.Made.OutputsDigest(),
		Verdict: again.Verdict, Outputs: again.Outputs, TookS: again.Made.Took.Seconds(), Machine: attest.ThisMachine(),
		Libraries: map[string]string{"redsi": revision.Of(), "go": runtime.Version()}, When: time.Now().UTC().Truncate(time.Second)}
	if a.Registry.Lookup(kind).SecondFor() != "" {
		said.Libraries["libtorch"] = again.Made.Env["libtorch"]
		said.Machine.Instructions, said.Machine.Threads = again.Made.Env["instructions"], again.Threads
		if u := again.Made.Used; u != nil {
			said.Machine.Card = u.Card
		}
		for _, name := range []string{"driver", "CUDA"} {
			if text := again.Made.Env[step.NotePrefix+name]; text != "" {
				said.Libraries[name] = text
			}
		}
	}
	return said
}

// expects is how long a step took last time, with the steps that evaluate its outputs.
func (r *rebuilder) expects(ctx context.Context, v *plan.Preview, i int) (time.Duration, error) {
	took := v.Items[i].Took
	for _, o := range r.Registry.Lookup(v.Items[i].Task.Kind).Outputs {
		rule, ok := o.Rule().(step.Evaluated)
		if !ok {
			continue
		}
		if err := r.around(ctx); err != nil {
			return 0, err
		}
		for _, reader := range r.reads[step.Ref{Step: v.Plan.Steps[i].Address, Output: o.Name}] {
			if r.whole.Plan.Steps[reader].Task.Kind == rule.By {
				took += r.whole.Items[reader].Took
			}
		}
	}
	return took, nil
}

// readers are the steps of a kind that read an output and whose other inputs exist.
func (r *rebuilder) readers(ctx context.Context, address, output, kind string) (list []activities.Reader, err error) {
	if err := r.around(ctx); err != nil {
		return nil, err
	}
	for _, i := range r.reads[step.Ref{Step: address, Output: output}] {
		s, it := r.whole.Plan.Steps[i], r.whole.Items[i]
		if s.Task.Kind == kind && it.Outcome != plan.Maybe {
			list = append(list, activities.Reader{Address: s.Address, Task: it.Task})
		}
	}
	return list, nil
}

// around looks up the whole pipeline, once: the steps that evaluate a model are not among
// those that it needs.
func (r *rebuilder) around(ctx context.Context) error {
	if r.whole != nil {
		return nil
	}
	evaluate := map[string]bool{}
	for _, k := range r.Registry.Kinds() {
		for _, o := range k.Outputs {
			if rule, ok := o.Rule().(step.Evaluated); ok {
				evaluate[rule.By] = true
			}
		}
	}
	r.Targets = nil
	pl, _, err := r.LoadPlan(ctx)
	if err != nil {
		return err
	}
	reads := map[step.Ref][]int{}
	for i, s := range pl.Steps {
		if !evaluate[s.Task.Kind] {
			continue
		}
		err := plan.InputsOf(s.Task, func(_ string, in step.Input) {
			if in.Ref != nil {
				reads[*in.Ref] = append(reads[*in.Ref], i)
			}
		})
		if err != nil {
			return err
		}
	}
	v, err := r.PreviewOf(ctx, r.store, pl, func(i int, _ *plan.Item) bool { return evaluate[pl.Steps[i].Task.Kind] })
	if err != nil {
		return err
	}
	r.whole, r.reads = v, reads
	return nil
}

// book has the attestations of a store's results; the keys of the pipeline and the command
// line say whose count.
func (a *app) book(ctx context.Context, store artifacts.Store) (*attest.Book, error) {
	ring, err := a.Ring()
	if err != nil {
		return nil, err
	}
	return attest.Open(ctx, store, ring)
}
