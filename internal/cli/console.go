package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/console"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/fault"
)

func newConsoleCmd(a *app) *cobra.Command {
	return with(&cobra.Command{
		Use:   "console [EXPRESSION...]",
		Short: "Evaluate expressions of a pipeline: local values, for_each keys, functions, references",
		Long: `Evaluates expressions as in a locals block of the pipeline, and prints their values as HCL, or with
--json as JSON. Without arguments it reads one expression per line of standard input. Nothing is run. A step's output
is shown as its address, with what the plan says about it: a hit's key and the digest of the output.

Exit code 0 if all could be evaluated, 2 if not; the others are evaluated anyway.`,
		Example: `  redsi console 'keys(step.train.dsi)' 'local.sizes'
  echo 'local.sizes' | redsi console --var scale=toy
  echo 'var.scale' | redsi console --json | jq .value`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, p, err := a.OpenScope(cmd.Context())
			if err != nil {
				return err
			}
			c := &consoleRun{app: a, ctx: cmd.Context(), of: console.Console{Scope: s, Look: func() (map[string]console.Planned, error) { return a.lookUp(cmd.Context(), p) }}}
			if len(args) > 0 {
				for _, x := range args {
					if err := c.evaluate("argument", x); err != nil {
						return err
					}
				}
				return c.end()
			}
			return c.read(os.Stdin)
		},
	}, a.pipelineFlags, a.fromFlags)
}

type consoleRun struct {
	*app
	ctx    context.Context
	of     console.Console
	failed bool
}

// read evaluates each line, with a prompt on a terminal.
func (c *consoleRun) read(in *os.File) error {
	prompt := term.IsTerminal(int(in.Fd())) && terminal(c.Out) > 0
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, syntax.MaxFile)
	n := 1
	for ; ; n++ {
		if prompt {
			view.Printf(c.Out, "> ")
		}
		if !lines.Scan() {
			break
		}
		if text := strings.TrimSpace(lines.Text()); text != "" && !strings.HasPrefix(text, "#") {
			if err := c.evaluate(fmt.Sprintf("line %d", n), text); err != nil {
				return err
			}
		}
		if c.ctx.Err() != nil {
			return c.ctx.Err()
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fault.Input(fmt.Errorf("line %d has more than %d bytes: write a shorter expression", n, syntax.MaxFile))
	case err == nil && prompt: // end of input at the prompt
		view.Println(c.Out)
		return nil
	default:
		return cmp.Or(err, c.end())
	}
}

func (c *consoleRun) end() error {
	if c.failed {
		return fault.Printed(fault.CodeInput)
	}
	return nil
}

func (c *consoleRun) evaluate(from, expression string) error {
	if c.app.JSON {
		answer, err := c.of.JSON(from, expression)
		if c.failed = c.failed || answer.Diagnostics != nil; err != nil {
			return err
		}
		return view.WriteJSON(c.Out, answer)
	}
	text, ds, err := c.of.Text(from, expression)
	switch {
	case ds.HasErrors():
		c.failed = true
		return ds.Write(c.Err, pipeline.Style{Width: min(terminal(c.Err), 100), Color: c.style(c.Err).Color})
	case err == nil:
		view.Println(c.Out, view.Document(text))
	}
	return err
}

func (a *app) lookUp(ctx context.Context, p *pipeline.Pipeline) (map[string]console.Planned, error) {
	planned := map[string]console.Planned{}
	v, err := a.PreviewTargets(ctx, p, nil, func(of session.Seen) (plan.Keep, error) {
		return func(i int, it *plan.Item) bool { // of a result only its outputs are kept
			planned[of.Plan.Steps[i].Address] = console.Planned{Outcome: it.Outcome, Key: it.Key, Outputs: it.Result.Outputs}
			return false
		}, nil
	})
	if err != nil {
		return nil, err
	}
	for i, s := range v.Todo() {
		planned[s.Address] = console.Planned{Outcome: v.Items[i].Outcome, Key: v.Items[i].Key}
	}
	return planned, nil
}
