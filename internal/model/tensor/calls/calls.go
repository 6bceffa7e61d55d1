package calls

// /* libtorch is a release build: what its headers hold of debugging would not fit. */
// #cgo CXXFLAGS: -std=c++17 -DNDEBUG
// #cgo LDFLAGS: -ltorch_cpu -lc10 -lstdc++
// #include <stdlib.h>
// #include "calls.h"
import "C"

import "unsafe"

// Of is the calls of operators whose names begin with prefix ("aten::mm") while f runs, on this thread, as a JSON
// array: operator, takes, gives, numbers and lists as they are; of tensors shapes, strides and types.
func Of(prefix string, f func()) string {
	name := C.CString(prefix)
	defer C.free(unsafe.Pointer(name))
	calls := C.redsi_calls_begin(name)
	var text *C.char
	func() {
		defer func() { text = C.redsi_calls_end(calls) }()
		f()
	}()
	defer C.free(unsafe.Pointer(text))
	return C.GoString(text)
}
