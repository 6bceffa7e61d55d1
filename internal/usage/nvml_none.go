//go:build !linux || !cgo

package usage

// openNVML finds no cards: this build cannot ask for them.
func openNVML() nvml { return nvml{} }
