//go:build linux && cgo

package usage

// #cgo LDFLAGS: -ldl
// #include <stdlib.h>
// #include "nvml.h"
import "C"

import "unsafe"

// nvmlLibrary is what the driver of NVIDIA's cards installs.
const nvmlLibrary = "libnvidia-ml.so.1"

func openNVML() nvml { return nvmlOf(nvmlLibrary) }

// nvmlOf asks a library for the machine's cards: none if it is not there.
func nvmlOf(library string) nvml {
	name := C.CString(library)
	defer C.free(unsafe.Pointer(name))
	if C.redsi_nvml_open(name) != 0 {
		return nvml{}
	}
	n := nvml{}
	for i := range C.redsi_nvml_cards() {
		var text [96]C.char // the library's own bound
		c := nvmlCard{name: "unknown card", joules: func() (float64, bool) {
			var mj C.ulonglong
			wrong := C.redsi_nvml_energy(i, &mj)
			return float64(mj) / 1000, wrong == 0
		}}
		if C.redsi_nvml_name(i, &text[0], C.uint(len(text)-1)) == 0 {
			c.name = C.GoString(&text[0])
		}
		n.cards = append(n.cards, c)
	}
	return n
}
