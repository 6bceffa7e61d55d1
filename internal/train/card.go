//go:build !notorch

package train

import (
	"github.com/redsi/redsi/internal/amp"
	"github.com/redsi/redsi/internal/seq2seq"
	"github.com/redsi/redsi/internal/tensor"
)

// unread is how many updates are made on a card before it is waited for, to learn what they
// came to.
const unread = 50

// stepOnCard makes an update on a card, and does not wait for it: whether loss and gradients
// are finite, by what they are divided and whether anything changes is decided there.
func (l *Seq2Seq) stepOnCard(s *tensor.Scope, parts []part, rng *tensor.RNG, rate float64) {
	l.begin()
	if l.card.Full() {
		l.read()
	}
	loss, grads := l.gradientsOnCard(s, parts, rng)
	tensor.NoGrad(func() {
		on, slot := l.numbers(s, rate)
		l.card.Check(loss, grads, slot)
		l.Optimizer.StepOn(grads, on, l.card)
	})
	l.card.Made()
	l.Model.Changed()
}

// numbers are what an update takes from the host, on the card: the rate, and the slot of its outcome.
func (l *Seq2Seq) numbers(s *tensor.Scope, rate float64) (on, slot *tensor.Tensor) {
	return s.Full(rate, tensor.F32, l.Model.Device, 1), s.Full(float64(l.card.Slot()), tensor.I64, l.Model.Device, 1)
}

// begin brings the state to the card, before the first step there.
func (l *Seq2Seq) begin() {
	if l.card != nil {
		return
	}
	card, err := amp.New(l.Model.Device, amp.Options{Scaled: l.Model.Compute == tensor.F16, ClipNorm: l.ClipNorm, Ring: unread})
	if err != nil {
		tensor.Failf("Train", "%v", err)
	}
	card.Restore(amp.State{Scale: l.scaler.Scale, Good: l.scaler.Good, Skipped: l.skipped})
	l.card = card
}

// read waits for the card, and takes note of what the updates since the last time came to.
func (l *Seq2Seq) read() {
	state, updates := l.card.Read()
	l.scaler, l.skipped = Scaler{Scale: state.Scale, Good: state.Good}, state.Skipped
	half := l.Model.Compute == tensor.F16
	for _, u := range updates {
		loss := Loss{Value: u.Loss}
		if finite(u.Loss) {
			l.inRow = 0
			loss.Gradients = u.Left && !half // where fp16 overflows a smaller scale helps
		} else if l.inRow++; half && l.inRow <= mostInRow {
			loss = Loss{Left: true}
		}
		l.losses = append(l.losses, loss)
	}
}

// gradientsOnCard are those of the batch's mean loss per label, times the scaler's scale. The
// sum over parts is taken in the type of the gradients.
func (l *Seq2Seq) gradientsOnCard(s *tensor.Scope, parts []part, rng *tensor.RNG) (loss *tensor.Tensor, sum []*tensor.Tensor) {
	if len(parts) == 1 {
		return l.Model.Gradients(s, parts[0].prepared, rng, seq2seq.Scale{On: l.card.Scale()})
	}
	for k, p := range parts {
		tensor.Within(func(inner *tensor.Scope) {
			of, grads := l.Model.Gradients(inner, p.prepared, rng, seq2seq.Scale{By: p.share, On: l.card.Scale()})
			tensor.NoGrad(func() {
				of = inner.Scale(of, p.share)
				if k == 0 {
					loss, sum = s.Move(of), grads
					for _, g := range grads {
						s.Move(g)
					}
					return
				}
				inner.AddInPlace(loss, of)
				inner.AddAll(sum, grads)
			})
		})
	}
	return loss, sum
}
