//go:build !linux && !darwin

package attest

// cpuModel is not known here.
func cpuModel() string { return "" }
