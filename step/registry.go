package step

import "fmt"

// Registry is the explicit list of kinds that a program knows.
type Registry struct {
	specs  []Spec
	byName map[string]*Spec
}

// NewRegistry lists the given kinds. Two kinds of one name, or a part that is
// not in the list, are programming errors and panic.
func NewRegistry(specs ...Spec) *Registry {
	r := &Registry{specs: specs, byName: make(map[string]*Spec, len(specs))}
	for i := range specs {
		s := &r.specs[i]
		if r.byName[s.Name] != nil {
			panic(fmt.Sprintf("kind %q is listed twice", s.Name))
		}
		r.byName[s.Name] = s
	}
	for _, s := range specs {
		for _, p := range s.Parts {
			if r.byName[p] == nil {
				panic(fmt.Sprintf("kind %q splits into %q, which is not listed", s.Name, p))
			}
		}
	}
	return r
}

// Kinds returns the kinds in the order of the list.
func (r *Registry) Kinds() []Spec { return r.specs }

// Lookup finds a kind by name; nil if there is none.
func (r *Registry) Lookup(name string) *Spec { return r.byName[name] }
