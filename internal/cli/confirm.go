package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/words"
)

// confirm asks at the terminal, if there is one, before a run above these limits. It fails if the answer is no.
func (a *app) confirm(ctx context.Context, above string, store *artifacts.Resolver, v *plan.Preview) error {
	l, err := estimate.ParseLimits(above)
	if err != nil {
		return fault.Input(fmt.Errorf("--confirm-above %w", err))
	}
	if l == nil || v.Done() || !term.IsTerminal(int(os.Stdin.Fd())) {
		return nil
	}
	e, err := a.Cost(ctx, store.Alone(), v)
	if err != nil || !l.Exceeded(e) && !(isDown(store) && e.Obscure()) {
		return err
	}
	if yes, asked := ask(ctx, view.Cost(e)+"Continue?"); yes || !asked {
		return nil
	}
	return fault.Failed(errors.New("nothing was run: use --yes to skip this question, or --target to run less"))
}

// ask asks the person at the terminal; asked is false if there is no terminal.
func ask(ctx context.Context, question string) (yes, asked bool) {
	text, asked := answer(ctx, question+" [y/N]")
	text = strings.ToLower(text)
	return text == "y" || text == "yes", asked
}

// Ask asks for the value of a variable, if the verb needs the value and may ask.
func (a *app) Ask(ctx context.Context, question string) string {
	if name := a.cmd.Name(); name != "run" && name != "plan" || a.JSON || a.cmd.Flags().Changed("yes") {
		return ""
	}
	text, _ := answer(ctx, question)
	return text
}

// answer asks the person at the terminal; asked is false without a terminal.
func answer(ctx context.Context, question string) (text string, asked bool) {
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return "", false
	}
	tty, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0)
	if err != nil {
		return "", false
	}
	defer tty.Close()
	view.Printf(tty, "%s ", view.Document(question))
	said := make(chan string, 1)
	go func() { // ends with the process
		line, _ := bufio.NewReader(io.LimitReader(os.Stdin, 1000)).ReadString('\n')
		said <- strings.TrimSpace(line)
	}()
	select {
	case text := <-said:
		return text, true
	case <-ctx.Done():
		return "", true
	}
}

var fromFlags = []string{"from", "require-from", "trust", "untrusted"}

// fromFlags adds the flags about other stores to a verb that reads results.
func (a *app) fromFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&a.Others.From, "from", nil, "also look for results in this store, read-only: https://HOST/PATH, s3://BUCKET/PREFIX or a folder; may be repeated")
	f.BoolVar(&a.Others.Require, "require-from", false, "fail if one of those stores does not answer")
	f.StringArrayVar(&a.Others.Trust, "trust", nil, "trust results signed by this public `KEY`, NAME:BASE64; may be repeated")
	f.StringVar(&a.Others.Untrusted, "untrusted", "", "results in other stores that no trusted key signed: run (run the step here), verify (run it and compare) or use (default run)")
}

// sayOthers says at the start of a run which results in other stores are not used, and which stores do not answer.
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
		if e, err = a.Cost(ctx, store.Alone(), v); err != nil {
			return err
		}
	}
	return a.SayDown(store, session.MayHave(v, e))
}

// isDown reports whether another store does not answer, which may have results that no other store has, and say how long steps take.
func isDown(store *artifacts.Resolver) bool {
	return slices.ContainsFunc(store.Others(), func(o artifacts.OtherState) bool { return o.Err != nil })
}
