package step

import "fmt"

// Registry is the explicit list of kinds that a program knows.
type Registry struct {
	specs  []Spec
	byName map[string]*Spec
}

// NewRegistry lists the given kinds, each followed by its parts. Two kinds with the same name are
// a programming error and panic.
func NewRegistry(kinds ...Spec) *Registry {
	r := &Registry{byName: map[string]*Spec{}}
	for _, k := range kinds {
		r.specs = append(append(r.specs, k), k.Kind.Parts...)
	}
	for i := range r.specs {
		s := &r.specs[i]
		if r.byName[s.Name] != nil {
			panic(fmt.Sprintf("kind %q is listed twice", s.Name))
		}
		r.byName[s.Name] = s
	}
	return r
}

// Kinds returns the kinds, and their parts after them, in the order of the list.
func (r *Registry) Kinds() []Spec { return r.specs }

// Lookup finds a kind by name; nil if there is none.
func (r *Registry) Lookup(name string) *Spec { return r.byName[name] }
