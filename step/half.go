package step

import (
	"context"
	"fmt"
	"reflect"
)

// Half is the computing half of a declared kind, which only the second program has.
type Half struct {
	kind       string
	configType reflect.Type
	run        func(context.Context, *IO, any) error
}

// Compute gives a kind that is declared with Needs its Run. A configuration that is not the
// kind's is a programming error and panics.
func Compute[C any](declared Spec, run func(ctx context.Context, io *IO, c C) error) Half {
	h := Half{declared.Name, reflect.TypeFor[C](), func(ctx context.Context, io *IO, c any) error { return run(ctx, io, c.(C)) }}
	if declared.Needs == "" || declared.configType != h.configType {
		panic(fmt.Sprintf("kind %q is computed by redsi itself, or has another configuration than %s", declared.Name, h.configType))
	}
	return h
}

// WithHalves are the kinds, and their parts, with the halves. A half of a kind that is not there
// is left out: a program may know fewer kinds.
func WithHalves(kinds []Spec, halves ...Half) []Spec {
	of := map[string]Half{}
	for _, h := range halves {
		of[h.kind] = h
	}
	var join func(list []Spec) []Spec
	join = func(list []Spec) []Spec {
		var out []Spec
		for _, s := range list {
			if h, ok := of[s.Name]; ok && h.configType == s.configType {
				s.Kind.Run, s.Kind.Unless = h.run, nil
			}
			s.Kind.Parts = join(s.Kind.Parts)
			out = append(out, s)
		}
		return out
	}
	return join(kinds)
}
