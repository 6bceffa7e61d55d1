package driver

// #include <stdlib.h>
// #include "driver.h"
import "C"

import (
	"fmt"
	"os"
	"sync"
	"unsafe"

	"github.com/redsi/redsi/internal/host/nvidia"
)

// driverLibrary is the driver's half in processes.
const driverLibrary = "libcuda.so.1"

// Visible starts the driver in this process, once, and asks which cards it may compute on.
// That takes no memory of a card.
var Visible = sync.OnceValue(func() nvidia.Process { return visibleBy(driverLibrary) })

func visibleBy(library string) (p nvidia.Process) {
	name := C.CString(library)
	defer C.free(unsafe.Pointer(name))
	wrong := C.redsi_driver_open(name)
	if wrong != 0 {
		p.Why = unusable(library, wrong == -1, wrong == -2, says(C.redsi_driver_says(wrong), wrong)+hidden())
		return p
	}
	var n C.int
	if C.redsi_driver_version(&n) == 0 {
		p.CUDA = nvidia.CUDAVersion(int(n))
	}
	n = 0
	wrong = C.redsi_driver_cards(&n)
	for i := C.int(0); i < n && wrong == 0; i++ {
		var text [96]C.char
		var uuid [16]C.uchar
		var total C.size_t
		var major, minor C.int
		if wrong = C.redsi_driver_card(i, &text[0], C.int(len(text)-1), &uuid[0], &total, &major, &minor); wrong == 0 {
			b := C.GoBytes(unsafe.Pointer(&uuid[0]), 16)
			// As NVIDIA's programs write it.
			id := fmt.Sprintf("GPU-%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
			p.Cards = append(p.Cards, nvidia.Card{Name: C.GoString(&text[0]), UUID: id,
				Memory: int64(total), Capability: nvidia.Version{Major: int(major), Minor: int(minor)}})
		}
	}
	switch {
	case wrong != 0:
		p.Cards, p.Why = nil, library+": "+says(C.redsi_driver_says(wrong), wrong)
	case len(p.Cards) == 0:
		p.Why = "the driver gives this process no card" + hidden()
	}
	return p
}

// hidden says that the environment may be why.
func hidden() string {
	if v, ok := os.LookupEnv(nvidia.VisibleVariable); ok {
		return fmt.Sprintf(" (%s=%q)", nvidia.VisibleVariable, v)
	}
	return ""
}

// says is an error of a library in the library's words.
func says(text *C.char, wrong C.int) string {
	if text != nil {
		return C.GoString(text)
	}
	return fmt.Sprintf("error %d", int(wrong))
}

// unusable says why a library of NVIDIA's cannot be asked: it is not there, it lacks functions, or what it says.
func unusable(library string, missing, lacks bool, says string) string {
	switch {
	case missing:
		return "no NVIDIA driver: there is no " + library
	case lacks:
		return library + " lacks functions of NVIDIA's: it is another library, or a very old one"
	}
	return fmt.Sprintf("%s cannot be used: %s", library, says)
}
