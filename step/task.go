package step

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/json/jsontext"
	"fmt"
	"slices"

	"github.com/redsi/redsi/artifacts"
)

// Task is one piece of work: a kind and its configuration tree as JSON, with
// defaults filled in. It can run when no {"$ref"} is left in it.
type Task struct {
	Kind   string          `json:"kind"`
	Config json.RawMessage `json:"config"`

	// Checks are of its result, and in no key.
	Checks []Check `json:"checks,omitempty"`

	// What is known of Config since it was made of a tree; pointers, as plans hold many tasks.
	key     *artifacts.Digest // see Registry.Resolved
	refs    *[]Ref            // if there are some
	unkeyed *[]string         // see Registry.Resolved
}

// Problems are the checks that a result does not pass, as sentences for people: those that
// stop what reads it, and those that only warn. An error is the store's.
func (t Task) Problems(ctx context.Context, r *artifacts.Result, open Opener) (stops, warnings []string, err error) {
	for _, c := range t.Checks {
		problem, err := c.problem(ctx, r, open)
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("check %q: %w", c.Name, err)
		case problem == "":
		case c.Warning:
			warnings = append(warnings, c.sentence(problem))
		default:
			stops = append(stops, c.sentence(problem))
		}
	}
	return stops, warnings, nil
}

func encodeTask(kind string, tree map[string]any) (Task, error) {
	var b bytes.Buffer
	b.Grow(512)
	if err := writeTree(&b, tree, plainLeaf); err != nil {
		return Task{}, fmt.Errorf("kind %s: %w", kind, err)
	}
	return Task{Kind: kind, Config: slices.Clone(b.Bytes())}, nil
}

// plainLeaf writes JSON. It refuses text that this would change: what is not UTF-8.
func plainLeaf(b *bytes.Buffer, v any) (err error) {
	leaf := b.AvailableBuffer()
	if text, ok := v.(string); !ok {
		leaf, err = json.Marshal(v)
	} else if leaf, err = jsontext.AppendQuote(leaf, text); err != nil {
		err = fmt.Errorf("%q is not valid UTF-8", text)
	}
	b.Write(leaf)
	return err
}

// Tree parses the task's configuration.
func (t Task) Tree() (map[string]any, error) { return ParseTree(t.Config) }

// Refs lists the outputs of other steps that the task still waits for.
func (t Task) Refs() ([]Ref, error) {
	if t.refs != nil {
		return *t.refs, nil
	}
	if !t.mayRefer() {
		return nil, nil
	}
	tree, err := t.Tree()
	return RefsIn(tree), err
}

// RefsIn lists the outputs of other steps in a tree.
func RefsIn(tree any) (refs []Ref) {
	_, _ = MapInputs(tree, func(_ string, in Input) (Input, error) {
		if in.Ref != nil {
			refs = append(refs, *in.Ref)
		}
		return in, nil
	})
	return refs
}

// Bind replaces every reference by the artifact that find returns.
func (t Task) Bind(find func(Ref) (artifacts.Artifact, error)) (Task, error) {
	tree, err := t.Tree()
	if err != nil {
		return Task{}, err
	}
	bound, _, err := t.bindTree(tree, find)
	return bound, err
}

// bindTree is Bind with the task's tree, which it returns bound as well.
func (t Task) bindTree(tree map[string]any, find func(Ref) (artifacts.Artifact, error)) (Task, map[string]any, error) {
	mapped, err := MapInputs(tree, func(path string, in Input) (Input, error) {
		if in.Ref == nil {
			return in, nil
		}
		a, err := find(*in.Ref)
		if err != nil {
			return Input{}, fmt.Errorf("%s: %w", path, err)
		}
		return In(a), nil
	})
	if err != nil {
		return Task{}, nil, err
	}
	tree = mapped.(map[string]any)
	bound, err := encodeTask(t.Kind, tree)
	bound.Checks = t.Checks
	return bound, tree, err
}

// mayRefer is false only of tasks without a Ref: its field is there by its name, or
// with one of the four characters as an escape.
func (t Task) mayRefer() bool {
	return slices.ContainsFunc([]string{refField, `\u0024`, `\u0072`, `\u0065`, `\u0066`}, func(s string) bool { return bytes.Contains(t.Config, []byte(s)) })
}

// BindChecks returns the task with what its checks compare with in the results of other
// steps; result finds that of an address.
func (t Task) BindChecks(result func(address string) *artifacts.Result) (Task, error) {
	if !slices.ContainsFunc(t.Checks, func(c Check) bool { return len(c.Of) > 0 }) {
		return t, nil
	}
	t.Checks = slices.Clone(t.Checks)
	for i := range t.Checks {
		c := &t.Checks[i]
		for _, at := range []**Limit{&c.Min, &c.Max, &c.Equals} {
			if len(c.Of) == 0 || *at == nil || (*at).Name == "" {
				continue
			}
			limit := Limit{Name: (*at).Name}
			for _, address := range c.Of {
				r := result(address)
				if r == nil {
					return t, fmt.Errorf("check %q: %s has no result yet", c.Name, address)
				}
				term := wanted(limit.Name, r)
				term.Step = address
				limit.Terms = append(limit.Terms, term)
			}
			*at = &limit
		}
	}
	return t, nil
}
