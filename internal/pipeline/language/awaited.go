package language

import (
	"maps"

	"github.com/redsi/redsi/step"
)

// Awaited is what the evaluation of a node, or of an instance of it, asked of outputs.
type Awaited struct {
	Refs map[step.Ref]bool // that are not there yet
	On   map[string]bool   // pending steps whose value is not known
	Made bool              // of one that is there
}

// Any reports whether what was evaluated may be unknown for a reason that will pass.
func (a *Awaited) Any() bool { return a != nil && len(a.Refs) > 0 }

// Add makes a await what b does.
func (a *Awaited) Add(b *Awaited) {
	if b != nil {
		a.Made = a.Made || b.Made
		maps.Copy(a.Refs, b.Refs)
		maps.Copy(a.On, b.On)
	}
}

// Awaiting is what begins with what others wait for.
func Awaiting(others ...*Awaited) *Awaited {
	a := &Awaited{Refs: map[step.Ref]bool{}, On: map[string]bool{}}
	for _, b := range others {
		a.Add(b)
	}
	return a
}
