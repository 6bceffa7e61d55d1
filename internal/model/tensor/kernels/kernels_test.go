//go:build linux

package kernels

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/system/testkit"
)

// insteadOf is what CUDA calls where a CPU calls an operator that is only a CPU's: all of them must have
// kernels there.
var insteadOf = map[string][]string{
	"aten::_scaled_dot_product_flash_attention_for_cpu": {
		"aten::_scaled_dot_product_efficient_attention", "aten::_scaled_dot_product_flash_attention", "aten::_scaled_dot_product_attention_math"},
	"aten::_scaled_dot_product_flash_attention_for_cpu_backward": {
		"aten::_scaled_dot_product_efficient_attention_backward", "aten::_scaled_dot_product_flash_attention_backward"},
}

// checkAll returns an error that names each operator that a card could not run: one without a kernel for CUDA,
// composed for every device or its own, or one whose derivative only a CPU has.
func checkAll(operators []string) error {
	var errs []error
	for _, name := range operators {
		for _, on := range slices.Concat([]string{name}, insteadOf[name]) {
			if on == name && len(insteadOf[name]) > 0 {
				continue
			}
			if err := check(on); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

func check(operator string) error {
	kernels := of(operator)
	switch {
	case slices.Contains(kernels, "unknown"):
		return fmt.Errorf("libtorch has no operator %s", operator)
	case !slices.Contains(kernels, "CUDA") && !slices.Contains(kernels, "composite"):
		return fmt.Errorf("%s has no kernel for CUDA", operator)
	case slices.Contains(kernels, "autograd-CPU") && !slices.Contains(kernels, "autograd"):
		return fmt.Errorf("%s has a derivative on the CPU only", operator)
	}
	return nil
}

// TestKernels: CUDA has a kernel for every operator that training, decoding and embedding call on a card: those of
// kinds/testdata/operators.golden, which a test of kinds takes from such steps. It asks libtorch's CUDA half itself.
func TestKernels(t *testing.T) {
	text := goldens.Text(t, "../../../../kinds/testdata/operators.golden")
	operators := strings.Fields(string(text))
	if len(operators) < 50 || !slices.Contains(operators, "aten::mm") {
		t.Fatalf("only %q", operators)
	}
	before := compute(t)
	// The CPU's half alone has none.
	if err := checkAll([]string{"aten::mm"}); err == nil || err.Error() != "aten::mm has no kernel for CUDA" {
		t.Errorf("before the CUDA half is loaded: %v", err)
	}
	folder := os.Getenv("REDSI_CUDA_KERNELS")
	if err := Load(folder); err != nil {
		t.Fatalf("REDSI_CUDA_KERNELS (%s): %v; `make test` installs it and sets it", folder, err)
	}
	testkit.None(t, checkAll(operators))
	// What only a card is given: uploads from pinned memory.
	if err := checkAll([]string{"aten::_pin_memory", "aten::is_pinned", "aten::_to_copy", "aten::copy_", "aten::record_stream"}); err != nil {
		t.Error(err)
	}
	// A process with it computes the same bytes on the CPU, and has no card for it.
	testkit.Deep(t, before, compute(t))

	fakes()
	for operator, want := range map[string]string{
		"redsi_test::on_cpu":                        "redsi_test::on_cpu has no kernel for CUDA",
		"redsi_test::no_grad":                       "redsi_test::no_grad has a derivative on the CPU only",
		"aten::_convert_weight_to_int4pack_for_cpu": "has no kernel for CUDA", // libtorch's own
		"aten::no_such_operator":                    "libtorch has no operator aten::no_such_operator",
		"aten::add.NoSuchOverload":                  "libtorch has no operator",
		"mkldnn::_linear_pointwise":                 "has no kernel for CUDA",
	} {
		testkit.ErrSays(t, checkAll([]string{"aten::mm", operator}), want)
	}
	// A CPU's own operator stands for those that CUDA calls in its place.
	for _, operator := range []string{"aten::_scaled_dot_product_flash_attention_for_cpu", "aten::_scaled_dot_product_flash_attention_for_cpu_backward"} {
		testkit.None(t, checkAll([]string{operator}), "in place of", operator)
	}
}

// compute is some of what models compute, on the CPU.
func compute(t *testing.T) (out []float32) {
	t.Helper()
	tensortest.Run(t, func(s *tensor.Scope) {
		rng := &tensor.RNG{Seed: 7}
		x, w := s.Normal(rng, 0, 1, 40, 64), s.Normal(rng, 0, 1, 96, 64)
		s.Leaf(w)
		y := s.Exp(s.LogSoftmax(s.ReluDropout(s.Linear(x, w), 0.1, rng), -1, tensor.F32))
		out = s.Gradients(s.Sum(s.Mul(y, y)), []*tensor.Tensor{w})[0].Float32s()
	})
	return out
}

// TestLog: operators that are called while it logs, on any thread, and no others.
func TestLog(t *testing.T) {
	work := func(f func(s *tensor.Scope, x *tensor.Tensor)) {
		testkit.None(t, tensor.Run(func(s *tensor.Scope) { f(s, s.Full(2, tensor.F32, tensor.CPU, 3)) }))
	}
	names := Log(func() {
		work(func(s *tensor.Scope, x *tensor.Tensor) { s.Sum(x) })
		done := make(chan struct{})
		go func() {
			defer close(done)
			work(func(s *tensor.Scope, x *tensor.Tensor) { s.Exp(x) })
		}()
		<-done
	})
	work(func(s *tensor.Scope, x *tensor.Tensor) { s.Relu(x) })
	if !slices.Contains(names, "aten::sum") || !slices.Contains(names, "aten::exp") || slices.Contains(names, "aten::relu") {
		t.Errorf("%q", names)
	}
}

// TestLoadFails: a folder without the libraries is an error that names them.
func TestLoadFails(t *testing.T) {
	testkit.ErrSays(t, Load(t.TempDir()), "torch/lib/libtorch_cuda.so: cannot open")
}
