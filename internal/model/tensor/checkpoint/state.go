package checkpoint

import (
	"fmt"
	"io"
	"strconv"

	"github.com/redsi/redsi/internal/corpora/safetensors"
	"github.com/redsi/redsi/internal/model/tensor"
)

// State is what an optimizer keeps from update to update: tensors by name, and how many
// updates there were.
type State struct {
	Scope   *tensor.Scope
	tensors []Named
	steps   int64
	counter *tensor.Tensor // of updates, on the device, once NextOn was called, which steps does not know of; Scope's
}

// NewState has no tensors yet, and no updates.
func NewState() *State { return &State{Scope: tensor.NewScope()} }

// Close frees the tensors.
func (s *State) Close() { s.Scope.Close() }

// Zeros adds a float32 tensor and says which place it has. It must be called within
// tensor.Run or tensor.Try.
func (s *State) Zeros(name string, device tensor.Device, shape ...int64) (place int) {
	s.tensors = append(s.tensors, Named{name, s.Scope.Zeros(tensor.F32, device, shape...)})
	return len(s.tensors) - 1
}

// At is the tensor of a place, until Read or Close; nil for a negative one.
func (s *State) At(place int) *tensor.Tensor {
	if place < 0 {
		return nil
	}
	return s.tensors[place].Tensor
}

// Replace puts t, of the same shape, at a place: State owns it from then on, and what it shares
// memory with is the caller's. Read ends that.
func (s *State) Replace(place int, t *tensor.Tensor) {
	tensor.Free(s.tensors[place].Tensor)
	s.tensors[place].Tensor = s.Scope.Move(t)
}

// Next counts an update, and says how many there are with it.
func (s *State) Next() int64 {
	s.steps = s.Steps() + 1
	tensor.Free(s.counter)
	s.counter = nil
	return s.steps
}

// mostOn is up to where a float32 counts.
const mostOn = 1 << 24

// NextOn counts an update on a device, unless found, float32 [1], is 1 there, and gives the number
// of updates, float32 [1], which is State's. Nil: nothing was found. The device is not waited for.
//
// The number is one tensor until Next or Read: the first call makes it, and later ones, which may be
// recorded and replayed, change its value.
func (s *State) NextOn(device tensor.Device, found *tensor.Tensor) *tensor.Tensor {
	if s.counter == nil {
		if s.steps >= mostOn {
			tensor.Failf("NextOn", "%d updates were made; at most %d are counted on a device", s.steps, mostOn)
		}
		s.counter = s.Scope.Full(float64(s.steps), tensor.F32, device, 1)
	}
	s.Scope.CountUpdateInPlace(s.counter, found)
	return s.counter
}

// Steps is the number of updates. After NextOn it waits for the device, and must be called within
// tensor.Run or tensor.Try.
func (s *State) Steps() int64 {
	if s.counter != nil {
		s.steps = int64(s.counter.Item())
	}
	return s.steps
}

const stepKey = "step"

// Write writes the tensors as a safetensors file, and the number of updates as its
// metadata.
func (s *State) Write(w io.Writer) error {
	return tensor.Do(func(*tensor.Scope) error {
		return Write(w, map[string]string{stepKey: strconv.FormatInt(s.Steps(), 10)}, s.tensors)
	})
}

// Read restores what Write wrote of a state with the same tensors, bit for bit. After an
// error the state is as it was.
func (s *State) Read(r io.ReaderAt, size int64) error {
	header, err := safetensors.Open(r, size)
	if err != nil {
		return err
	}
	steps, err := strconv.ParseInt(header.Metadata[stepKey], 10, 64)
	if err != nil || steps < 0 {
		return fmt.Errorf("%q steps; not a state of this optimizer", header.Metadata[stepKey])
	}
	f, err := Open(r, size)
	if err != nil {
		return err
	}
	fresh := State{Scope: tensor.NewScope(), tensors: make([]Named, len(s.tensors)), steps: steps}
	err = tensor.Do(func(*tensor.Scope) (err error) {
		for i, t := range s.tensors {
			fresh.tensors[i].Name = t.Name
			if fresh.tensors[i].Tensor, err = f.Tensor(fresh.Scope, t.Name, tensor.F32, t.Tensor.Device(), t.Tensor.Shape()...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		fresh.Scope.Close()
		return err
	}
	s.Scope.Close()
	*s = fresh
	return nil
}
