package device

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/redsi/redsi/internal/host/nvidia"
)

// CUDA is libtorch's half for cards, as this process has it.
type CUDA struct {
	Cards int    // on which this process may compute
	Why   string // why there are none, and what to do about it; "" if there are

	Runtime string // version of CUDA's libraries, such as "13.0"; "" where they are not loaded
	Folder  string // where these libraries are, or would be

	Graphs      string // the library by which steps are recorded and replayed; "" if there is none
	WhyNoGraphs string // why there is none, where there are cards
}

// builtFor is the CUDA of libtorch in tools/versions.mk, and leastDriver the oldest driver for it in NVIDIA's tables.
var (
	builtFor    = nvidia.Version{Major: 13, Minor: 0}
	leastDriver = 580
)

// kernels returns the compute capabilities for which libtorch has machine code, as its fat binaries name them. For newer
// capabilities than the newest it has code that the driver compiles.
func kernels(arch string) []nvidia.Version {
	if arch == "arm64" {
		return []nvidia.Version{{Major: 8}, {Major: 9}, {Major: 10}, {Major: 11}, {Major: 12}}
	}
	return []nvidia.Version{{Major: 7, Minor: 5}, {Major: 8}, {Major: 8, Minor: 6}, {Major: 9}, {Major: 10}, {Major: 12}}
}

// Supported says why libtorch cannot compute on a card of that capability; "" if it can.
func Supported(c nvidia.Version) string { return supported(c, runtime.GOARCH) }

func supported(c nvidia.Version, arch string) string {
	list := kernels(arch)
	newest := list[len(list)-1]
	if c == (nvidia.Version{}) || !c.Less(newest) || slices.ContainsFunc(list, func(k nvidia.Version) bool { return k.Major == c.Major && k.Minor <= c.Minor }) {
		return ""
	}
	return fmt.Sprintf("compute capability %s: this libtorch has code for cards from %s on, and none for this one", c, list[0])
}

// DriverFor says why a driver for CUDA up to that version is too old for this libtorch; "" if it is not, or unknown.
func DriverFor(cuda nvidia.Version) string {
	if cuda == (nvidia.Version{}) || !cuda.Less(builtFor) {
		return ""
	}
	return fmt.Sprintf("it is for CUDA up to %s, libtorch's CUDA half of %s: that needs a driver %d or newer", cuda, builtFor, leastDriver)
}

// Fact is a fact that is kept beside a result.
type Fact struct{ Name, Text string }

// Facts is what a process of the second program finds: what it computes with, and on which cards it may.
type Facts struct {
	Libtorch     string         `json:"libtorch"`
	Instructions string         `json:"instructions"` // of the processors, with which libtorch computes here, such as "AVX512"
	Exact        bool           `json:"exact"`        // results are the same bits for any number of threads
	CUDA         CUDA           `json:"cuda"`
	Process      nvidia.Process `json:"process"`
	Machine      nvidia.Machine `json:"machine"`
}

// Devices names for people what the process computes on.
func (f Facts) Devices() string {
	if f.CUDA.Cards > 0 {
		return fmt.Sprintf("cpu, cuda × %d", f.CUDA.Cards)
	}
	return "cpu"
}

// Name describes a card for people: its number in the process, and its model.
func (f Facts) Name(card int) string {
	if card < len(f.Process.Cards) {
		return cudaName(card) + " " + f.Process.Cards[card].Name
	}
	return cudaName(card)
}

// Of returns the facts of a card by its number in the process: what it is, and the versions of what computes on it.
func (f Facts) Of(card int) []Fact {
	facts := []Fact{{"card", cudaName(card)}}
	if card < len(f.Process.Cards) {
		c := f.Process.Cards[card]
		facts = []Fact{{"card", c.Name}, {"card number", cudaName(card)}, {"card id", c.UUID}}
	}
	if f.Machine.Driver != "" {
		facts = append(facts, Fact{"driver", f.Machine.Driver})
	}
	if f.Process.CUDA != (nvidia.Version{}) {
		facts = append(facts, Fact{"driver's CUDA", f.Process.CUDA.String()})
	}
	if f.CUDA.Runtime != "" {
		facts = append(facts, Fact{"CUDA", f.CUDA.Runtime})
	}
	return facts
}
