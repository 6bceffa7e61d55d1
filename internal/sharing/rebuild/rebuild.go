// Package rebuild owns running steps a second time and comparing: with their results, and with results of other stores.
// It must not know flags, or how a comparison is printed.
package rebuild

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/paper/alike"
	"github.com/redsi/redsi/internal/paper/attest"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/signature"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

// Options say which steps are rebuilt, and how.
type Options struct {
	Target  string
	Needs   bool          // also all steps that the target needs
	Sample  int           // how many of the steps, drawn at random; 0: all
	Seed    uint64        // of the draw
	Budget  time.Duration // for all steps; 0: none
	Threads int           // per operation; 0: as the result says
	By      string        // the attester's name, if there is no key

	// Picked is told the size of a sample and of all steps, Each how a step compares.
	Picked func(sample, of int)
	Each   func(Step)
}

// Step is how a rebuilt step compares with its result.
type Step struct {
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

// LeftOut is a step for which there was no time.
type LeftOut struct {
	Address  string  `json:"address"`
	ExpectsS float64 `json:"expects_s"`
}

// All is the result of `verify --rebuild`.
type All struct {
	Target  string    `json:"target"`
	Of      int       `json:"of"` // steps of the target, and with Needs all that it needs
	Sample  int       `json:"sample,omitempty"`
	Seed    *uint64   `json:"seed,omitempty"`
	Steps   []Step    `json:"steps"`
	LeftOut []LeftOut `json:"left_out,omitempty"`
	attest.Verdicts
	Failed int    `json:"failed,omitempty"`
	Signer string `json:"signer,omitempty"` // public key; "" for attestations that are not signed
}

type runner struct {
	*session.Session
	Options
	store      *artifacts.Resolver
	acts       *activities.Activities
	key        *signature.Private
	everything *plan.Preview      // of the whole pipeline, after around
	reads      map[step.Ref][]int // steps of evaluating kinds in everything, by the outputs that they read
}

// Run rebuilds steps with results here, compares, and attests. acts returns the activities that work on a store. The
// comparison is valid also with an error, if it has steps.
func Run(ctx context.Context, se *session.Session, acts func(*artifacts.Resolver) *activities.Activities, o Options) (*All, error) {
	key, err := se.Signer()
	if err != nil {
		return nil, err
	}
	if o.By != "" && key != nil {
		return nil, fault.Input(fmt.Errorf("--by %s: cannot be used with a signing key, which already names %s", o.By, key.Public().Name))
	}
	se.Targets = []string{o.Target}
	evaluatesAll := o.Needs || address.Of(o.Target).IsRendered()
	ask := session.Named(o.Target)
	if evaluatesAll {
		ask = session.Everything
	}
	v, err := se.Preview(ctx, ask)
	if err != nil {
		return nil, err
	}
	var steps []int
	for i, s := range v.Plan.Steps {
		if !evaluatesAll && !plan.Matches(o.Target, s.Address) {
			continue
		}
		if v.Items[i].Result == nil {
			return nil, fmt.Errorf("%s has no result to compare with: %s", s.Address, se.Hint("run", "--target", s.Address))
		}
		steps = append(steps, i)
	}
	r := &runner{Session: se, Options: o, store: v.Store, acts: acts(v.Store), key: key}
	said := &All{Target: o.Target, Of: len(steps), Steps: []Step{}}
	if key != nil {
		said.Signer = key.Public().String()
	}
	if o.Sample > 0 && o.Sample < len(steps) {
		steps = pick(steps, o.Sample, o.Seed)
		said.Sample, said.Seed = o.Sample, &r.Seed
		o.Picked(o.Sample, said.Of)
	}
	return said, r.all(ctx, v.Preview, steps, said)
}

// Failure returns the error of results that differ, or that could not be rebuilt; nil if there are none.
func (a *All) Failure() (err error) {
	if a.Differs > 0 {
		err = fmt.Errorf("%d of %d steps gave results that differ by more than is allowed; the first results stay, and the others are recorded as nondeterminism", a.Differs, len(a.Steps))
	}
	if a.Failed > 0 {
		err = errors.Join(err, fmt.Errorf("%s could not be rebuilt", words.Count(a.Failed, "step")))
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
	return lists.Map(order, func(at int) int { return list[at] })
}

func (r *runner) all(ctx context.Context, v *plan.Preview, steps []int, said *All) error {
	began := time.Now()
	for _, i := range steps {
		address := v.Plan.Steps[i].Address
		if r.Budget > 0 {
			expects, err := r.expects(ctx, v, i)
			if err != nil {
				return err
			}
			if time.Since(began)+expects > r.Budget {
				said.LeftOut = append(said.LeftOut, LeftOut{address, expects.Seconds()})
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
		if done.Verdict != "" {
			said.Add(done.Verdict)
		}
		said.Steps = append(said.Steps, done)
		r.Each(done)
	}
	return nil
}

// one rebuilds a step, and attests the outcome.
func (r *runner) one(ctx context.Context, v *plan.Preview, i int) (Step, error) {
	address, it := v.Plan.Steps[i].Address, v.Items[i]
	done := Step{Address: address, StoodS: it.Took.Seconds()}
	rebuilt, err := r.acts.Rebuild(ctx, address, it.Key, it.Task(), activities.RebuildOptions{Threads: r.Threads, Readers: r.readers(address)})
	if err != nil {
		for _, d := range v.Plan.Steps[i].Deps {
			if input := v.Plan.Steps[d].Address; v.Items[d].Released && errors.Is(err, artifacts.ErrNotExist) {
				err = fmt.Errorf("%w; the bytes of %s have left the store (keep = false): %s", err, input, r.Hint("run", "--target", input))
			}
		}
		return done, err
	}
	if rebuilt.First && it.Released { // its bytes are back, and are compared by their digests
		if done.TookS, done.Verdict = rebuilt.Made.Took.Seconds(), alike.Same; rebuilt.Made.OutputsDigest() != it.Result.OutputsDigest() {
			done.Verdict = alike.Differs
		}
		return done, nil
	}
	if rebuilt.First {
		return done, errors.New("its result, or a blob of it, has gone since it was looked up; the new result takes its place")
	}
	done.TookS = rebuilt.Made.Took.Seconds()
	attestation := r.attestation(address, it.Task().Kind, rebuilt)
	attestation.By = r.By
	if done.Attestation, err = attest.File(ctx, r.store.Own, attestation, r.key); err != nil {
		return done, err
	}
	done.Verdict, done.Outputs, done.Worst = rebuilt.Verdict, rebuilt.Outputs, rebuilt.Worst()
	spec := r.Registry.Lookup(it.Task().Kind)
	rules, err := spec.Rules(it.Task())
	if err != nil {
		return done, err
	}
	if done.Details, done.More, err = alike.Details(ctx, r.store, spec.Outputs, rules, rebuilt.Stands.Outputs, rebuilt.Made.Outputs, rebuilt.Outputs); err != nil {
		return done, err
	}
	if spec.Name != "command" { // only commands have rules
		for i := range done.Details {
			done.Details[i].Allow = ""
		}
	}
	return done, nil
}

// attestation returns the record of a step that was rebuilt here and now.
func (r *runner) attestation(address, kind string, rebuilt activities.Rebuilt) attest.Attestation {
	said := attest.Attestation{Key: rebuilt.Stands.Key, Step: address, Stands: rebuilt.Stands.OutputsDigest(), Made: rebuilt.Made.OutputsDigest(),
		Verdict: rebuilt.Verdict, Outputs: rebuilt.Outputs, TookS: rebuilt.Made.Took.Seconds(), Machine: attest.ThisMachine(),
		Libraries: map[string]string{"redsi": revision.Of(), "go": runtime.Version()}, When: time.Now().UTC().Truncate(time.Second)}
	if r.Registry.Lookup(kind).SecondFor() != "" {
		said.Libraries["libtorch"] = rebuilt.Made.Env["libtorch"]
		said.Machine.Instructions, said.Machine.Threads = rebuilt.Made.Env["instructions"], rebuilt.Threads
		if u := rebuilt.Made.Used; u != nil {
			said.Machine.Card = u.Card
		}
		for _, name := range []string{"driver", "CUDA"} {
			if text := rebuilt.Made.Env[step.NotePrefix+name]; text != "" {
				said.Libraries[name] = text
			}
		}
	}
	return said
}

// expects returns how long a step took last time, with the steps that evaluate its outputs.
func (r *runner) expects(ctx context.Context, v *plan.Preview, i int) (time.Duration, error) {
	took := v.Items[i].Took
	for _, o := range r.Registry.Lookup(v.Items[i].Task().Kind).Outputs {
		rule, ok := o.Rule().(step.Evaluated)
		if !ok {
			continue
		}
		if err := r.around(ctx); err != nil {
			return 0, err
		}
		for _, reader := range r.reads[step.Ref{Step: v.Plan.Steps[i].Address, Output: o.Name}] {
			if r.everything.Plan.Steps[reader].Task.Kind == rule.By {
				took += r.everything.Items[reader].Took
			}
		}
	}
	return took, nil
}
