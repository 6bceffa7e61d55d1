package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/fault"
)

// confirmOptions says which runs need a confirmation at the terminal.
type confirmOptions struct {
	above string
	yes   bool
}

func (o *confirmOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.above, "confirm-above", env("REDSI_CONFIRM_ABOVE", estimate.UsualLimits), "on a terminal, ask before a run of more work or downloads than this: TIME, SIZE or both; never: do not ask")
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask")
}

// confirm asks at the terminal, if there is one, before a large run. An error says that the
// answer was no.
func (a *app) confirm(ctx context.Context, o *confirmOptions, store *artifacts.Resolver, v *plan.Preview) error {
	if o == nil || o.yes {
		return nil
	}
	l, err := estimate.ParseLimits(o.above)
	if err != nil {
		return fault.Input(fmt.Errorf("--confirm-above %w", err))
	}
	if l == nil || v.Done() || !term.IsTerminal(int(os.Stdin.Fd())) {
		return nil
	}
	e, err := a.cost(ctx, store, v)
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

// Ask asks for the value of a variable, where the verb is one that needs it and may ask.
func (a *app) Ask(ctx context.Context, question string) string {
	if name := a.cmd.Name(); name != "run" && name != "plan" || a.JSON || a.cmd.Flags().Changed("yes") {
		return ""
	}
	text, _ := answer(ctx, question)
	return text
}

// answer is what the person at the terminal says.
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
