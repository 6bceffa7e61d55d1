package step

import (
	"errors"
	"fmt"
	"slices"
)

// Output is something a kind leaves behind.
type Output struct {
	Name string
	Type string // artifact type, such as "nq/records"; inputs with accepts ask for it
	Help string
	Tree bool // many named files rather than one blob

	// Optional outputs are those of some configurations only: a result may lack them.
	Optional bool

	// Fields, if set, declares the JSON that the output is; see FieldsOf. What reads a
	// field of it, such as a table, is checked before anything runs.
	Fields *Fields

	// Alike decides whether two results whose bytes differ count as equal; nil: see Rule.
	// Why is its reason, for people.
	Alike Alike
	Why   string
}

// Rule is how two of the output are compared: what it declares, of JSON with numbers that
// are not whole Numbers within the rounding of sums, else Bytes.
func (o Output) Rule() Alike {
	if o.Alike != nil {
		return o.Alike
	}
	if o.Fields != nil {
		for _, f := range o.Fields.All() {
			if f.Type == Float {
				return Numbers{Margin: Margin{Rel: rounding}}
			}
		}
	}
	return Bytes{}
}

// CheckAlike says what is wrong with a rule that somebody else wrote.
func CheckAlike(a Alike) error { return a.check() }

// checkAlike panics on a rule that cannot be gone by: a programming error.
func checkAlike(kind string, outputs []Output) {
	for _, o := range outputs {
		err := o.Rule().check()
		if r, ok := o.Rule().(Follows); ok {
			if !slices.ContainsFunc(outputs, func(p Output) bool { return p.Name == r.Output && p.Name != o.Name }) {
				err = fmt.Errorf("there is no other output %q", r.Output)
			}
		}
		_, files := o.Rule().(Files)
		if err == nil && files && !o.Tree {
			err = errors.New("it is not a tree")
		}
		if err != nil {
			panic(fmt.Sprintf("kind %q: how %s is compared: %v", kind, o.Name, err))
		}
	}
}
