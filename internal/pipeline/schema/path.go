package schema

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/redsi/redsi/step"
)

// Key is a key of a map. Paths within a configuration are lists of string (attribute), int (element of a list) and Key.
type Key string

// Show writes a path as step.Problem does: rows[2].cells, weights["a"].
func Show(path []any) string {
	var b strings.Builder
	for _, p := range path {
		switch p := p.(type) {
		case string:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(p)
		case int:
			fmt.Fprintf(&b, "[%d]", p)
		case Key:
			fmt.Fprintf(&b, "[%q]", string(p))
		}
	}
	return b.String()
}

// pattern is a path without what differs between the elements of one list or map.
func pattern(path []any) string {
	general := make([]any, len(path))
	for i, p := range path {
		switch p.(type) {
		case int:
			general[i] = 0
		case Key:
			general[i] = Key("")
		default:
			general[i] = p
		}
	}
	return Show(general)
}

var pathPart = regexp.MustCompile(`^(?:\.?([^.\[]+)|\[([0-9]+)\]|\[("(?:[^"\\]|\\.)*")\])`)

// ParsePath reads what Show writes, and of other forms as much as it understands: the place is then less exact.
func ParsePath(s string) (path []any) {
	for {
		m := pathPart.FindStringSubmatch(s)
		if m == nil {
			return path
		}
		s = s[len(m[0]):]
		if k, err := strconv.Unquote(m[3]); err == nil {
			path = append(path, Key(k))
		} else if i, err := strconv.Atoi(m[2]); err == nil {
			path = append(path, i)
		} else if m[1] != "" {
			path = append(path, m[1])
		} else {
			return path
		}
	}
}

// AttrOf is the attribute of that name; nil if there is none.
func AttrOf(attrs []step.Attr, name string) *step.Attr {
	if i := slices.IndexFunc(attrs, func(a step.Attr) bool { return a.Name == name }); i >= 0 {
		return &attrs[i]
	}
	return nil
}

// FilledIn reports an attribute that loading or planning sets, so that nobody writes it.
func FilledIn(a *step.Attr) bool { return strings.HasPrefix(a.Help, "filled in ") }

// held is what an attribute's blocks hold, which attribute a label fills ("": none), and whether several are allowed.
func held(a *step.Attr) (object step.Type, label string, several bool) {
	object, several = a.Type, a.Type.Kind == step.List
	if several {
		object = *a.Type.Elem
	}
	for _, within := range object.Attrs {
		if within.Label {
			label = within.Name
		}
	}
	return object, label, several
}

// Typos are attributes, by block, that a misspelled name most likely meant: that they are missing is no news.
type Typos map[string]bool

func (t Typos) add(block hcl.Range, attr string) { t[block.String()+" "+attr] = true }

func (t Typos) has(block hcl.Range, attr string) bool { return t[block.String()+" "+attr] }

// flatten lists the problems in an error, of whatever make it is.
func flatten(err error) step.Problems {
	var many step.Problems
	var one step.Problem
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			many = append(many, flatten(e)...)
		}
		return many
	}
	switch {
	case errors.As(err, &many):
		return many
	case errors.As(err, &one):
		return step.Problems{one}
	}
	return step.Problems{{Detail: err.Error()}}
}
