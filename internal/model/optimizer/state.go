package optimizer

import (
	"fmt"
	"io"
	"strconv"

	"github.com/redsi/redsi/internal/model/amp"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
)

// state is what an optimizer keeps from update to update: tensors by name, and how many updates there were.
type state struct {
	params  []checkpoint.Named
	scope   *tensor.Scope
	tensors []checkpoint.Named
	steps   int64
	counter *tensor.Tensor // of updates, on the device, once nextOn was called, which steps does not know of; scope's
}

// begin returns the state at step 0, to which means adds the means of each parameter.
func begin(params []checkpoint.Named, means func(s *state, p checkpoint.Named)) (*state, error) {
	s := &state{params: params, scope: tensor.NewScope()}
	err := tensor.Try(func() {
		for _, p := range params {
			means(s, p)
		}
	})
	if err != nil {
		s.Close()
	}
	return s, err
}

func (s *state) Close() { s.scope.Close() }

// zeros adds a float32 tensor of a parameter's and says which place it has.
func (s *state) zeros(p checkpoint.Named, name string, shape ...int64) (place int) {
	s.tensors = append(s.tensors, checkpoint.Named{Name: p.Name + name, Tensor: s.scope.Zeros(tensor.F32, p.Tensor.Device(), shape...)})
	return len(s.tensors) - 1
}

// at is the tensor of a place, until Read or Close; nil for a negative one.
func (s *state) at(place int) *tensor.Tensor {
	if place < 0 {
		return nil
	}
	return s.tensors[place].Tensor
}

// fits fails where there are not as many gradients as parameters.
func (s *state) fits(op string, grads []*tensor.Tensor) {
	if len(grads) != len(s.params) {
		tensor.Failf(op, "%d gradients for %d parameters", len(grads), len(s.params))
	}
}

// next counts an update, and says how many there are with it.
func (s *state) next() int64 {
	s.steps = s.Steps() + 1
	tensor.Free(s.counter)
	s.counter = nil
	return s.steps
}

// mostOn is up to where a float32 counts.
const mostOn = 1 << 24

// nextOn counts an update on the parameters' device, unless scaler, which may be nil, found it bad. It returns the
// number of updates, float32 [1], which is the state's, and what scaler says, and does not wait for the device.
//
// The number is one tensor until next or Read: the first call creates it, and later calls, which may be recorded and
// replayed, change its value.
func (s *state) nextOn(scaler *amp.Scaler) (steps, found, divisor *tensor.Tensor) {
	if scaler != nil {
		found, divisor = scaler.Found, scaler.Divisor
	}
	if s.counter == nil {
		if s.steps >= mostOn {
			tensor.Failf("StepOn", "after %d updates; at most %d are counted on a device", s.steps, mostOn)
		}
		s.counter = s.scope.Full(float64(s.steps), tensor.F32, s.params[0].Tensor.Device(), 1)
	}
	s.scope.CountUpdateInPlace(s.counter, found)
	return s.counter, found, divisor
}

func (s *state) Steps() int64 {
	if s.counter != nil {
		s.steps = int64(s.counter.Item())
	}
	return s.steps
}

const stepKey = "step"

func (s *state) Write(w io.Writer) error {
	return tensor.Do(func(*tensor.Scope) error {
		return checkpoint.Write(w, map[string]string{stepKey: strconv.FormatInt(s.Steps(), 10)}, s.tensors)
	})
}

func (s *state) Read(r io.ReaderAt, size int64) error {
	f, err := checkpoint.Open(r, size)
	if err != nil {
		return err
	}
	steps, err := strconv.ParseInt(f.Metadata[stepKey], 10, 64)
	if err != nil || steps < 0 {
		return fmt.Errorf("%q steps; not a state of this optimizer", f.Metadata[stepKey])
	}
	fresh := state{params: s.params, scope: tensor.NewScope(), steps: steps}
	err = tensor.Do(func(*tensor.Scope) error {
		for _, t := range s.tensors {
			read, err := f.Tensor(fresh.scope, t.Name, tensor.F32, t.Tensor.Device(), t.Tensor.Shape()...)
			if err != nil {
				return err
			}
			fresh.tensors = append(fresh.tensors, checkpoint.Named{Name: t.Name, Tensor: read})
		}
		return nil
	})
	if err != nil {
		fresh.Close()
		return err
	}
	s.Close()
	*s = fresh
	return nil
}
