package activities

import (
	"context"
	"reflect"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/step"
)

// alike reports whether two results of a kind have the same bytes, and if not, which
// outputs differ in nothing but what they tell of their run.
func (a *Activities) alike(ctx context.Context, spec *step.Spec, x, y map[string]artifacts.Artifact) (same bool, clock []string, err error) {
	same = len(x) == len(y)
	for name, p := range x {
		q, there := y[name]
		if reflect.DeepEqual(p, q) {
			continue
		}
		fields, tells := spec.Clock[name]
		if there && tells && len(fields) > 0 {
			if tells, err = a.butFields(ctx, p.Digest, q.Digest, fields); err != nil {
				return false, nil, err
			}
		}
		if there && tells {
			clock = append(clock, name)
		} else {
			same = false
		}
	}
	slices.Sort(clock)
	return same, clock, nil
}

// butFields compares two JSON blobs without some fields.
func (a *Activities) butFields(ctx context.Context, x, y artifacts.Digest, fields []string) (bool, error) {
	var values [2]any
	for i, d := range []artifacts.Digest{x, y} {
		if err := readJSON(ctx, a.Store.Blobs, d, &values[i]); err != nil {
			return false, err
		}
		drop(values[i], fields)
	}
	return reflect.DeepEqual(values[0], values[1]), nil
}

func drop(v any, fields []string) {
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v {
			if slices.Contains(fields, name) {
				delete(v, name)
				continue
			}
			drop(x, fields)
		}
	case []any:
		for _, x := range v {
			drop(x, fields)
		}
	}
}
