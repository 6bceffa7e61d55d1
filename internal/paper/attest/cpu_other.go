//go:build !linux && !darwin

package attest

// cpuModel is unknown here.
func cpuModel() string { return "" }
