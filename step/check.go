package step

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/values"
)

// Check is a condition on a result, which must hold before anything reads the result: on a number that
// the step counted, or on a number in a JSON output. It is in no key: a result that fails a check is
// kept, and is judged anew when the check changes.
type Check struct {
	Name    string `json:"name"`             // for people
	Counts  string `json:"counts,omitempty"` // what was counted
	Field   string `json:"field,omitempty"`  // or OUTPUT:PATH, with dots, elements of lists by number
	Min     *Limit `json:"min,omitempty"`
	Max     *Limit `json:"max,omitempty"`
	Equals  *Limit `json:"equals,omitempty"`
	Warning bool   `json:"warning,omitempty"` // it stops nothing
	At      string `json:"at,omitempty"`      // FILE:LINE

	// Of has the addresses of the steps from which limits by name take their numbers, which are added
	// up; this step reads all of them. None: this step itself.
	Of []string `json:"of,omitempty"`
}

// Opener reads the blob of a digest.
type Opener = func(context.Context, artifacts.Digest) (io.ReadCloser, error)

// Remembered returns an Opener that reads a blob once and then has it in memory, since the checks of many steps read
// the same small outputs. It keeps at most mostChecked bytes, and may be used by several goroutines.
func Remembered(open Opener) Opener {
	var mu sync.Mutex
	kept, left := map[artifacts.Digest][]byte{}, mostChecked
	return func(ctx context.Context, d artifacts.Digest) (io.ReadCloser, error) {
		mu.Lock()
		b, ok := kept[d]
		mu.Unlock()
		if !ok {
			var err error
			if b, err = readAll(ctx, open, d); err != nil {
				return nil, err
			}
			mu.Lock()
			if _, other := kept[d]; !other && len(b) <= left {
				kept[d], left = b, left-len(b)
			}
			mu.Unlock()
		}
		return io.NopCloser(bytes.NewReader(b)), nil
	}
}

// mostChecked bounds an output that a check reads.
const mostChecked = 16 << 20

// problem returns why the check fails; "" if it holds.
func (c Check) problem(ctx context.Context, r *artifacts.Result, open Opener) (string, error) {
	name := cmp.Or(c.Counts, c.Field)
	v, why, err := wanted(name, r).number(ctx, open)
	if why != "" || err != nil {
		return why, err
	}
	for _, l := range []struct {
		limit *Limit
		fails func(limit float64) bool
		says  string
	}{
		{c.Equals, func(x float64) bool { return v != x }, "is what it must be"},
		{c.Min, func(x float64) bool { return v < x }, "is the least"},
		{c.Max, func(x float64) bool { return v > x }, "is the most"},
	} {
		if l.limit == nil {
			continue
		}
		x, why, err := l.limit.value(ctx, r, open)
		if why != "" || err != nil {
			return why, err
		}
		if l.fails(x) {
			return fmt.Sprintf("%s is %s, and %s %s", name, decimal(v), l.limit.shown(x, c.Of), l.says), nil
		}
	}
	return "", nil
}

func quotedList(names []string) string {
	return cmp.Or(strings.Join(lists.Map(names, strconv.Quote), ", "), "nothing")
}

func readAll(ctx context.Context, open Opener, d artifacts.Digest) ([]byte, error) {
	rc, err := open(ctx, d)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(rc)
	return b, errors.Join(err, rc.Close())
}

// numberAt follows a path to a number, or says why there is none.
func numberAt(doc any, path string) (float64, string) {
	at, err := doc, error(nil)
	for w := WalkPath(path); w.Next(); {
		if at, err = w.In(at); err != nil {
			return 0, err.Error()
		}
	}
	v, ok := toFloat(at)
	switch {
	case !ok:
		return 0, fmt.Sprintf("%v is not a number", at)
	case values.Inexact(fmt.Sprint(at)):
		return 0, fmt.Sprintf("%v has more digits than a check compares, 53 bits", at)
	}
	return v, ""
}

// Limit is what a check compares with: a number or, by name, a number that the step itself left, or the
// steps that its check is Of.
type Limit struct {
	Number float64 `json:"number,omitempty"`
	Name   string  `json:"name,omitempty"` // what was counted, or OUTPUT:PATH

	// Terms are the numbers by that Name of the steps that the check is Of, once these have results.
	Terms []Term `json:"terms,omitempty"`
}

// Term is a number that a step left, or its place in an output, or why there is none.
type Term struct {
	Step   string              `json:"step,omitempty"`
	Number float64             `json:"number,omitempty"`
	In     *artifacts.Artifact `json:"in,omitempty"` // at Path
	Path   string              `json:"path,omitempty"`
	None   string              `json:"none,omitempty"`
}

// wanted finds the count of a name, or the output of OUTPUT:PATH.
func wanted(name string, r *artifacts.Result) Term {
	output, path, isField := strings.Cut(name, ":")
	if !isField {
		n, ok := r.Counts[name]
		if !ok {
			return Term{None: fmt.Sprintf("it counted no %q, but %s", name, quotedList(slices.Sorted(maps.Keys(r.Counts))))}
		}
		return Term{Number: float64(n)}
	}
	a, ok := r.Outputs[output]
	if !ok || a.Files != nil {
		return Term{None: fmt.Sprintf("it has no output %q that is one file, but %s", output, quotedList(slices.Sorted(maps.Keys(r.Outputs))))}
	}
	return Term{In: &a, Path: path}
}

