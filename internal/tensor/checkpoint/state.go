//go:build !notorch

package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/redsi/redsi/internal/tensor"
	"github.com/redsi/redsi/internal/tensor/safetensors"
)

// State is what an optimizer keeps from update to update: tensors by name, and how many
// updates there were.
type State struct {
	Scope   *tensor.Scope
	tensors []Named
	steps   int64
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

// Next counts an update, and says how many there are with it.
func (s *State) Next() int64 {
	s.steps++
	return s.steps
}

// Steps is the number of updates.
func (s *State) Steps() int64 { return s.steps }

const stepKey = "step"

// Write writes the tensors as a safetensors file, and the number of updates as its
// metadata.
func (s *State) Write(w io.Writer) error {
	var failed error
	err := tensor.Try(func() {
		failed = Write(w, map[string]string{stepKey: strconv.FormatInt(s.steps, 10)}, s.tensors)
	})
	return errors.Join(failed, err)
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
	var failed error
	err = tensor.Try(func() {
		for i, t := range s.tensors {
			fresh.tensors[i].Name = t.Name
			if fresh.tensors[i].Tensor, failed = f.Tensor(fresh.Scope, t.Name, tensor.F32, t.Tensor.Device(), t.Tensor.Shape()...); failed != nil {
				return
			}
		}
	})
	if err = errors.Join(failed, err); err != nil {
		fresh.Scope.Close()
		return err
	}
	s.Scope.Close()
	*s = fresh
	return nil
}
