package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/words"
)

// fromFlags are the flags about other stores.
var fromFlags = []string{"from", "require-from", "trust", "untrusted"}

// fromFlags adds them to a verb that reads results.
func (a *app) fromFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&a.Others.From, "from", nil, "also look for results in this store, read-only: https://HOST/PATH, s3://BUCKET/PREFIX or a folder; may be repeated")
	f.BoolVar(&a.Others.Require, "require-from", false, "fail if one of those stores does not answer")
	f.StringArrayVar(&a.Others.Trust, "trust", nil, "trust results signed by this public `KEY`, NAME:BASE64; may be repeated")
	f.StringVar(&a.Others.Untrusted, "untrusted", "", "results in other stores that no trusted key signed: run (run the step here), verify (run it and compare) or use (default run)")
}

// sayOthers says at the start of a run which results in other stores are not used, and which
// stores do not answer.
func (a *app) sayOthers(ctx context.Context, store *artifacts.Resolver, v *plan.Preview) error {
	if len(a.Others.Opened) == 0 && len(a.Belief.Passed) == 0 {
		return nil
	}
	view.PrintPassed(a.Err, a.Belief.Summary())
	for _, o := range a.Others.Opened {
		if n := a.Belief.Unsigned[o.Name]; n > 0 {
			a.Say(fmt.Sprintf("%s in %s not signed by a key that this project trusts: untrusted = \"use\" accepts them", words.Count(n, "hit"), o.Name))
		}
	}
	var e *estimate.Estimate
	if isDown(store) && !v.Done() {
		var err error
		if e, err = a.cost(ctx, store, v); err != nil {
			return err
		}
	}
	return a.SayDown(store, session.MayHave(v, e))
}

// isDown reports whether another store does not answer: it alone may have results, and know
// how long steps take.
func isDown(store *artifacts.Resolver) bool {
	return slices.ContainsFunc(store.Others(), func(o artifacts.OtherState) bool { return o.Err != nil })
}

// cost is what a run takes, going by the project's own store.
func (a *app) cost(ctx context.Context, store *artifacts.Resolver, v *plan.Preview) (*estimate.Estimate, error) {
	past, err := a.Journal(ctx, store.Own, v)
	if err != nil {
		return nil, err
	}
	return a.EstimateOf(ctx, store.Alone(), v, past)
}