// number reads the term; why says why there is no number.
func (t Term) number(ctx context.Context, open Opener) (v float64, why string, err error) {
	switch {
	case t.None != "":
		return 0, t.None, nil
	case t.In == nil:
		return t.Number, "", nil
	case t.In.Size > mostChecked:
		return 0, fmt.Sprintf("the output has %d bytes; a check reads at most %d", t.In.Size, mostChecked), nil
	}
	b, err := readAll(ctx, open, t.In.Digest)
	if err != nil {
		return 0, "", err
	}
	doc, err := decodeJSON(b)
	if err != nil {
		return 0, fmt.Sprintf("the output is not JSON: %v", err), nil
	}
	if v, why = numberAt(doc, t.Path); why != "" {
		why = t.Path + ": " + why
	}
	return v, why, nil
}

// value returns the number to compare with; why says why there is none.
func (l *Limit) value(ctx context.Context, r *artifacts.Result, open Opener) (sum float64, why string, err error) {
	terms := l.Terms
	switch {
	case l.Name == "":
		return l.Number, "", nil
	case len(terms) == 0:
		terms = []Term{wanted(l.Name, r)}
	}
	for _, t := range terms {
		v, why, err := t.number(ctx, open)
		if why != "" && t.Step != "" {
			why = t.Step + ": " + why
		}
		if why != "" || err != nil {
			return 0, why, err
		}
		sum += v
	}
	return sum, "", nil
}

// shown returns the limit for people, with its origin.
func (l *Limit) shown(v float64, of []string) string {
	switch {
	case l.Name == "":
		return decimal(v)
	case len(of) == 0:
		return fmt.Sprintf("%s, its %s,", decimal(v), l.Name)
	}
	return fmt.Sprintf("%s, the %s of %s,", decimal(v), l.Name, strings.Join(of, " and "))
}

// Without returns a configuration without some of the references in its lists and maps: drop says of each whether
// it goes. can is false if it cannot go, since it is an attribute of its own, or all that an attribute has. An error
// names the attribute that would have nothing left.
func (s *Spec) Without(tree map[string]any, drop func(ref Ref, can bool) bool) (map[string]any, error) {
	out, err := without(tree, s.Attrs, "", false, drop)
	if err != nil {
		return nil, fmt.Errorf("kind %s: %w", s.Name, err)
	}
	return out, nil
}

// without is Without of an object. An object in a list may lose all of an attribute, as a row of a table does.
func without(of map[string]any, attrs []Attr, path string, listed bool, drop func(Ref, bool) bool) (out map[string]any, err error) {
	out = make(map[string]any, len(of))
	for name, v := range of {
		for _, a := range attrs {
			if a.Name == name && a.Type.HasInput() {
				if v, err = withoutIn(v, a.Type, join(path, name), listed && a.Optional, drop); err != nil {
					return nil, err
				}
			}
		}
		if v != nil {
			out[name] = v
		}
	}
	return out, nil
}

// withoutIn is Without of a value: nil if nothing is left of it, which is an error unless may is true.
func withoutIn(v any, t Type, path string, may bool, drop func(Ref, bool) bool) (any, error) {
	switch v := v.(type) {
	case Input:
		if v.Ref == nil || !drop(*v.Ref, may) {
			return v, nil
		}
	case []any:
		list := make([]any, 0, len(v))
		for i, e := range v {
			of, at, can := Type{}, path, may || len(v) > 1
			if t.Kind != InputMany {
				of, at, can = *t.Elem, fmt.Sprintf("%s[%d]", path, i), true
			}
			if kept, err := withoutIn(e, of, at, can, drop); err != nil {
				return nil, err
			} else if kept != nil {
				list = append(list, kept)
			}
		}
		if len(list) > 0 || len(v) == 0 {
			return list, nil
		}
	case map[string]any:
		if t.Kind == Object {
			return without(v, t.Attrs, path, may, drop)
		}
		out := make(map[string]any, len(v))
		for _, k := range sortedKeys(v) {
			if kept, err := withoutIn(v[k], *t.Elem, join(path, k), true, drop); err != nil {
				return nil, err
			} else if kept != nil {
				out[k] = kept
			}
		}
		if len(out) > 0 || len(v) == 0 {
			return out, nil
		}
	default:
		return v, nil
	}
	if !may {
		return nil, fmt.Errorf("%s: nothing is left of it: all that it reads is left out", path)
	}
	return nil, nil
}

// lacksAttr is an attribute that Without fills in, where a kind has it: how many of the steps that a task gathers are
// gone.
const lacksAttr = "lacks"

// Without returns the task without the outputs of the steps in gone, by address, in its lists and maps.
func (r *Registry) Without(t Task, gone map[string]bool) (Task, error) {
	spec := r.Lookup(t.Kind)
	if spec == nil {
		return Task{}, fmt.Errorf("no kind %q in this build", t.Kind)
	}
	tree, err := t.Tree()
	lost := map[string]bool{}
	if err == nil {
		tree, err = spec.Without(tree, func(ref Ref, _ bool) bool {
			if gone[ref.Step] {
				lost[ref.Step] = true
			}
			return gone[ref.Step]
		})
	}
	if err != nil {
		return Task{}, err
	}
	if len(lost) > 0 && slices.ContainsFunc(spec.Attrs, func(a Attr) bool { return a.Name == lacksAttr && a.Type.Kind == Int && a.Added }) {
		n := int64(len(lost))
		if was, ok := tree[lacksAttr].(json.Number); ok { // by --skip-failed
			before, _ := was.Int64()
			n += before
		}
		tree[lacksAttr] = n
	}
	out, err := encodeTask(t.Kind, tree)
	for _, c := range t.Checks {
		c.Of = slices.DeleteFunc(slices.Clone(c.Of), func(address string) bool { return gone[address] })
		out.Checks = append(out.Checks, c)
	}
	return out, err
}
