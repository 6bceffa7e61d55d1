package step

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Without is a configuration without some of the references in its lists and maps: drop says of each whether it
// goes. can is false of one that cannot: it is an attribute by itself, or all that there is of one. An error says
// what would have nothing left.
func (s *Spec) Without(tree map[string]any, drop func(ref Ref, can bool) bool) (map[string]any, error) {
	out, err := without(tree, s.Attrs, "", false, drop)
	if err != nil {
		return nil, fmt.Errorf("kind %s: %w", s.Name, err)
	}
	return out, nil
}

// without is Without of an object; one of a list may lose all of an attribute, as a row of a table does.
func without(of map[string]any, attrs []Attr, path string, listed bool, drop func(Ref, bool) bool) (map[string]any, error) {
	out := make(map[string]any, len(of))
	for name, v := range of {
		for i := range attrs {
			if attrs[i].Name != name || !attrs[i].Type.HasInput() {
				continue
			}
			kept, left, err := withoutIn(v, attrs[i].Type, join(path, name), listed && attrs[i].Optional, drop)
			if err != nil {
				return nil, err
			}
			if v = kept; !left {
				v = nil
			}
		}
		if v != nil {
			out[name] = v
		}
	}
	return out, nil
}

// withoutIn is Without of a value, and whether something is left of it; it may be nothing if it is in a list or map.
func withoutIn(v any, t Type, path string, may bool, drop func(Ref, bool) bool) (kept any, left bool, err error) {
	gone := func(v any, can bool) bool {
		in, ok := v.(Input)
		return ok && in.Ref != nil && drop(*in.Ref, can)
	}
	lost := func() (any, bool, error) {
		if !may {
			err = fmt.Errorf("%s: nothing is left of it: all that it reads is left out", path)
		}
		return nil, false, err
	}
	switch v := v.(type) {
	case Input:
		if gone(v, may) {
			return lost()
		}
	case []any:
		list := make([]any, 0, len(v))
		for i, e := range v {
			if t.Kind == InputMany {
				if !gone(e, may || len(v) > 1) {
					list = append(list, e)
				}
				continue
			}
			kept, left, err := withoutIn(e, *t.Elem, fmt.Sprintf("%s[%d]", path, i), true, drop)
			if err != nil {
				return nil, false, err
			}
			if left {
				list = append(list, kept)
			}
		}
		if len(list) == 0 && len(v) > 0 {
			return lost()
		}
		return list, true, nil
	case map[string]any:
		if t.Kind == Object {
			out, err := without(v, t.Attrs, path, may, drop)
			return out, true, err
		}
		out := make(map[string]any, len(v))
		for _, k := range sortedKeys(v) {
			kept, left, err := withoutIn(v[k], *t.Elem, join(path, k), true, drop)
			if err != nil {
				return nil, false, err
			}
			if left {
				out[k] = kept
			}
		}
		if len(out) == 0 && len(v) > 0 {
			return lost()
		}
		return out, true, nil
	}
	return v, true, nil
}

// lacksAttr is the attribute of kinds that say how many of the steps that they gather they are without: it is filled in.
const lacksAttr = "lacks"

// Without is the task without what it reads of some steps in its lists and maps, by their addresses.
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
