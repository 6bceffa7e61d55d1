package step

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/artifacts"
)

// Check is something that must be true of a result before anything reads it: of a number
// that the step counted, or of one in a JSON output. It is in no key: a result that fails
// a check is kept, and is judged anew when the check is another.
type Check struct {
	Name    string   `json:"name"`             // for people
	Counts  string   `json:"counts,omitempty"` // what was counted
	Field   string   `json:"field,omitempty"`  // or OUTPUT:PATH, with dots, elements of lists by number
	Min     *float64 `json:"min,omitempty"`
	Max     *float64 `json:"max,omitempty"`
	Warning bool     `json:"warning,omitempty"` // it stops nothing
	At      string   `json:"at,omitempty"`      // FILE:LINE
}

// mostChecked bounds an output that a check reads.
const mostChecked = 16 << 20

// Problems are the checks that a result does not pass, as sentences for people: those that
// stop what reads it, and those that only warn.
func (t Task) Problems(ctx context.Context, r *artifacts.Result, open func(context.Context, artifacts.Digest) (io.ReadCloser, error)) (stops, warnings []string, err error) {
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

func (c Check) sentence(problem string) string {
	return fmt.Sprintf("check %q fails: %s (%s)", c.Name, problem, c.At)
}

// problem says why the check fails; "" if it does not.
func (c Check) problem(ctx context.Context, r *artifacts.Result, open func(context.Context, artifacts.Digest) (io.ReadCloser, error)) (string, error) {
	of := c.Counts
	var v float64
	if c.Counts != "" {
		n, ok := r.Counts[c.Counts]
		if !ok {
			return fmt.Sprintf("it counted no %q, but %s", c.Counts, quotedList(slices.Sorted(maps.Keys(r.Counts)))), nil
		}
		v = float64(n)
	} else {
		of = c.Field
		output, path, _ := strings.Cut(c.Field, ":")
		a, ok := r.Outputs[output]
		if !ok || a.Files != nil {
			return fmt.Sprintf("it has no output %q that is one file, but %s", output, quotedList(slices.Sorted(maps.Keys(r.Outputs)))), nil
		}
		doc, err := readChecked(ctx, a, open)
		if err != nil {
			return "", err
		}
		var why string
		if v, why = numberAt(doc, path); why != "" {
			return c.Field + ": " + why, nil
		}
	}
	switch {
	case c.Min != nil && v < *c.Min:
		return fmt.Sprintf("%s is %v, and %v is the least", of, v, *c.Min), nil
	case c.Max != nil && v > *c.Max:
		return fmt.Sprintf("%s is %v, and %v is the most", of, v, *c.Max), nil
	}
	return "", nil
}

func quotedList(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	for i, n := range names {
		names[i] = strconv.Quote(n)
	}
	return strings.Join(names, ", ")
}

func readChecked(ctx context.Context, a artifacts.Artifact, open func(context.Context, artifacts.Digest) (io.ReadCloser, error)) (any, error) {
	if a.Size > mostChecked {
		return nil, fmt.Errorf("the output has %d bytes, and %d is the most that a check reads", a.Size, mostChecked)
	}
	rc, err := open(ctx, a.Digest)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(rc)
	if cerr := rc.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, err
	}
	var doc any
	if err := json.NewDecoder(bytes.NewReader(b)).Decode(&doc); err != nil {
		return nil, Permanent(fmt.Errorf("the output is no JSON: %w", err))
	}
	return doc, nil
}

// numberAt follows a path to a number, or says why there is none.
func numberAt(doc any, path string) (float64, string) {
	at := doc
	for _, name := range strings.Split(path, ".") {
		switch x := at.(type) {
		case map[string]any:
			next, ok := x[name]
			if !ok {
				return 0, fmt.Sprintf("there is no %q, but %s", name, quotedList(slices.Sorted(maps.Keys(x))))
			}
			at = next
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(x) {
				return 0, fmt.Sprintf("there is no element %s of %d", name, len(x))
			}
			at = x[i]
		default:
			return 0, fmt.Sprintf("there is nothing below %v", at)
		}
	}
	v, ok := at.(float64)
	if !ok {
		return 0, fmt.Sprintf("%v is no number", at)
	}
	return v, ""
}
