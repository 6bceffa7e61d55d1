package step

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/redsi/redsi/artifacts"
)

// Check is something that must be true of a result before anything reads it: of a number
// that the step counted, or of one in a JSON output. It is in no key: a result that fails
// a check is kept, and is judged again when the check changes.
type Check struct {
	Name    string `json:"name"`             // for people
	Counts  string `json:"counts,omitempty"` // what was counted
	Field   string `json:"field,omitempty"`  // or OUTPUT:PATH, with dots, elements of lists by number
	Min     *Limit `json:"min,omitempty"`
	Max     *Limit `json:"max,omitempty"`
	Equals  *Limit `json:"equals,omitempty"`
	Warning bool   `json:"warning,omitempty"` // it stops nothing
	At      string `json:"at,omitempty"`      // FILE:LINE

	// Of has the addresses of the steps whose numbers limits by name are, all read by this
	// step: their sum counts. None: this step itself.
	Of []string `json:"of,omitempty"`
}

// Opener reads what is stored under a digest.
type Opener = func(context.Context, artifacts.Digest) (io.ReadCloser, error)

// Remembered opens what was read once from memory: the checks of many steps read the same
// small outputs. It keeps at most mostChecked bytes, and may be used by many at once.
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

func (c Check) sentence(problem string) string {
	return fmt.Sprintf("check %q fails: %s (%s)", c.Name, problem, c.At)
}

// problem says why the check fails; "" if it does not.
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
	if len(names) == 0 {
		return "nothing"
	}
	for i, n := range names {
		names[i] = strconv.Quote(n)
	}
	return strings.Join(names, ", ")
}

func readAll(ctx context.Context, open Opener, d artifacts.Digest) ([]byte, error) {
	rc, err := open(ctx, d)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(rc)
	return b, errors.Join(err, rc.Close())
}

// readChecked reads an output; why says that a check cannot judge it.
func readChecked(ctx context.Context, a artifacts.Artifact, open Opener) (doc any, why string, err error) {
	if a.Size > mostChecked {
		return nil, fmt.Sprintf("the output has %d bytes; a check reads at most %d", a.Size, mostChecked), nil
	}
	b, err := readAll(ctx, open, a.Digest)
	if err != nil {
		return nil, "", err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		return nil, fmt.Sprintf("the output is not JSON: %v", err), nil
	}
	return doc, "", nil
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
	case inexact(at):
		return 0, fmt.Sprintf("%v has more digits than a check compares, 53 bits", at)
	}
	return v, ""
}
