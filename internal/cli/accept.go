package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/signature"
	"github.com/redsi/redsi/step"
)

// acceptOptions are the flags of accept.
type acceptOptions struct {
	reason, of, by string
	yes            bool
	list           bool
	revoke         string
}

// acceptable is a step that must run, with the earlier result that may stand in for it.
type acceptable struct {
	Address string           `json:"address"`
	Key     artifacts.Digest `json:"key"`
	Of      artifacts.Digest `json:"of"`
	Changes []step.Change    `json:"changes"`
	ID      string           `json:"id,omitempty"` // once it is accepted

	preimage []byte
	result   *artifacts.Result
}

func newAcceptCmd(a *app) *cobra.Command {
	var o acceptOptions
	cmd := &cobra.Command{
		Use:   "accept STEP --reason TEXT | --list | --revoke STEP",
		Short: "Declare that a step's earlier result is still valid: the change does not affect it",
		Long: `Declare that a step's earlier result is still valid, because what has changed since does
not affect it: a comment in a program, or a new version of a kind that does this step as
before.

The differences are shown first, and you are asked to confirm; scripts give --yes. From
then on the step is a HIT. Who accepted it, when and why is recorded, signed if you have a
key, and shown with the result: by plan, why, trace and in the lineages of the report.
redsi does not check the claim: verify --rebuild does.

The newest result is taken; --of names another one, by its key or by a run. STEP may be a
block with for_each: all of its steps that must run are accepted for the same reason. A
step that is split into parts is accepted as a whole; its parts need no results.

--revoke takes it back: the result is forgotten under the new key, and the next run does
the step. The acceptance and its revocation stay on record. Results that other steps made
from its bytes stay. Where the project trusts keys, only acceptances that one of them
signed count; those of a revoked key never do.`,
		Example: `  redsi accept step.command.fit --reason "only a comment in fit.py"
  redsi accept step.dedup.nq --reason "version 4 differs for titles only" --yes
  redsi accept step.command.fit --of last~3 --reason "as it was in March"
  redsi accept --list
  redsi accept --revoke step.command.fit`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ways := 0
			for _, given := range []bool{len(args) == 1, o.list, o.revoke != ""} {
				if given {
					ways++
				}
			}
			switch {
			case ways != 1:
				return fault.Input(misused(cmd, errors.New("give one of STEP, --list and --revoke STEP")))
			case o.list:
				return a.listAccepted(cmd.Context())
			case o.revoke != "":
				return a.revokeAccepted(cmd.Context(), o)
			case strings.TrimSpace(o.reason) == "":
				return fault.Input(errors.New(`--reason is required: say why the change does not affect the result; it is shown with the result`))
			}
			return a.accept(cmd.Context(), args[0], o)
		},
	}
	a.pipelineFlags(cmd)
	a.fromFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.reason, "reason", "", "why the change does not affect the result")
	f.StringVar(&o.of, "of", "", "the result to accept: its `KEY`, or a run that had it; default: the newest")
	f.StringVar(&o.by, "by", "", "who accepts or revokes it; default: the name of your key")
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	f.BoolVar(&o.list, "list", false, "list what was accepted in this store")
	f.StringVar(&o.revoke, "revoke", "", "revoke the acceptance of this `STEP`")
	return cmd
}

// who is the name under which something is declared, and the key that signs it.
func (a *app) who(by string) (string, *signature.Private, error) {
	k, err := a.Signer()
	if err != nil {
		return "", nil, err
	}
	if k != nil {
		by = cmp.Or(by, k.Public().Name)
	}
	if by == "" {
		return "", nil, fault.Input(errors.New("you have no signing key: say who accepts it with --by NAME"))
	}
	return by, k, nil
}

// accept repeats until no selected step must run: accepting one makes the keys of the steps
// after it known.
func (a *app) accept(ctx context.Context, target string, o acceptOptions) error {
	by, k, err := a.who(o.by)
	if err != nil {
		return err
	}
	a.Targets = []string{target}
	pl, _, err := a.LoadPlan(ctx)
	if err == nil {
		err = a.MayRecord()
	}
	if err != nil {
		return err
	}
	store, err := a.OpenStore(ctx)
	if err != nil {
		return err
	}
	done := []acceptable{}
	for round := 0; ; round++ {
		todo, left, err := a.acceptables(ctx, store, pl, target, o)
		if err != nil {
			return err
		}
		if len(todo) == 0 {
			if round == 0 {
				return fault.Input(fmt.Errorf("nothing to accept for %s: %s", target, strings.Join(left, "; ")))
			}
			return a.tellAccepted(done, left)
		}
		if err := a.mayAccept(ctx, todo, o); err != nil {
			return err
		}
		for _, x := range todo {
			decl := artifacts.Acceptance{Key: x.Key, Of: x.Of, Step: x.Address, Outputs: x.result.OutputsDigest(), Reason: o.reason, By: by, When: time.Now().UTC(),
				Changes: []artifacts.AcceptedChange{}}
			for _, c := range x.Changes[:min(len(x.Changes), changesKept)] {
				decl.Changes = append(decl.Changes, artifacts.AcceptedChange{Path: c.Path, Old: bounded(c.Old), New: bounded(c.New)})
			}
			acc, err := artifacts.NewAcceptance(decl, k)
			if err != nil {
				return fault.Input(err)
			}
			if err := artifacts.Accept(ctx, store, x.result, x.preimage, acc); err != nil {
				return fmt.Errorf("%s: %w", x.Address, err)
			}
			x.ID = acc.ID()
			done = append(done, x)
		}
	}
}

