// Package console evaluates expressions of a pipeline for people: a step's output is shown as its address, with what a plan
// says about it. It must not know how a pipeline is planned, or where expressions come from.
package console

import (
	"fmt"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/step"
)

// Planned is what a plan says about a step.
type Planned struct {
	Outcome plan.Outcome
	Key     artifacts.Digest
	Outputs map[string]artifacts.Artifact // of a hit
}

// Console evaluates expressions, one after the other.
type Console struct {
	Scope *pipeline.Scope

	// Look says what a plan has of each step, by its address. The first expression with an output of a step calls it, once.
	Look func() (map[string]Planned, error)

	planned map[string]Planned
}

// Answer is the value of an expression as JSON, or what is wrong with it.
type Answer struct {
	Expression  string                `json:"expression"`
	Value       any                   `json:"value"`
	Diagnostics *pipeline.Diagnostics `json:"diagnostics,omitempty"` // instead of a value
}

// Ref is an output of a step in an answer.
type Ref struct {
	Ref     string            `json:"$ref"`
	Outcome plan.Outcome      `json:"outcome"`
	Key     *artifacts.Digest `json:"key,omitempty"`
	Digest  *artifacts.Digest `json:"digest,omitempty"`
}

// JSON evaluates an expression; from says where it comes from.
func (c *Console) JSON(from, expression string) (Answer, error) {
	out := Answer{Expression: expression}
	v, ds := c.Scope.Value(pipeline.WholeExpression(from, []byte(expression)))
	if ds.HasErrors() {
		out.Diagnostics = &ds
		return out, nil
	}
	var err error
	out.Value = language.JSON(v, func(r step.Ref) any { return c.ref(r, &err) })
	return out, err
}

// Text is the value of an expression as HCL.
func (c *Console) Text(from, expression string) (string, pipeline.Diagnostics, error) {
	v, ds := c.Scope.Value(pipeline.WholeExpression(from, []byte(expression)))
	if ds.HasErrors() {
		return "", ds, nil
	}
	var err error
	text := language.Text(v, func(ref step.Ref) string {
		r := c.ref(ref, &err)
		note := strings.ToUpper(string(r.Outcome))
		if r.Digest != nil {
			note += fmt.Sprintf(" key %s, digest %s", r.Key.Short(), r.Digest.Short())
		}
		return note
	})
	return text, ds, err
}

// ref looks up an output of a step, unless there was an error before.
func (c *Console) ref(r step.Ref, err *error) (out Ref) {
	if *err != nil {
		return out
	}
	out.Ref = r.String()
	if c.planned == nil {
		if c.planned, *err = c.Look(); *err != nil {
			return out
		}
	}
	m := c.planned[r.Step]
	if out.Outcome = m.Outcome; !m.Key.IsZero() {
		out.Key = &m.Key
	}
	if art, ok := m.Outputs[r.Output]; ok {
		out.Digest = &art.Digest
	}
	return out
}
