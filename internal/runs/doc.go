// Package runs owns what a store keeps of runs, beside the results of their steps: records of runs that ended, with the
// outcome of each step, of open runs, of failures of steps, what a running step says, and sums: how long steps took, what
// a pipeline has spent.
//
// It imports artifacts, internal/host/usage and internal/system/values. It must not know how runs are done: not Temporal,
// workflows, activities, kinds or HCL.
//
// Begin with record.go, then store.go.
package runs
