package fit

import (
	"math"

	"github.com/redsi/redsi/internal/model/amp"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/train"
)

// unread is how many updates are asked of a card before the host waits for it, to read their outcomes.
const unread = 50

// leastScale is the lowest loss scale that training goes on with. Gradients overflow in spite of it, and smaller ones
// would soon be 0.
const leastScale = 1

// What an update brings to the card besides its batch, in front of it.
const (
	rateAndShare = iota // two float32 numbers: the learning rate, and the part's share of the batch's labels
	outcome             // where in the scaler's ring the update's outcome is kept
	ownNumbers
)

func own(rate, share float64, slot int64) [ownNumbers]int64 {
	return [ownNumbers]int64{int64(math.Float32bits(float32(rate))) | int64(math.Float32bits(float32(share)))<<32, slot}
}

// cardUpdate is what an update is computed with on a card. Its methods ask a card for the same whenever shapes
// are the same: all that changes between updates is in numbers, which lie on the card.
type cardUpdate struct {
	*Seq2Seq
	*tensor.Scope
	numbers *tensor.Tensor
	rng     *tensor.RNG
}

func (u cardUpdate) word(i int64) *tensor.Tensor {
	return u.Narrow(u.Bits(u.Narrow(u.numbers, 0, rateAndShare, 1), tensor.F32), 0, i, 1)
}
func (u cardUpdate) rate() *tensor.Tensor  { return u.word(0) }
func (u cardUpdate) share() *tensor.Tensor { return u.word(1) }

// change updates the parameters by gradients of the batch's mean loss per label, times the scaler's scale.
func (u cardUpdate) change(loss *tensor.Tensor, grads []*tensor.Tensor) {
	tensor.NoGrad(func() {
		u.card.Check(loss, grads, u.Narrow(u.numbers, 0, outcome, 1))
		u.Optimizer.StepOn(grads, u.rate(), u.card)
	})
}

// part adds a part's loss and gradients, times its share, to sum; the first one's take its place. Sums are
// of the gradients' types.
func (u cardUpdate) part(p part, first bool) {
	if first {
		u.Model.Refresh()
	}
	share, scale := u.share(), u.share()
	tensor.NoGrad(func() {
		if on := u.card.Scale; on != nil {
			scale = u.Mul(share, on)
		}
	})
	loss, grads := u.Model.GradientsAt(u.Scope, p.prepared, u.numbers, u.rng, seq2seq.Scale{On: scale})
	tensor.NoGrad(func() {
		grads = append(grads, u.Mul(loss, u.View(share)))
		switch {
		case u.sum == nil:
			for _, g := range grads {
				u.sum = append(u.sum, u.asked.scope.Move(g))
			}
		case first:
			u.CopyAll(u.sum, grads)
		default:
			u.AddAll(u.sum, grads)
		}
	})
}

// stepOnCard updates the model on a card, and does not wait for it: the card decides whether loss and gradients are
// finite, by what they are divided and whether anything changes.
func (l *Seq2Seq) stepOnCard(parts []part, seed uint64, rate float64) {
	l.begin()
	if l.card.Full() {
		l.read()
	}
	defer turn(l.Model.Device)()
	ask := func(c call, numbers []int64, rng *tensor.RNG, f func(cardUpdate)) {
		l.asked.do(c, numbers, !l.OneByOne && !l.Model.Checkpoint, func(s *tensor.Scope, numbers *tensor.Tensor) {
			f(cardUpdate{l, s, numbers, rng})
		})
	}
	for k, p := range parts {
		rng := &tensor.RNG{Seed: seed, Counter: uint64(k)} // a replay draws nothing of it
		tensor.SeedDevice(l.Model.Device, rng)
		first, numbers := own(rate, p.share, l.card.Slot()), p.prepared.Numbers
		copy(numbers, first[:])
		c := call{single, p.prepared.Shapes()}
		if len(parts) == 1 {
			ask(c, numbers, rng, func(u cardUpdate) {
				u.Model.Refresh()
				u.change(u.Model.GradientsAt(u.Scope, p.prepared, u.numbers, u.rng, seq2seq.Scale{On: u.card.Scale}))
			})
			continue
		}
		if c.what = another; k == 0 {
			c.what = one
		}
		ask(c, numbers, rng, func(u cardUpdate) { u.part(p, k == 0) })
	}
	if len(parts) > 1 {
		numbers := own(rate, 1, l.card.Slot())
		ask(call{what: last}, numbers[:], nil, func(u cardUpdate) {
			n := len(l.sum) - 1
			u.change(l.sum[n], l.sum[:n])
		})
	}
	l.card.Checked()
	l.Model.Changed()
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
	card.Restore(l.scaler)
	l.card, l.asked = card, newRecorder(l.Model.Device)
}

// end frees what is on the card for training, after it has done what it was asked for.
func (l *Seq2Seq) end() {
	if l.card == nil {
		return
	}
	_ = tensor.Try(l.read) // a card that has failed does nothing more
	l.asked.close()
	l.card.Close()
	l.card, l.asked, l.sum = nil, nil, nil
}

// read waits for the card, and takes note of the outcomes of the updates since the last time.
func (l *Seq2Seq) read() {
	defer turn(l.Model.Device)()
	state, updates := l.card.Read()
	l.scaler = state
	half := l.Model.Compute == tensor.F16
	for _, u := range updates {
		loss := train.Loss{Value: u.Loss}
		if train.Finite(u.Loss) {
			l.inRow = 0
			loss.Gradients = u.Left && !half // where fp16 overflows a smaller scale helps
		} else if l.inRow++; half && l.inRow <= mostInRow {
			loss = train.Loss{Left: true}
		}
		l.losses = append(l.losses, loss)
	}
	if half && len(updates) > 0 && state.Scale < leastScale {
		l.losses[len(l.losses)-1].Scale = state.Scale
	}
}