// Bounds of the changes that an acceptance keeps; the preimages have all of them.
const (
	changesKept = 100
	valueKept   = 1000
)

func bounded(text string) string {
	if len(text) > valueKept {
		text = strings.ToValidUTF8(text[:valueKept], "") + "…"
	}
	return text
}

// acceptables are the steps of a target that must run and have an earlier result, and, in
// words, why the others do not qualify.
func (a *app) acceptables(ctx context.Context, store artifacts.Store, pl *plan.Plan, target string, o acceptOptions) (todo []acceptable, left []string, err error) {
	meant := func(i int) bool { return plan.Matches(target, pl.Steps[i].Address) }
	v, err := a.PreviewOf(ctx, store, pl, func(int, *plan.Item) bool { return false })
	if err != nil {
		return nil, nil, err
	}
	past, err := a.Journal(ctx, store, v)
	if err != nil {
		return nil, nil, err
	}
	named, err := a.namedResult(ctx, store, o.of)
	if err != nil {
		return nil, nil, err
	}
	for i, s := range pl.Steps {
		it := v.Items[i]
		switch {
		case !meant(i):
			continue
		case it.Outcome == plan.Hit:
			left = append(left, s.Address+" is a HIT")
			continue
		case it.Outcome == plan.Maybe:
			left = append(left, fmt.Sprintf("the key of %s is not known until %s has run or is accepted", s.Address, pl.Steps[it.Waits[0]].Address))
			continue
		}
		x := acceptable{Address: s.Address, Key: it.Key, preimage: it.Preimage}
		var why string
		if x.Of, why = named(s.Address, past); why != "" {
			left = append(left, why)
			continue
		}
		if why, err = a.fits(ctx, store, s, &x); err != nil {
			return nil, nil, err
		}
		if why != "" {
			left = append(left, why)
			continue
		}
		todo = append(todo, x)
	}
	if len(todo) > 1 && isKey(o.of) {
		return nil, nil, fault.Input(fmt.Errorf("--of %s is the result of one step, but %s has %d steps that must run: name one", o.of, target, len(todo)))
	}
	return todo, left, nil
}

func isKey(of string) bool {
	_, err := artifacts.ParseDigest("sha256:" + strings.TrimPrefix(of, "sha256:"))
	return err == nil
}

// namedResult finds the key of the result that is meant for a step, or says why there is none.
func (a *app) namedResult(ctx context.Context, store artifacts.Store, of string) (func(address string, past *journal.Journal) (artifacts.Digest, string), error) {
	if of == "" {
		return func(address string, past *journal.Journal) (artifacts.Digest, string) {
			if key, ok := past.Key[address]; ok {
				return key, ""
			}
			return artifacts.Digest{}, address + " has no earlier result from a run here: give --of KEY"
		}, nil
	}
	if isKey(of) {
		key, err := artifacts.ParseDigest("sha256:" + strings.TrimPrefix(of, "sha256:"))
		return func(string, *journal.Journal) (artifacts.Digest, string) { return key, "" }, err
	}
	rec, err := a.FindRun(ctx, store, of)
	if err != nil {
		return nil, err
	}
	keys := map[string]artifacts.Digest{}
	for _, s := range rec.Steps {
		if journal.Finished(s) {
			keys[s.Address] = s.Key
		}
	}
	return func(address string, _ *journal.Journal) (artifacts.Digest, string) {
		if key, ok := keys[address]; ok {
			return key, ""
		}
		return artifacts.Digest{}, fmt.Sprintf("run %s has no result of %s", rec.RunID, address)
	}, nil
}

