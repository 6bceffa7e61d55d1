package tensor

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// DType is an element type, with libtorch's numbers (c10/core/ScalarType.h).
type DType int32

const (
	U8   DType = 0
	I32  DType = 3
	I64  DType = 4
	F16  DType = 5
	F32  DType = 6
	F64  DType = 7
	Bool DType = 11
	BF16 DType = 15
)

var dtypes = map[DType]struct {
	name string
	size int
}{U8: {"U8", 1}, I32: {"I32", 4}, I64: {"I64", 8}, F16: {"F16", 2}, F32: {"F32", 4}, F64: {"F64", 8}, Bool: {"BOOL", 1}, BF16: {"BF16", 2}}

// String is the name that safetensors files use, "F32" for example.
func (d DType) String() string {
	if t, ok := dtypes[d]; ok {
		return t.name
	}
	return fmt.Sprintf("dtype(%d)", int32(d))
}

// Size is bytes per element.
func (d DType) Size() int {
	t, ok := dtypes[d]
	if !ok {
		Failf("Size", "element type %s is not supported", d)
	}
	return t.size
}

func (d DType) Float() bool { return d == F16 || d == F32 || d == F64 || d == BF16 }

var dtypeNames = map[string]DType{
	"f32": F32, "fp32": F32, "float32": F32,
	"f16": F16, "fp16": F16, "float16": F16, "half": F16,
	"bf16": BF16, "bfloat16": BF16, "f64": F64, "float64": F64,
	"i64": I64, "int64": I64, "i32": I32, "int32": I32, "u8": U8, "uint8": U8, "bool": Bool,
}

// ParseDType reads a name as configurations and safetensors write it: fp32, float32 or F32, and so on.
func ParseDType(name string) (DType, error) {
	if d, ok := dtypeNames[strings.ToLower(name)]; ok {
		return d, nil
	}
	return 0, fmt.Errorf("unknown element type %q; use fp32, bf16 or fp16", name)
}

// Device is the CPU (the zero value) or one CUDA card.
type Device struct{ index int32 } // 0 is the CPU, n is cuda:n-1

var CPU = Device{}

// CUDA is the n-th card, counted from 0.
func CUDA(n int) Device { return Device{index: int32(n) + 1} }

func (d Device) IsCUDA() bool { return d.index > 0 }

// c is gotch's number: -1 for the CPU, else the card.
func (d Device) c() int32 { return d.index - 1 }

func (d Device) String() string {
	if d.index == 0 {
		return "cpu"
	}
	return fmt.Sprintf("cuda:%d", d.index-1)
}

// ParseDevice reads "cpu", "cuda" or "cuda:1" and says if the card is not there;
// "auto" is the first card, or the CPU where there is none.
func ParseDevice(name string) (Device, error) {
	if name == "" || name == "cpu" || name == "auto" && CUDADevices() == 0 {
		return CPU, nil
	}
	if name == "auto" {
		name = "cuda"
	}
	number, ok := strings.CutPrefix(name, "cuda")
	digits, numbered := strings.CutPrefix(cmp.Or(number, ":0"), ":")
	n, err := strconv.Atoi(digits)
	if !ok || !numbered || err != nil || n < 0 {
		return CPU, fmt.Errorf("unknown device %q; use cpu, cuda or cuda:0", name)
	}
	switch have := CUDADevices(); {
	case have == 0:
		return CPU, fmt.Errorf("device %q: this process has no card: %s", name, Card().Reason)
	case n >= have:
		return CPU, fmt.Errorf("device %q: this process has %d CUDA devices, from cuda:0 on; CUDA_VISIBLE_DEVICES may hide others", name, have)
	}
	return CUDA(n), nil
}
