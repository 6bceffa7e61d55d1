package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/step"
)

func newConsoleCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "console [EXPRESSION...]",
		Short: "Evaluate expressions of a pipeline: local values, for_each keys, functions, references",
		Long: `Evaluates expressions as in a locals block of the pipeline, and prints their
values as HCL, or with --json as JSON. Without arguments it reads one expression
per line of standard input. Nothing is run. A step's output is shown as its
address, with what the plan says about it: a hit's key and the digest of the
output.

Exit code 0 if all could be evaluated, 2 if not; the others are evaluated
anyway.`,
		Example: `  redsi console 'keys(step.train.dsi)' 'local.sizes'
  echo 'local.sizes' | redsi console --var scale=toy
  echo 'var.scale' | redsi console --json | jq .value`,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, p, err := a.OpenScope(cmd.Context())
			if err != nil {
				return err
			}
			c := &console{app: a, ctx: cmd.Context(), scope: s, pipeline: p}
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
	}
	a.pipelineFlags(cmd)
	a.fromFlags(cmd)
	return cmd
}

// console evaluates expressions, one after the other.
type console struct {
	*app
	ctx      context.Context
	scope    *pipeline.Scope
	pipeline *pipeline.Pipeline
	failed   bool
	made     map[string]made // hits and runs by address, once asked for
}

// made is what the plan says about a step.
type made struct {
	outcome plan.Outcome
	key     artifacts.Digest
	outputs map[string]artifacts.Artifact // of a hit
}

// read evaluates each line, with a prompt on a terminal.
func (c *console) read(in *os.File) error {
	prompt := term.IsTerminal(int(in.Fd())) && terminal(c.Out) > 0
	lines := bufio.NewReader(in)
	for n := 1; ; n++ {
		if prompt {
			view.Printf(c.Out, "> ")
		}
		line, err := lines.ReadString('\n')
		if err != nil && err != io.EOF {
			return err
		}
		if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "#") {
			if err := c.evaluate(fmt.Sprintf("line %d", n), text); err != nil {
				return err
			}
		}
		switch {
		case err == io.EOF && prompt: // end of input at the prompt
			view.Println(c.Out)
			return nil
		case err == io.EOF:
			return c.end()
		case c.ctx.Err() != nil:
			return c.ctx.Err()
		}
	}
}

func (c *console) end() error {
	if c.failed {
		return fault.Printed(fault.CodeInput)
	}
	return nil
}

// consoleJSON is the answer to one expression.
type consoleJSON struct {
	Expression  string                `json:"expression"`
	Value       any                   `json:"value"`
	Diagnostics *pipeline.Diagnostics `json:"diagnostics,omitempty"` // instead of a value
}

// consoleRef is an output of a step in such an answer.
type consoleRef struct {
	Ref     string            `json:"$ref"`
	Outcome plan.Outcome      `json:"outcome"`
	Key     *artifacts.Digest `json:"key,omitempty"`
	Digest  *artifacts.Digest `json:"digest,omitempty"`
}

// evaluate prints the value of an expression, or what is wrong with it.
func (c *console) evaluate(from, expression string) error {
	v, ds := c.scope.Value(pipeline.WholeExpression(from, []byte(expression)))
	c.failed = c.failed || ds.HasErrors()
	var err error
	refs := func(r step.Ref) consoleRef {
		var x consoleRef
		if err == nil {
			x, err = c.ref(r)
		}
		return x
	}
	out := consoleJSON{Expression: expression}
	switch {
	case ds.HasErrors() && c.JSON:
		out.Diagnostics = &ds
	case ds.HasErrors():
		return ds.Write(c.Err, pipeline.Style{Width: min(terminal(c.Err), 100), Color: c.style(c.Err).Color})
	case c.JSON:
		out.Value = pipeline.JSON(v, func(r step.Ref) any { return refs(r) })
	default:
		text := pipeline.Text(v, func(r step.Ref) string { return refs(r).note() })
		if err == nil {
			view.Println(c.Out, view.Document(text))
		}
		return err
	}
	if err == nil {
		err = view.WriteJSON(c.Out, out)
	}
	return err
}

func (r consoleRef) note() string {
	text := strings.ToUpper(string(r.Outcome))
	if r.Digest != nil {
		text += fmt.Sprintf(" key %s, digest %s", r.Key.Short(), r.Digest.Short())
	}
	return text
}

// ref looks up an output of a step.
func (c *console) ref(r step.Ref) (consoleRef, error) {
	out := consoleRef{Ref: r.String()}
	if c.made == nil {
		if err := c.preview(); err != nil {
			return out, err
		}
	}
	m := c.made[r.Step]
	if out.Outcome = m.outcome; !m.key.IsZero() {
		out.Key = &m.key
	}
	if art, ok := m.outputs[r.Output]; ok {
		out.Digest = &art.Digest
	}
	return out, nil
}

// preview looks up all steps, once.
func (c *console) preview() error {
	pl, err := c.PlanOf(c.ctx, c.pipeline, c.File, nil)
	if err != nil {
		return err
	}
	store, err := c.OpenStore(c.ctx)
	if err != nil {
		return err
	}
	c.made = map[string]made{}
	v, err := c.PreviewOf(c.ctx, store, pl, func(i int, it *plan.Item) bool {
		c.made[pl.Steps[i].Address] = made{it.Outcome, it.Key, it.Result.Outputs}
		return false
	})
	if err != nil {
		return err
	}
	for i, it := range v.Items {
		if it.Outcome != plan.Hit {
			c.made[pl.Steps[i].Address] = made{outcome: it.Outcome, key: it.Key}
		}
	}
	return nil
}
