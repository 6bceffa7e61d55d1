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

// withoutIn is Without of a value: nil if nothing is left of it, which may be if it is in a list or map.
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
