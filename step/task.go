package step

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/redsi/redsi/artifacts"
)

// Task is one piece of work: a kind and its configuration tree as JSON, with defaults filled in. It can
// run when no {"$ref"} is left in it.
type Task struct {
	Kind   string          `json:"kind"`
	Config json.RawMessage `json:"config"`
	Checks []Check         `json:"checks,omitempty"` // of its result; in no key

	// What was found out when Config was encoded; pointers, as plans hold many tasks.
	key     *artifacts.Digest // see Registry.Resolved
	refs    *[]Ref            // if there are some
	unkeyed *[]string         // see Registry.Resolved
}

// Problems returns the checks that a result does not pass, as sentences for people: stops keep its readers
// from running, warnings do not. An error is the store's.
func (t Task) Problems(ctx context.Context, r *artifacts.Result, open Opener) (stops, warnings []string, err error) {
	for _, c := range t.Checks {
		problem, err := c.problem(ctx, r, open)
		says := fmt.Sprintf("check %q fails: %s (%s)", c.Name, problem, c.At)
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("check %q: %w", c.Name, err)
		case problem == "":
		case c.Warning:
			warnings = append(warnings, says)
		default:
			stops = append(stops, says)
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

// plainLeaf writes JSON. It refuses text that is not UTF-8, which it would change.
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

func (t Task) Tree() (map[string]any, error) { return ParseTree(t.Config) }

// Refs lists the outputs of other steps to which the task refers.
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

// bindTree is Bind with the task's tree. It also returns the bound tree.
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

// mayRefer is false only of tasks without a Ref, whose field would be there by its name, or with an escape
// for one of its four characters.
func (t Task) mayRefer() bool {
	return slices.ContainsFunc([]string{refField, `\u0024`, `\u0072`, `\u0065`, `\u0066`}, func(s string) bool { return bytes.Contains(t.Config, []byte(s)) })
}

// BindChecks returns the task with the numbers of other steps' results that its checks compare with; result
// returns the result of an address.
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

// ParseTree reads a configuration tree from JSON, with numbers as json.Number, and {"$ref"} and {"$artifact"}
// objects as Input. It reads token by token, since encoding/json with its reflection took most of the time of
// `redsi plan` of 100,000 steps.
func ParseTree(b []byte) (map[string]any, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(b), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	tree, err := readTree(d, b)
	if err == nil {
		_, err = d.ReadToken()
	}
	if err != io.EOF {
		_, plain := decodeJSON(b) // says it in the usual words
		return nil, cmp.Or(plain, err)
	}
	switch v := tree.(type) {
	case map[string]any:
		return v, nil
	case Input:
		return nil, errors.New("an input, not a configuration")
	case nil:
		return nil, nil
	}
	return nil, json.Unmarshal(b, new(map[string]any)) // says what it is
}

// decodeJSON reads the one value of a JSON document, with numbers as json.Number.
func decodeJSON(b []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("more than one JSON value")
	}
	return v, nil
}

func readTree(d *jsontext.Decoder, text []byte) (any, error) {
	t, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case '{':
		m, from := map[string]any{}, d.InputOffset()-1
		for d.PeekKind() != '}' {
			t, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			name := t.String() // which the next token overwrites
			if m[name], err = readTree(d, text); err != nil {
				return nil, err
			}
		}
		if _, err := d.ReadToken(); err != nil || !isInput(m) {
			return m, err
		}
		var in Input
		err := json.Unmarshal(text[from:d.InputOffset()], &in)
		return in, err
	case '[':
		list := []any{}
		for d.PeekKind() != ']' {
			v, err := readTree(d, text)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.ReadToken()
		return list, err
	case '"':
		return t.String(), nil
	case '0':
		return json.Number(t.String()), nil
	case 'n':
		return nil, nil
	}
	return t.Bool(), nil
}

func isInput(m map[string]any) bool {
	if len(m) != 1 {
		return false
	}
	_, ref := m[refField]
	_, art := m[artifactField]
	return ref || art
}

func sortedKeys(m map[string]any) []string {
	keys := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	return keys
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
