package native

// /* Without OpenMP at::parallel_for, a template, would run its loops on one thread. */
// /* libtorch is a release build: what its headers hold of debugging would not fit. */
// #cgo CXXFLAGS: -std=c++17 -DREDSI_NATIVE -DNDEBUG
// #cgo linux CXXFLAGS: -fopenmp
// #cgo linux LDFLAGS: -fopenmp
// #cgo LDFLAGS: -ltorch_cpu -lc10 -lstdc++ -lm
// #include <stdlib.h>
// #include "native.h"
import "C"

import (
	"runtime"
	"unsafe"
)

// Tensor is a torch::Tensor*.
type Tensor = unsafe.Pointer

// TakeString copies and frees a message that C allocated.
func TakeString(msg unsafe.Pointer) string {
	if msg == nil {
		return ""
	}
	defer C.free(msg)
	return C.GoString((*C.char)(msg))
}

func message(msg *C.char) string { return TakeString(unsafe.Pointer(msg)) }

// SetNumThreads sets how many threads one operation may use.
func SetNumThreads(n int) { C.redsi_set_num_threads(C.int(n)) }

// AdoptNumThreads applies the number of SetNumThreads to this OS thread.
func AdoptNumThreads() { C.redsi_adopt_num_threads() }

// ShareThreads is how many of them operations take that this OS thread asks for; 0: all.
func ShareThreads(n int) { C.redsi_share_threads(C.int(n)) }

// NumThreads is how many threads one operation uses.
func NumThreads() int { return int(C.redsi_num_threads()) }

// SameForAnyThreads reports whether results do not depend on the number of threads.
func SameForAnyThreads() bool { return C.redsi_same_for_any_threads() != 0 }

// SameForAnyRows reports whether a row of a product does not depend on how many others there are.
func SameForAnyRows() bool { return C.redsi_k_wide() != 0 }

// Version is that of the libtorch that is loaded.
func Version() string { return C.GoString(C.redsi_version()) }

// CardMemory is how many bytes of tensors are on a CUDA device, and the most so far.
func CardMemory(device int) (now, most int64, msg string) {
	var n, m C.int64_t
	msg = message(C.redsi_card_memory(C.int(device), &n, &m))
	return int64(n), int64(m), msg
}

// CardFree is how many bytes of a CUDA device may be taken, and how many it has.
func CardFree(device int) (free, total int64, msg string) {
	var f, t C.int64_t
	msg = message(C.redsi_card_free(C.int(device), &f, &t))
	return int64(f), int64(t), msg
}

// CPUCapability is the instruction set that libtorch computes with, such as "AVX512".
func CPUCapability() string { return message(C.redsi_cpu_capability()) }

// Upload is a tensor of numbers on a card, or on the CPU (-1), in one transfer.
func Upload(numbers []int64, device int) (out Tensor, msg string) {
	msg = message(C.redsi_upload(&out, (*C.int64_t)(unsafe.SliceData(numbers)), C.int64_t(len(numbers)), C.int(device)))
	return out, msg
}

// UploadInto copies numbers into a vector of int64 that is there, in one transfer.
func UploadInto(to Tensor, numbers []int64) (msg string) {
	return message(C.redsi_upload_into(to, (*C.int64_t)(unsafe.SliceData(numbers)), C.int64_t(len(numbers))))
}

// Dropout is (residual, or 0 where that is nil) + x with elements set to zero with
// probability p in [0, 1), the others scaled by 1/(1-p). On a CPU the mask is a
// function of key and the element's index.
func Dropout(x, residual Tensor, p float64, key uint64) (out Tensor, msg string) {
	msg = message(C.redsi_dropout(&out, x, residual, C.double(p), C.uint64_t(key)))
	return out, msg
}

// ReluDropout is Dropout of max(x, 0).
func ReluDropout(x Tensor, p float64, key uint64) (out Tensor, msg string) {
	msg = message(C.redsi_relu_dropout(&out, x, C.double(p), C.uint64_t(key)))
	return out, msg
}

// RMSNorm is x / sqrt(mean(x²)+eps) * w over the last dimension; rounded: of float32 on a CPU, as bfloat16.
func RMSNorm(x, w Tensor, eps float64, rounded bool) (out Tensor, msg string) {
	msg = message(C.redsi_rms_norm(&out, x, w, C.double(eps), flag(rounded)))
	return out, msg
}

// The kinds of Activation.
const (
	GeluTanh = iota
	Silu
)

