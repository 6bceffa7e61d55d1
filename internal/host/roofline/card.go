package roofline

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/redsi/redsi/internal/host/nvidia"
)

// Card is what a data sheet says of a card. Products of matrices are in operations per
// second, a multiplication and an addition being two, without sparsity, summed in float32.
type Card struct {
	Name      string  `json:"name"`     // as --on takes it
	Title     string  `json:"title"`    // as people know it
	Half      float64 `json:"half"`     // products of float16
	BF16      float64 `json:"bf16"`     // of bfloat16; 0: it has none, and float32 takes their place
	Float     float64 `json:"float"`    // of float32, without TF32
	Bandwidth float64 `json:"bytes_s"`  // of its memory, bytes a second
	Memory    int64   `json:"memory"`   // bytes
	Bus       float64 `json:"bus"`      // bytes a second between host and card
	Launch    float64 `json:"launch_s"` // seconds of the host for one operation
	Price     float64 `json:"price"`    // US dollars for an hour, an assumption: see PriceDate

	// Capability is NVIDIA's number of its instructions.
	Capability nvidia.Version `json:"capability"`

	is string // a regular expression for the names that drivers have for it
}

// PriceDate is when prices were assumed: what renting one card of the kind costs by the
// hour, on demand, at middling providers. Nothing else depends on them.
const PriceDate = "2025"

// launch is how long the host takes to prepare one operation of libtorch in C++, autograd's
// share included: an assumption, between the 3 to 10 µs that are usually found. Nobody has
// measured it for redsi.
const launch = 6e-6

// pcie are usable bytes a second of buses with sixteen lanes.
const (
	pcie3 = 12e9
	pcie4 = 24e9
	pcie5 = 50e9
)

// Cards are those whose figures are known, from NVIDIA's data sheets of each: "V100 GPU
// Accelerator" (2020), "T4 Tensor Core GPU" (2019), "A100 Tensor Core GPU" (2022), "A10
// Tensor Core GPU" (2021), "L4", "L40S" (2023), "H100 Tensor Core GPU" (2023), "H200 Tensor
// Core GPU" (2024), and the white paper "Ada GPU Architecture" (2022) of the RTX 4090. Where
// a sheet gives products with sparsity, half of it stands here.
func Cards() []Card {
	return []Card{
		{Name: "v100", Title: "NVIDIA V100 SXM2, 16 GB", Half: 125e12, Float: 15.7e12, Bandwidth: 900e9, Memory: gb(16), Bus: pcie3, Launch: launch, Price: 0.6, Capability: nvidia.Version{Major: 7}, is: `V100.*16 ?GB|V100`},
		{Name: "t4", Title: "NVIDIA T4, 16 GB", Half: 65e12, Float: 8.1e12, Bandwidth: 320e9, Memory: gb(16), Bus: pcie3, Launch: launch, Price: 0.35, Capability: nvidia.Version{Major: 7, Minor: 5}, is: `Tesla T4|\bT4\b`},
		{Name: "a10", Title: "NVIDIA A10, 24 GB", Half: 125e12, BF16: 125e12, Float: 31.2e12, Bandwidth: 600e9, Memory: gb(24), Bus: pcie4, Launch: launch, Price: 0.75, Capability: nvidia.Version{Major: 8, Minor: 6}, is: `\bA10G?\b`},
		{Name: "l4", Title: "NVIDIA L4, 24 GB", Half: 121e12, BF16: 121e12, Float: 30.3e12, Bandwidth: 300e9, Memory: gb(24), Bus: pcie4, Launch: launch, Price: 0.7, Capability: nvidia.Version{Major: 8, Minor: 9}, is: `\bL4\b`},
		{Name: "rtx4090", Title: "NVIDIA GeForce RTX 4090, 24 GB", Half: 165.2e12, BF16: 165.2e12, Float: 82.6e12, Bandwidth: 1008e9, Memory: gb(24), Bus: pcie4, Launch: launch, Price: 0.4, Capability: nvidia.Version{Major: 8, Minor: 9}, is: `RTX 4090`},
		{Name: "l40s", Title: "NVIDIA L40S, 48 GB", Half: 362e12, BF16: 362e12, Float: 91.6e12, Bandwidth: 864e9, Memory: gb(48), Bus: pcie4, Launch: launch, Price: 1, Capability: nvidia.Version{Major: 8, Minor: 9}, is: `\bL40S\b`},
		{Name: "a100-40", Title: "NVIDIA A100, 40 GB", Half: 312e12, BF16: 312e12, Float: 19.5e12, Bandwidth: 1555e9, Memory: gb(40), Bus: pcie4, Launch: launch, Price: 1.3, Capability: nvidia.Version{Major: 8}, is: `A100.*40 ?GB`},
		{Name: "a100", Title: "NVIDIA A100, 80 GB", Half: 312e12, BF16: 312e12, Float: 19.5e12, Bandwidth: 2039e9, Memory: gb(80), Bus: pcie4, Launch: launch, Price: 1.8, Capability: nvidia.Version{Major: 8}, is: `A100.*80 ?GB`},
		{Name: "h100", Title: "NVIDIA H100 SXM, 80 GB", Half: 989.4e12, BF16: 989.4e12, Float: 66.9e12, Bandwidth: 3350e9, Memory: gb(80), Bus: pcie5, Launch: launch, Price: 3, Capability: nvidia.Version{Major: 9}, is: `H100`},
		{Name: "h200", Title: "NVIDIA H200 SXM, 141 GB", Half: 989.4e12, BF16: 989.4e12, Float: 66.9e12, Bandwidth: 4800e9, Memory: gb(141), Bus: pcie5, Launch: launch, Price: 3.8, Capability: nvidia.Version{Major: 9}, is: `H200`},
	}
}

func gb(n int64) int64 { return n * 1_000_000_000 }

// CardNamed finds a card by the name that --on takes.
func CardNamed(name string) (Card, error) {
	var known []string
	for _, c := range Cards() {
		if strings.EqualFold(c.Name, name) {
			return c, nil
		}
		known = append(known, c.Name)
	}
	return Card{}, fmt.Errorf("there are no figures for card %q, only for %s", name, strings.Join(known, ", "))
}

// CardOf finds a card by the name that its driver has for it, such as "NVIDIA H100 80GB HBM3".
func CardOf(model string) (Card, bool) {
	for _, c := range Cards() {
		if regexp.MustCompile(`(?i)` + c.is).MatchString(model) {
			return c, true
		}
	}
	return Card{}, false
}

// half is how many operations a second the card does in products of a half precision; 0 of
// float32, and of bfloat16 where it has none and float32 takes its place.
func (c Card) half(precision string) float64 {
	switch precision {
	case "fp16":
		return c.Half
	case "bf16":
		return c.BF16
	}
	return 0
}
