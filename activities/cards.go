package activities

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/internal/device"
	"github.com/redsi/redsi/internal/usage"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// noteCard keeps with a step's result which card it computes on, and measures what it has
// there.
func noteCard(x *step.IO, span *usage.Span, card int) {
	facts := device.FactsOf(card)
	for _, f := range facts {
		x.Note(f.Name, f.Text)
	}
	span.OnCard(usage.Card{Name: facts[0].Text, Memory: usage.Level{
		Now:  func() (int64, bool) { now, _, ok := device.Memory(card); return now, ok },
		High: func() (int64, bool) { _, most, ok := device.Memory(card); return most, ok },
	}})
}

// breaks notes that this process can compute no more, and tells it once.
func (a *Activities) breaks(err error) {
	a.mu.Lock()
	first := a.broken == nil
	if first {
		a.broken = err
	}
	a.mu.Unlock()
	if first && a.Broken != nil {
		a.Broken(err)
	}
}

// isWhole refuses, for another worker, what computes in a process that cannot any more.
func (a *Activities) isWhole(req workflows.ExecuteRequest, task step.Task) error {
	a.mu.Lock()
	broken := a.broken
	a.mu.Unlock()
	if broken == nil {
		return nil
	}
	if spec := a.Registry.Lookup(task.Kind); spec == nil || spec.Needs == "" {
		return nil
	}
	return temporal.NewApplicationErrorWithOptions(errorText(fmt.Errorf("%s: this worker can compute no more and ends: left to another one", req.Address)),
		workflows.TransientError, temporal.ApplicationErrorOptions{NextRetryDelay: time.Second})
}
