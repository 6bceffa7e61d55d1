package optimizer

import (
	"testing"

	"github.com/redsi/redsi/internal/model/amp"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestCountedOnADevice: the number is one tensor, which what nextOn recorded counts without the state's
// knowing, and whose value counts whenever it is asked for.
func TestCountedOnADevice(t *testing.T) {
	tensortest.Run(t, func(s *tensor.Scope) {
		a := adamW.start(t, []checkpoint.Named{{Name: "p", Tensor: s.Zeros(tensor.F32, tensor.CPU, 1)}}).(*AdamW)
		scaler := testkit.Value(amp.New(tensor.CPU, amp.Options{Ring: 1}))(t)
		defer scaler.Close()
		steps := func(want int64) {
			t.Helper()
			testkit.Is(t, a.Steps(), want, "updates")
		}
		a.next()
		counter, found, _ := a.nextOn(scaler)
		steps(2)
		s.CountUpdateInPlace(counter, found) // a replay
		steps(3)
		s.FillInPlace(found, 1)
		if again, _, _ := a.nextOn(scaler); again != counter {
			t.Error("another counter")
		}
		steps(3)
		s.FillInPlace(found, 0)
		s.CountUpdateInPlace(counter, found)
		file := saved(t, a)
		if err := a.Read(file, file.Size()); err != nil || a.Steps() != 4 {
			t.Errorf("%d updates are read, %v", a.Steps(), err)
		}
		testkit.Is(t, a.next(), 5, "updates")
		steps(5)
		a.nextOn(nil)
		steps(6)
	})
}
