// Package amp decides about an update on the device that computed it: whether loss and gradients are finite, by what
// they are divided (the loss scale of float16, as torch's GradScaler chooses it, and clipping of their norm, as
// torch.nn.utils.clip_grad_norm_ does it), and what the next scale is. The host does not wait for the device: losses
// and decisions are kept there until Read, which gets all of them in one transfer.
//
// It knows of tensors, not of optimizers, models or files.
package amp

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/redsi/redsi/internal/model/tensor"
)

// firstScale is the default of torch's GradScaler.
const firstScale = 65536

// Options of a Scaler.
type Options = tensor.ScalerOptions

// State is what a checkpoint keeps of a Scaler.
type State struct {
	Scale   float64 `json:"scale"`   // what the loss is multiplied by
	Good    int     `json:"good"`    // updates since it changed
	Skipped int64   `json:"skipped"` // updates that were left out
}

// Start is the state before the first update.
func Start() State { return State{Scale: firstScale} }

// Update is the outcome of one update.
type Update struct {
	Loss float64
	Left bool // nothing was changed: the loss or a gradient is not finite
}

// Scaler belongs to one goroutine. Its methods must be called within tensor.Run or tensor.Try. Its tensors are the same
// until Close.
type Scaler struct {
	// Scale is the factor that the loss must be multiplied by before gradients are taken, a float32 scalar that Check
	// changes; nil where the factor is always 1.
	Scale *tensor.Tensor
	// Found is 1 where the last update that was checked is to be left out, else 0: float32 [1].
	Found *tensor.Tensor
	// Divisor is what the gradients of the last update that was checked are to be divided by, float32 [1]; nil where
	// they are taken as they are.
	Divisor *tensor.Tensor

	options Options
	scope   *tensor.Scope
	state   *tensor.Tensor // float32: tensor.ScalerWords, losses, flags
	n       int            // updates in the ring
	kept    State          // as of the last Read
}

// New is a Scaler in the state Start.
func New(device tensor.Device, o Options) (*Scaler, error) {
	if o.Ring < 1 || !(o.ClipNorm >= 0) || math.IsInf(o.ClipNorm, 1) {
		return nil, fmt.Errorf("amp: options %+v", o)
	}
	a := &Scaler{options: o, scope: tensor.NewScope()}
	err := tensor.Try(func() {
		a.state = a.scope.Zeros(tensor.F32, device, int64(tensor.ScalerWords+2*o.Ring))
		a.Restore(Start())
		if o.Scaled {
			a.Scale = a.scope.Select(a.state, 0, 0)
		}
		if o.Scaled || o.ClipNorm > 0 {
			a.Divisor = a.scope.Narrow(a.state, 0, tensor.ScalerWords-3, 1)
		}
		a.Found = a.scope.Narrow(a.state, 0, tensor.ScalerWords-1, 1)
	})
	if err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

func (a *Scaler) Close() { a.scope.Close() }

// Restore sets the state, as Read gave it; updates that were not read are forgotten.
func (a *Scaler) Restore(s State) {
	words := make([]float32, a.state.Numel())
	words[0], words[1] = float32(s.Scale), math.Float32frombits(uint32(s.Good))
	tensor.Within(func(inner *tensor.Scope) {
		inner.CopyInPlace(a.state, inner.FromFloat32s(words, a.state.Device(), int64(len(words))))
	})
	a.kept, a.n = s, 0
}

// Slot is where Check keeps the outcome of the next update. It fails where updates must be read before.
func (a *Scaler) Slot() int64 {
	a.room("Slot")
	return int64(a.n)
}

// Check decides about an update: loss is one number, not multiplied by Scale; the gradients, of any float types, are of
// the loss times Scale, and are not changed. They are read once: if their norm is finite in float32, they are taken to
// be finite, so a gradient beyond 1e19 is bad, too. Slot, int64 [1] on the device, holds what Slot returned. Check
// takes no memory to speak of.
//
// Check neither reads nor changes a number of the host: a recorded call may be replayed, with tensors at the same
// places. Checked must follow each call and each replay.
func (a *Scaler) Check(loss *tensor.Tensor, grads []*tensor.Tensor, slot *tensor.Tensor) {
	a.scope.CheckInPlace(a.state, loss, grads, slot, a.options)
}

// Checked counts an update that was checked, by a call of Check or by a replay of one.
func (a *Scaler) Checked() {
	a.room("Checked")
	a.n++
}

func (a *Scaler) room(op string) {
	if a.Full() {
		tensor.Failf(op, "%d updates were not read", a.n)
	}
}

// Full says that Read must be called before the next update.
func (a *Scaler) Full() bool { return a.n == a.options.Ring }

// Read waits for the device, and gives the state and the updates since the last Read, the oldest
// first: one transfer. Without updates it gives the state as it was, and does not wait.
func (a *Scaler) Read() (State, []Update) {
	if a.n == 0 {
		return a.kept, nil
	}
	words := a.state.Bytes()
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(words[4*i:]) }
	number := func(i int) float64 { return float64(math.Float32frombits(word(i))) }
	a.kept.Scale, a.kept.Good = number(0), int(int32(word(1)))
	updates := make([]Update, a.n)
	for i := range updates {
		updates[i] = Update{Loss: number(tensor.ScalerWords + i), Left: number(tensor.ScalerWords+a.options.Ring+i) != 0}
		if updates[i].Left {
			a.kept.Skipped++
		}
	}
	a.n = 0
	return a.kept, updates
}
