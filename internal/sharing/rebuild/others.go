package rebuild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/redsi/redsi/activities"
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/alike"
	"github.com/redsi/redsi/internal/paper/attest"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
)

// Compared is how a result from here compares, by its kind's rules, with another store's that no trusted key signed.
type Compared struct {
	Address     string            `json:"address"`
	From        string            `json:"from"`
	Verdict     alike.Verdict     `json:"verdict"`
	Outputs     []alike.Found     `json:"outputs,omitempty"` // that differ: Stands is theirs, Made is ours
	Worst       *alike.Difference `json:"worst,omitempty"`
	Attestation string            `json:"attestation,omitempty"` // "" if another machine ran the step
}

// WithOthers compares the results of a run with other stores' results that it was told to verify: untrusted = "verify".
// Results computed on this machine are attested.
func WithOthers(ctx context.Context, se *session.Session, store *artifacts.Resolver, acts func(*artifacts.Resolver) *activities.Activities, pl *plan.Plan, runID string) (out []Compared, err error) {
	p, err := se.Policy()
	if err != nil || p.Foreign != artifacts.VerifyUntrusted || len(se.Others.Opened) == 0 {
		return nil, err
	}
	rec, err := runs.Read(ctx, store.Own, runID)
	if errors.Is(err, artifacts.ErrNotExist) {
		return nil, nil // reading the results reports it
	}
	if err != nil {
		return nil, err
	}
	ran := map[string]bool{}
	for _, s := range rec.Steps {
		if s.Outcome == runs.Ran {
			ran[s.Address] = true
		}
	}
	isRan := func(i int) bool { return ran[pl.Steps[i].Address] }
	v, err := se.PreviewOf(ctx, store, pl, func(i int, _ *plan.Item) bool { return isRan(i) })
	if err != nil {
		return nil, err
	}
	r := &runner{Session: se, store: store, acts: acts(store), key: p.Signer}
	theirs := artifacts.With(mem.New(), se.Others.Opened, p)
	for some := range slices.Chunk(lists.Filter(lists.Places(len(pl.Steps)), isRan), session.IncomingMost) {
		keys := lists.Map(some, func(i int) artifacts.Digest { return v.Items[i].Key })
		found, err := artifacts.Inspect(ctx, theirs, keys)
		if err != nil {
			return nil, err
		}
		for n, i := range some {
			their, mine := found[keys[n]].Foreign, v.Items[i].Result
			if their == nil || mine == nil || mine.From != "" {
				continue
			}
			c, err := r.compareOther(ctx, v, i, their)
			if err != nil {
				return nil, fmt.Errorf("compare %s with the result in %s: %w", pl.Steps[i].Address, their.From, err)
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// compareOther compares the result of a step with theirs, and attests the outcome if this machine computed the result.
func (r *runner) compareOther(ctx context.Context, v *plan.Preview, i int, theirs *artifacts.Result) (Compared, error) {
	address, it := v.Plan.Steps[i].Address, v.Items[i]
	found, err := r.acts.Compare(ctx, it.Task(), *theirs, *it.Result, activities.RebuildOptions{Readers: r.readers(address)})
	if err != nil {
		return Compared{}, err
	}
	c := Compared{Address: address, From: theirs.From, Verdict: found.Verdict, Outputs: found.Outputs, Worst: found.Worst()}
	if host, err := os.Hostname(); err != nil || it.Result.Env["host"] != host {
		return c, nil
	}
	c.Attestation, err = attest.File(ctx, r.store.Own,
		r.attestation(address, it.Task().Kind, activities.Rebuilt{Stands: theirs, Made: it.Result, Comparison: found}), r.key)
	return c, err
}

// Disagree returns the error of a run some of whose results differ from other stores'; nil if none does.
func Disagree(all []Compared) error {
	n := lists.Count(all, func(c Compared) bool { return c.Verdict == alike.Differs })
	if n == 0 {
		return nil
	}
	return fault.Failed(fmt.Errorf("results computed here differ by more than is allowed from %s in other stores; the results computed here are used", words.Count(n, "result")))
}