// fits fills in the result to accept for a step, or says why it cannot be used.
func (a *app) fits(ctx context.Context, store artifacts.Store, s plan.Step, x *acceptable) (why string, err error) {
	if x.Of == x.Key {
		return fmt.Sprintf("nothing has changed for %s: its result is incomplete in the store and must be made again", s.Address), nil
	}
	entries, err := artifacts.Inspect(ctx, store, []artifacts.Digest{x.Of})
	if err != nil {
		return "", err
	}
	e := entries[x.Of]
	if !e.Hit() {
		return fmt.Sprintf("the earlier result of %s, %s, cannot be used: %s", s.Address, x.Of.Short(), e.Miss()), nil
	}
	x.result = e.Result
	if x.Changes, err = session.ComparePreimages(e.Result.Preimage, x.preimage); err != nil {
		return "", fmt.Errorf("%s: %w", s.Address, err)
	}
	for _, c := range x.Changes {
		if c.Path == "kind" {
			return fmt.Sprintf("the result %s is of kind %s, and %s is of kind %s", x.Of.Short(), c.Old, s.Address, c.New), nil
		}
	}
	spec := a.Registry.Lookup(s.Task.Kind)
	for _, out := range spec.Outputs {
		have, ok := e.Result.Outputs[out.Name]
		if !ok || have.Type != out.Type || out.Tree != (have.Files != nil) {
			return fmt.Sprintf("the earlier result of %s has no output %s of type %s, which kind %s has today", s.Address, out.Name, out.Type, spec.Name), nil
		}
	}
	if len(e.Result.Outputs) != len(spec.Outputs) {
		return fmt.Sprintf("the earlier result of %s has %s, but kind %s has %d today", s.Address, view.Count(len(e.Result.Outputs), "output"), spec.Name, len(spec.Outputs)), nil
	}
	return "", nil
}

// mayAccept shows what differs and asks.
func (a *app) mayAccept(ctx context.Context, todo []acceptable, o acceptOptions) error {
	var b strings.Builder
	for _, x := range todo {
		fmt.Fprintf(&b, "%s: result %s for key %s\n", x.Address, x.Of.Short(), x.Key.Short())
		for _, c := range x.Changes {
			fmt.Fprintf(&b, "       %s\n", c)
		}
	}
	if o.yes {
		if !a.JSON {
			view.Printf(a.Out, "%s", view.Document(b.String()))
		}
		return nil
	}
	yes, asked := ask(ctx, b.String()+"Is it right that none of this changes the result?")
	switch {
	case !asked:
		view.Printf(a.Err, "%s", view.Document(b.String()))
		return fault.Input(errors.New("cannot ask for confirmation without a terminal: give --yes"))
	case !yes:
		return fault.Failed(errors.New("nothing was accepted"))
	}
	return nil
}

func (a *app) tellAccepted(done []acceptable, left []string) error {
	if a.JSON {
		return view.WriteJSON(a.Out, map[string]any{"accepted": done, "left": slices.DeleteFunc(left, func(s string) bool { return strings.HasSuffix(s, " is a HIT") })})
	}
	for _, why := range left {
		if !strings.HasSuffix(why, " is a HIT") {
			view.Printf(a.Out, "left: %s\n", why)
		}
	}
	view.Printf(a.Out, "%s accepted; `%s` takes it back.\n", view.Count(len(done), "result"), a.hint("accept", "--revoke", a.Targets[0]))
	return nil
}

// revokeAccepted revokes acceptances, so that their steps are no longer hits.
func (a *app) revokeAccepted(ctx context.Context, o acceptOptions) error {
	by, _, err := a.who(o.by)
	if err != nil {
		return err
	}
	a.Targets = []string{o.revoke}
	v, store, err := a.PreviewFor(ctx, session.KeepNone)
	if err != nil {
		return err
	}
	revoked := []string{}
	for i, s := range v.Plan.Steps {
		x := v.Items[i].Accepted
		if x == nil || !plan.Matches(o.revoke, s.Address) {
			continue
		}
		if err := artifacts.Withdraw(ctx, store, x, by, time.Now().UTC()); err != nil {
			return fmt.Errorf("%s: %w", s.Address, err)
		}
		revoked = append(revoked, s.Address)
	}
	if len(revoked) == 0 {
		return fault.Input(fmt.Errorf("no result of %s was accepted: `%s` lists those that were", o.revoke, a.hint("accept", "--list")))
	}
	if a.JSON {
		return view.WriteJSON(a.Out, map[string]any{"revoked": revoked})
	}
	for _, s := range revoked {
		view.Println(a.Out, s)
	}
	view.Printf(a.Out, "%s revoked; `%s` runs the step again. Results made from its bytes stay.\n", view.Count(len(revoked), "acceptance"), a.hint("run", "--target", o.revoke))
	return nil
}

// listAccepted lists what was accepted in the store, revoked or not.
func (a *app) listAccepted(ctx context.Context) error {
	store, err := a.OpenStore(ctx)
	if err != nil {
		return err
	}
	all, err := artifacts.Acceptances(ctx, store)
	if err != nil {
		return err
	}
	if a.JSON {
		return view.WriteJSON(a.Out, all)
	}
	for _, x := range all {
		state := "stands"
		if x.Ended != nil {
			state = fmt.Sprintf("revoked by %s, %s", x.Ended.By, x.Ended.When.Local().Format(time.DateTime))
		}
		view.Printf(a.Out, "%s  %s  %s, %s; %s\n", x.Key.Short(), x.Step, x.Sentence(), x.When.Local().Format(time.DateTime), state)
	}
	view.Printf(a.Out, "%s.\n", view.Count(len(all), "acceptance"))
	return nil
}
