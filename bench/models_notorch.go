//go:build notorch

package main

// Without libtorch there are no models to measure.
var (
	modelLines []line
	workloads  map[string]func([]string) (*workload, error)
)
