package step

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
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

// Elsewhere says whether the second program computes a task, since this one cannot.
func (s *Spec) Elsewhere(tree map[string]any) (bool, error) {
	if s.Computable() {
		return false, nil
	}
	return ofTree(s, s.elsewhere, tree)
}

func (s *Spec) elsewhere(c any) bool { return s.Kind.Run == nil || s.Unless != nil && !s.Unless(c) }

// Computable says whether this program computes all tasks of the kind.
func (s *Spec) Computable() bool { return s.Kind.Run != nil && s.Kind.Unless == nil }

// NeedsSecond says whether a step of the configuration, or a part that it may be cut into,
// is computed by the second program. Of a part all configurations count.
func (s *Spec) NeedsSecond(tree map[string]any) bool {
	if elsewhere, err := s.Elsewhere(tree); err != nil || elsewhere {
		return err == nil
	}
	return slices.ContainsFunc(s.Kind.Parts, func(p Spec) bool { return p.Kind.Run == nil })
}

// SecondFor is what the second program is needed for by steps of the kind or by their parts;
// "" if by none.
func (s *Spec) SecondFor() string {
	needs := s.Needs
	for _, p := range s.Kind.Parts {
		needs = cmp.Or(needs, p.Needs)
	}
	return needs
}

// DeviceOf is where a task is to compute: "cpu", "auto", "cuda", "cuda:1"; "" for kinds that
// do not ask.
func (s *Spec) DeviceOf(tree map[string]any) (string, error) {
	return ofTree(s, s.Kind.Device, tree)
}

// Fingerprint is the same in two programs that mean the same by a kind.
func (s *Spec) Fingerprint() string {
	b, err := json.Marshal(s.Attrs)
	if err != nil {
		panic(err) // a schema is made of texts, numbers and lists
	}
	return fmt.Sprintf("%d %x", s.Version, sha256.Sum256(b))
}
