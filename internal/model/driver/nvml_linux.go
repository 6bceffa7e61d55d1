package driver

// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include "nvml.h"
import "C"

import (
	"unsafe"

	"github.com/redsi/redsi/internal/host/nvidia"
)

// nvmlLibrary is what the driver of NVIDIA's cards installs.
const nvmlLibrary = "libnvidia-ml.so.1"

// Look asks the management library for the machine's cards.
func Look() nvidia.Machine { return lookIn(nvmlLibrary) }

// lookIn asks a library of that name: no cards if it is not there.
func lookIn(library string) (m nvidia.Machine) {
	name := C.CString(library)
	defer C.free(unsafe.Pointer(name))
	if wrong := C.redsi_nvml_open(name); wrong != 0 {
		m.Why = unusable(library, wrong == -1, wrong == C.REDSI_NVML_LACKS, says(C.redsi_nvml_says(wrong), wrong))
		return m
	}
	var text [96]C.char // the library's own bound
	if C.redsi_nvml_driver(&text[0], C.uint(len(text)-1)) == 0 {
		m.Driver = C.GoString(&text[0])
	}
	var cuda C.int
	if C.redsi_nvml_cuda(&cuda) == 0 {
		m.CUDA = nvidia.CUDAVersion(int(cuda))
	}
	for i := range C.redsi_nvml_cards() {
		m.Cards = append(m.Cards, cardAt(i))
	}
	if len(m.Cards) == 0 {
		m.Why = "the driver " + m.Driver + " has no card"
	}
	return m
}

func cardAt(i C.uint) nvidia.Card {
	c := nvidia.Card{Name: "unknown card", Joules: func() (float64, bool) {
		var mj C.ulonglong
		wrong := C.redsi_nvml_energy(i, &mj)
		return float64(mj) / 1000, wrong == 0
	}}
	var text [96]C.char
	if C.redsi_nvml_name(i, &text[0], C.uint(len(text)-1)) == 0 {
		c.Name = C.GoString(&text[0])
	}
	if C.redsi_nvml_uuid(i, &text[0], C.uint(len(text)-1)) == 0 {
		c.UUID = C.GoString(&text[0])
	}
	var total, free C.ulonglong
	if C.redsi_nvml_memory(i, &total, &free) == 0 {
		c.Memory, c.Free = int64(total), int64(free)
	}
	var major, minor C.int
	if C.redsi_nvml_capability(i, &major, &minor) == 0 {
		c.Capability = nvidia.Version{Major: int(major), Minor: int(minor)}
	}
	return c
}
