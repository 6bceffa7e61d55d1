package device

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/redsi/redsi/internal/nvidia"
)

// CUDA is libtorch's half for cards, as this process has it.
type CUDA struct {
	Cards int    // that this process may compute on
	Why   string // why there are none, and what to do about it; "" if there are

	Runtime  string   // version of CUDA's libraries, such as "13.0"; "" where they are not loaded
	Folder   string   // where these libraries are, or would be
	Versions []string // of them, that of torch first

	Graphs      string // the library by which steps are recorded and replayed; "" if there is none
	WhyNoGraphs string // why there is none, where there are cards
}

// madeFor is what the CUDA half of the libtorch that tools/versions.mk pins was made for,
// and the least driver for that, as NVIDIA's tables have it.
var (
	madeFor     = nvidia.Version{Major: 13, Minor: 0}
	leastDriver = 580
)

// kernels are the compute capabilities that this half has machine code for, as its fat
// binaries name them. For newer ones than the newest it has code that the driver compiles.
func kernels(arch string) []nvidia.Version {
	if arch == "arm64" {
		return []nvidia.Version{{Major: 8}, {Major: 9}, {Major: 10}, {Major: 11}, {Major: 12}}
	}
	return []nvidia.Version{{Major: 7, Minor: 5}, {Major: 8}, {Major: 8, Minor: 6}, {Major: 9}, {Major: 10}, {Major: 12}}
}

// Supported says why libtorch cannot compute on a card of that capability; "" if it can.
func Supported(c nvidia.Version) string { return supported(c, runtime.GOARCH) }

// SupportedAnywhere is Supported of a card in some other machine, of either platform.
func SupportedAnywhere(c nvidia.Version) string {
	if supported(c, "arm64") == "" {
		return ""
	}
	return supported(c, "amd64")
}

func supported(c nvidia.Version, arch string) string {
	list := kernels(arch)
	newest := list[len(list)-1]
	if c == (nvidia.Version{}) || !c.Less(newest) || slices.ContainsFunc(list, func(k nvidia.Version) bool { return k.Major == c.Major && k.Minor <= c.Minor }) {
		return ""
	}
	return fmt.Sprintf("compute capability %s: this libtorch has code for cards from %s on, and none for this one", c, list[0])
}

// DriverFor says why a driver that is for CUDA up to that version is none for this
// libtorch; "" if it is one, or is not known.
func DriverFor(cuda nvidia.Version) string {
	if cuda == (nvidia.Version{}) || !cuda.Less(madeFor) {
		return ""
	}
	return fmt.Sprintf("it is for CUDA up to %s, libtorch's CUDA half of %s: that needs a driver %d or newer", cuda, madeFor, leastDriver)
}

// Fact is something that is kept beside a result.
type Fact struct{ Name, Text string }

// Name is a card for people: its number here, and what it is.
func Name(card int) string {
	if cards := nvidia.Visible().Cards; card < len(cards) {
		return cudaName(card) + " " + cards[card].Name
	}
	return cudaName(card)
}

// FactsOf are those of a card by the number that this process sees: what it is, and by
// which versions was computed.
func FactsOf(card int) []Fact { return factsOf(card, nvidia.Visible(), nvidia.Here(), Card().Runtime) }

func factsOf(card int, p nvidia.Process, m nvidia.Machine, runtime string) []Fact {
	facts := []Fact{{"card", cudaName(card)}}
	if card < len(p.Cards) {
		c := p.Cards[card]
		facts = []Fact{{"card", c.Name}, {"card number", cudaName(card)}, {"card id", c.UUID}}
	}
	if m.Driver != "" {
		facts = append(facts, Fact{"driver", m.Driver})
	}
	if p.CUDA != (nvidia.Version{}) {
		facts = append(facts, Fact{"driver's CUDA", p.CUDA.String()})
	}
	if runtime != "" {
		facts = append(facts, Fact{"CUDA", runtime})
	}
	return facts
}