// Activation is a function of each element.
func Activation(x Tensor, kind int) (out Tensor, msg string) {
	msg = message(C.redsi_activation(&out, x, C.int64_t(kind)))
	return out, msg
}

// Spans says where sequences lie: sequence i has QLen[i] rows of q from row
// QStart[i] on, and KLen[i] rows of k and v. The four are equally long.
type Spans struct{ QStart, QLen, KStart, KLen []int64 }

// AttentionOptions are what Attention takes beside tensors.
type AttentionOptions struct {
	Heads   int64
	Scale   float64
	Dropout float64
	Key     uint64
	Causal  bool
}

// Attention is softmax(scale·q·kᵀ + bias)·v per sequence and head; bias may be nil.
func Attention(q, k, v, bias Tensor, spans Spans, o AttentionOptions) (out Tensor, msg string) {
	n := len(spans.QLen)
	if n == 0 || len(spans.QStart) != n || len(spans.KStart) != n || len(spans.KLen) != n {
		return nil, "no sequences, or arrays of different lengths"
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	first := func(a []int64) *C.int64_t {
		pin.Pin(&a[0])
		return (*C.int64_t)(&a[0])
	}
	args := C.redsi_attention_args{
		q_start: first(spans.QStart), q_len: first(spans.QLen), k_start: first(spans.KStart), k_len: first(spans.KLen),
		n: C.int64_t(n), heads: C.int64_t(o.Heads), scale: C.double(o.Scale), dropout: C.double(o.Dropout), key: C.uint64_t(o.Key),
		causal: flag(o.Causal),
	}
	msg = message(C.redsi_attention(&out, q, k, v, bias, &args))
	return out, msg
}

// Linear is x·wᵀ, plus bias where that is not nil.
func Linear(x, w, bias Tensor) (out Tensor, msg string) {
	msg = message(C.redsi_linear(&out, x, w, bias))
	return out, msg
}

// PackRows is w as PackedLinear takes it.
func PackRows(w Tensor) (out Tensor, msg string) {
	msg = message(C.redsi_pack_rows(&out, w))
	return out, msg
}

// PackedLinear is Linear of a w with n rows that PackRows packed.
func PackedLinear(x, packed Tensor, n int64, bias Tensor) (out Tensor, msg string) {
	msg = message(C.redsi_packed_linear(&out, x, packed, C.int64_t(n), bias))
	return out, msg
}

// PackBF16 is w in bfloat16, as PackedLinearBF16 multiplies by it.
func PackBF16(w Tensor) (out Tensor, msg string) {
	msg = message(C.redsi_pack_bf16(&out, w))
	return out, msg
}

// PackedLinearBF16 is activation(x·wᵀ + bias), or x·wᵀ + bias + residual, of bfloat16; the residual may be nil, the activation "".
func PackedLinearBF16(x, w, bias, residual Tensor, activation string) (out Tensor, msg string) {
	name := C.CString(activation)
	defer C.free(unsafe.Pointer(name))
	msg = message(C.redsi_packed_linear_bf16(&out, x, w, bias, residual, name))
	return out, msg
}

// Extend is rows of old, [any, steps, w], in an order or as they are, each with its row of step after it.
func Extend(old, order, step Tensor) (out Tensor, msg string) {
	msg = message(C.redsi_extend(&out, old, order, step))
	return out, msg
}

// WideLinear is x·wᵀ of half precision, as float32.
func WideLinear(x, w Tensor) (out Tensor, msg string) {
	msg = message(C.redsi_wide_linear(&out, x, w))
	return out, msg
}

// AdafactorOptions are one update's numbers.
type AdafactorOptions struct {
	Rate, Beta2, Eps1, Eps2, Clip, WeightDecay float64
	ScaleParameter                             bool
}

func (o AdafactorOptions) c() C.redsi_adafactor_args {
	return C.redsi_adafactor_args{
		lr: C.double(o.Rate), beta2: C.double(o.Beta2), eps1: C.double(o.Eps1), eps2: C.double(o.Eps2),
		clip: C.double(o.Clip), weight_decay: C.double(o.WeightDecay), scale_parameter: flag(o.ScaleParameter),
	}
}

// Adafactor updates p with gradient g in place. Row and col belong to a matrix,
// full to a vector; the others are nil.
func Adafactor(p, g, row, col, full Tensor, o AdafactorOptions) (msg string) {
	args := o.c()
	return message(C.redsi_adafactor(p, g, row, col, full, &args))
}

// AdamWOptions are one update's numbers; Step counts from 1.
type AdamWOptions struct {
	Rate, Beta1, Beta2, Eps, WeightDecay float64
	Step                                 int64
}

func (o AdamWOptions) c() C.redsi_adamw_args {
	return C.redsi_adamw_args{lr: C.double(o.Rate), beta1: C.double(o.Beta1), beta2: C.double(o.Beta2), eps: C.double(o.Eps),
		weight_decay: C.double(o.WeightDecay), step: C.int64_t(o.Step)}
}

// AdamW updates p with gradient g in place, and the running means of g and of its squares.
func AdamW(p, g, mean, square Tensor, o AdamWOptions) (msg string) {
	args := o.c()
	return message(C.redsi_adamw_update(p, g, mean, square, &args))
}

// first is where a list of tensors begins; its elements are C's.
func first(list []Tensor) *unsafe.Pointer {
	if len(list) == 0 {
		return nil
	}
	return &list[0]
}

// CopyAll copies from[i] to to[i], of the same shape and any types.
func CopyAll(to, from []Tensor) (msg string) {
	return message(C.redsi_copy_all(first(to), first(from), C.int64_t(len(to))))
}

// CheckOptions are what Check takes beside tensors.
type CheckOptions struct {
	Ring            int
	Clip            float64 // 0: the norm is not bounded
	Scaled          bool
	Growth, Backoff float64
	Interval        int64
}

// ScalerWords is how many numbers a scaler's state has before its ring: the scale, how many updates it
// stood (an int32), what is NaN once an update was bad, the divisor, and the last update's loss and flag.
const ScalerWords = 6

// Check takes an update's loss and gradients into a scaler's state, at a slot of its ring.
func Check(state, loss Tensor, grads []Tensor, slot Tensor, o CheckOptions) (msg string) {
	args := C.redsi_check_args{ring: C.int64_t(o.Ring), interval: C.int64_t(o.Interval),
		clip: C.double(o.Clip), growth: C.double(o.Growth), backoff: C.double(o.Backoff), scaled: flag(o.Scaled)}
	return message(C.redsi_check(state, loss, first(grads), C.int64_t(len(grads)), slot, &args))
}

// AdafactorClass is a number of parameters of one shape: [Rows, Columns], or [Rows] where Columns is 0.
type AdafactorClass struct{ Members, Rows, Columns int64 }

// AdafactorAll updates all parameters, which are in the order of their classes; o.Rate and o.Beta2 are not read.
func AdafactorAll(p, g []Tensor, classes []AdafactorClass, means, inverse, steps Tensor, power float64, rate, found, divisor Tensor, o AdafactorOptions) (msg string) {
	if len(p) == 0 || len(p) != len(g) || len(classes) == 0 {
		return "no parameters, or not as many gradients"
	}
	args := o.c()
	return message(C.redsi_adafactor_all(first(p), first(g), C.int64_t(len(p)), (*C.int64_t)(&classes[0].Members), C.int64_t(len(classes)),
		means, inverse, steps, C.double(power), rate, found, divisor, &args))
}

// AdamWAll updates parameters; steps is how many updates there were with this one, and o.Rate and o.Step are not read.
func AdamWAll(p, g, mean, square []Tensor, steps, rate, found, divisor Tensor, o AdamWOptions) (msg string) {
	if n := len(p); n == 0 || len(g) != n || len(mean) != n || len(square) != n {
		return "no parameters, or not as many gradients and means"
	}
	args := o.c()
	return message(C.redsi_adamw_all(first(p), first(g), first(mean), first(square), C.int64_t(len(p)), steps, rate, found, divisor, &args))
}

// SquareSum is the sum of the squares of t's elements.
func SquareSum(t Tensor) (sum float64, msg string) {
	var out C.double
	msg = message(C.redsi_square_sum(&out, t))
	return float64(out), msg
}

// AddRows is to[index[i]] += from[i].
func AddRows(to, index, from Tensor) (msg string) { return message(C.redsi_add_rows(to, index, from)) }

// HeadLoss is the mean over labels ([n], int64) other than ignore of the cross
// entropy of h·wᵀ: h [n, d], w [V, d]; smooth of each label's weight is spread evenly over
// all V.
func HeadLoss(h, w, labels Tensor, ignore int64, smooth float64) (out Tensor, msg string) {
	msg = message(C.redsi_head_loss(&out, h, w, labels, C.int64_t(ignore), C.double(smooth)))
	return out, msg
}
