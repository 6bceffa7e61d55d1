package tensor

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
)

// Error is a failed operation: what was asked, of which shapes, and libtorch's
// words. Operations panic with it; Run and Try return it.
type Error struct {
	Op      string
	Shapes  []string // operands, as dtype[shape]
	Message string   // first lines of libtorch's message, without its C++ stack
}

func (e *Error) Error() string {
	if len(e.Shapes) == 0 {
		return fmt.Sprintf("tensor: %s: %s", e.Op, e.Message)
	}
	return fmt.Sprintf("tensor: %s(%s): %s", e.Op, strings.Join(e.Shapes, ", "), e.Message)
}

// Fault is what an Error says of a card, or of the machine's memory. libtorch tells only by words.
type Fault int

const (
	// NoFault: the card is well, and the same operation would fail again.
	NoFault Fault = iota
	// OutOfMemory: the card had no room. It is well, as is the process.
	OutOfMemory
	// NoKernel: this libtorch has no code for such a card.
	NoKernel
	// Poisoned: the process can compute no more on that card, whatever it asks: an
	// operation went wrong on it, or the card did.
	Poisoned
	// NoMemory: the machine had no room, which another process may find, later or elsewhere.
	NoMemory
)

// Words of CUDA and its libraries, as libtorch passes them on.
var (
	full = []string{"CUDA out of memory", "CUDA error: out of memory", "CUBLAS_STATUS_ALLOC_FAILED", "CUSOLVER_STATUS_ALLOC_FAILED",
		"CUDNN_STATUS_ALLOC_FAILED", "DEVICE_ALLOCATION_FAILED"}

	// Mistakes of the one call that they answer: the next one is not touched.
	harmless = []string{"invalid argument", "invalid device ordinal", "invalid configuration argument", "operation not supported",
		"invalid resource handle", "CUDA driver version is insufficient", "_STATUS_NOT_SUPPORTED", "_STATUS_INVALID_VALUE", "_STATUS_BAD_PARAM",
		// What cannot be recorded, after which nothing is recorded any more.
		"operation not permitted when stream is capturing", "due to a previous error during capture", "merge of separate capture sequences",
		"capture was not ended in the same stream", "capturing stream has unjoined work", "uncaptured work in another stream",
		"depend on a capturing blocking stream", "last recorded in a capturing stream", "terminate a thread-local capture sequence"}

	noMemory = []string{"DefaultCPUAllocator: can't allocate memory", "DefaultCPUAllocator: not enough memory", "std::bad_alloc"}

	ofCUDA = []string{"CUDA error: ", "CUDA driver error: ", "CUBLAS_STATUS_", "CUDNN_STATUS_", "CUSOLVER_STATUS_", "CUSPARSE_STATUS_"}
)

// Fault says what the error means for the card and the process, by libtorch's words. An error of CUDA or its libraries
// with other words is taken for the worst: to start over elsewhere is safe.
func (e *Error) Fault() Fault {
	has := func(list []string) bool {
		return slices.ContainsFunc(list, func(words string) bool { return strings.Contains(e.Message, words) })
	}
	switch {
	case has(full):
		return OutOfMemory
	case strings.Contains(e.Message, "no kernel image is available"):
		return NoKernel
	case has(noMemory):
		return NoMemory
	case has(harmless), !has(ofCUDA):
		return NoFault
	}
	return Poisoned
}

// Room is how much memory a card had when an operation found too little, in bytes; 0 is not told.
type Room struct{ Asked, Total, Free, Own int64 }

// Others is how much of the card other processes had.
func (r Room) Others() int64 {
	if r.Total == 0 || r.Own == 0 {
		return 0
	}
	return max(0, r.Total-r.Free-r.Own)
}

const roomSize = `([0-9.]+ (?:GiB|MiB|KiB|bytes))`

var rooms = []struct {
	words *regexp.Regexp
	of    func(*Room) *int64
}{
	{regexp.MustCompile(`Tried to allocate ` + roomSize), func(r *Room) *int64 { return &r.Asked }},
	{regexp.MustCompile(`total capacity of ` + roomSize), func(r *Room) *int64 { return &r.Total }},
	{regexp.MustCompile(`of which ` + roomSize + ` is free`), func(r *Room) *int64 { return &r.Free }},
	{regexp.MustCompile(`this process has ` + roomSize + ` memory in use`), func(r *Room) *int64 { return &r.Own }},
}

// Room reads what libtorch says of a card's memory where that was too little.
func (e *Error) Room() (r Room) {
	for _, x := range rooms {
		if m := x.words.FindStringSubmatch(e.Message); m != nil {
			n, _ := humanize.ParseBytes(strings.TrimSuffix(m[1], "ytes")) // no number: 0
			*x.of(&r) = int64(n)
		}
	}
	return r
}
