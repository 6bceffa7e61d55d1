//go:build notorch

package main

// Without libtorch there are no models to measure.
var (
	modelLines  []line
	cardLines   []line
	modelPieces map[string]func([]string) (sample, error)
	workloads   map[string]func([]string) (*workload, error)
)
