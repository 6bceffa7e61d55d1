package checkpoint_test

import (
	"bytes"
	"testing"

	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/system/errtest"
)

// TestCountedOnADevice: the number is one tensor, which what NextOn recorded counts without the State's
// knowing, and whose value counts whenever it is asked for.
func TestCountedOnADevice(t *testing.T) {
	tensortest.Run(t, func(s *tensor.Scope) {
		state := checkpoint.NewState()
		defer state.Close()
		steps := func(want int64) {
			t.Helper()
			if n := state.Steps(); n != want {
				t.Errorf("%d updates, want %d", n, want)
			}
		}
		state.Next()
		found := s.Zeros(tensor.F32, tensor.CPU, 1)
		counter := state.NextOn(tensor.CPU, found)
		steps(2)
		s.CountUpdateInPlace(counter, found) // a replay
		steps(3)
		s.FillInPlace(found, 1)
		if state.NextOn(tensor.CPU, found) != counter {
			t.Error("another counter")
		}
		steps(3)
		s.FillInPlace(found, 0)
		s.CountUpdateInPlace(counter, found)
		var file bytes.Buffer
		errtest.None(t, state.Write(&file))
		again := checkpoint.NewState()
		defer again.Close()
		if err := again.Read(bytes.NewReader(file.Bytes()), int64(file.Len())); err != nil || again.Steps() != 4 {
			t.Errorf("%d updates are read, %v", again.Steps(), err)
		}
		if n := state.Next(); n != 5 {
			t.Errorf("%d updates", n)
		}
		steps(5)
		state.NextOn(tensor.CPU, nil)
		steps(6)
	})
}
