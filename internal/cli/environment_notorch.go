//go:build notorch

package cli

// libtorch is the version that this program computes with, and devices what it finds.
func libtorch() (version, devices string) { return "none", "none" }
