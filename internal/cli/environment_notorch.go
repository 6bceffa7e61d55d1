//go:build notorch

package cli

// libtorch is the version that this program computes with.
func libtorch() string { return "none" }

// devices are what it finds to compute on.
func devices() string { return "none" }
