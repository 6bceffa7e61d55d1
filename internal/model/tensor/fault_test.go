package tensor

import (
	"errors"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// noRoom is what libtorch 2.11's allocator says.
const noRoom = `CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 15.77 GiB of which 512.00 MiB is free. ` +
	`Including non-PyTorch memory, this process has 11.27 GiB memory in use. Of the allocated memory 10.00 GiB is allocated by PyTorch, ` +
	`and 300.50 MiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_ALLOC_CONF=expandable_segments:True to avoid fragmentation.`

// TestFault: libtorch's words decide whether a card is full, too old, or lost to the process.
func TestFault(t *testing.T) {
	for message, want := range map[string]Fault{
		noRoom:                      OutOfMemory,
		"CUDA error: out of memory": OutOfMemory,
		"CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`":                     OutOfMemory,
		"cuDNN error: CUDNN_STATUS_ALLOC_FAILED":                                                         OutOfMemory,
		"cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED":                              OutOfMemory,
		"CUDA error: no kernel image is available for execution on the device\nCUDA kernel errors might": NoKernel,
		"CUDA error: device-side assert triggered\nCUDA kernel errors might be asynchronously reported":  Poisoned,
		"CUDA error: an illegal memory access was encountered":                                           Poisoned,
		"CUDA error: uncorrectable ECC error encountered":                                                Poisoned,
		"CUDA error: unspecified launch failure":                                                         Poisoned,
		"CUDA error: unknown error":                                                                      Poisoned,
		"CUDA error: driver shutting down":                                                               Poisoned,
		"CUDA error: what no version of CUDA says today":                                                 Poisoned,
		"CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx( handle, opa, opb)`":      Poisoned,
		"cuDNN error: CUDNN_STATUS_EXECUTION_FAILED":                                                     Poisoned,
		"CUDA driver error: device not ready":                                                            Poisoned,
		"CUDA error: invalid argument":                                                                   NoFault,
		"CUDA error: invalid device ordinal":                                                             NoFault,
		"CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling `cublasLtMatmul(`":                         NoFault,
		"mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)":                                        NoFault,
		"[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory":                 NoMemory,
		"std::bad_alloc": NoMemory,
		"CUDA error: operation not permitted when stream is capturing":        NoFault,
		"CUDA error: operation failed due to a previous error during capture": NoFault,
		"": NoFault,
	} {
		testkit.Is(t, (&Error{Op: "matmul", Message: message}).Fault(), want, "of", message)
	}
}

// TestNoMemory: what libtorch says where this machine has no room is known by its words.
func TestNoMemory(t *testing.T) {
	var e *Error
	if err := Run(func(s *Scope) { s.Empty(F32, CPU, 1<<45) }); !errors.As(err, &e) || e.Fault() != NoMemory {
		t.Error(err)
	}
}

// TestRoom: the numbers of a full card are read; what is not told is not guessed.
func TestRoom(t *testing.T) {
	total := 15.77 * (1 << 30)
	own := 11.27 * (1 << 30)
	want := Room{Asked: 5 << 29, Total: int64(total), Free: 512 << 20, Own: int64(own)}
	r := (&Error{Message: noRoom}).Room()
	testkit.Is(t, r, want)
	if others := r.Others(); others < 4000<<20 || others > 4200<<20 { // 3.99 GiB
		t.Errorf("others have %d", others)
	}
	if r := (&Error{Message: "CUDA error: out of memory"}).Room(); r != (Room{}) || r.Others() != 0 {
		t.Errorf("%+v", r)
	}
	testkit.Is(t, (&Error{Message: "CUDA out of memory. Tried to allocate 512 bytes. GPU"}).Room(), Room{Asked: 512})
}
