// Package evaluate gives declarations their values, in the order that link has found: variables, nodes,
// instances, what a when leaves out, what waits for a step, modules within modules. The result is Steps.
// It imports all passes before it. Begin at Evaluate, then nodes.go and maker.go.
package evaluate
