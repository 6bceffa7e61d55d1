package here

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// TestExplain: a full card ends a step for good and says what to change; one that has
// failed is for another worker, whatever the kind made of it; all else stays what it is.
func TestExplain(t *testing.T) {
	of := func(message string) error {
		return fmt.Errorf("update 7: %w", &tensor.Error{Op: "Linear", Shapes: []string{"F16[8 4]"}, Message: message})
	}
	full := Explain(of("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 16.00 GiB of which 1.00 GiB is free. " +
		"Process 12 has 5.00 GiB memory in use. Including non-PyTorch memory, this process has 10.00 GiB memory in use. Of the allocated memory"))
	testkit.That(t, step.IsPermanent(full) && !step.IsPoisoned(full), full)
	for _, says := range []string{"update 7: tensor: Linear(F16[8 4])", "2.0 GiB more were requested", "the card has 16 GiB", "1.0 GiB were free",
		"this process had 10 GiB", "other programs had 5.0 GiB", "accumulate = 2", "checkpoint_activations = true", "precision = ", "smaller batch", "A retry would fail the same way"} {
		if !strings.Contains(full.Error(), says) {
			t.Errorf("%q is not in: %v", says, full)
		}
	}
	if text := Explain(of("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`")).Error(); !strings.Contains(text, "the card's memory is full. A retry would fail the same way") {
		t.Error(text)
	}
	if old := Explain(of("CUDA error: no kernel image is available for execution on the device")); !step.IsPermanent(old) || !strings.Contains(old.Error(), "redsi doctor") {
		t.Error(old)
	}
	if bad := Explain(step.Permanent(of("CUDA error: device-side assert triggered"))); !step.IsPoisoned(bad) {
		t.Error(bad)
	}
	if none := Explain(step.Permanent(of("[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes."))); !step.IsPoisoned(none) || !strings.Contains(none.Error(), "--slots") {
		t.Error(none)
	}
	for _, same := range []error{nil, errors.New("CUDA error: of somebody who only says so"), of("mat1 and mat2 shapes cannot be multiplied"), step.Permanent(of("CUDA error: invalid argument"))} {
		testkit.Is(t, Explain(same), same)
	}
}
