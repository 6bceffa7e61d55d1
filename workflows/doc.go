// Package workflows holds the deterministic half of a run: Reproduce walks a plan and gives its steps to workers as
// activities, and Step does a step that is cut into parts.
//
// Workflow code knows plans as skeletons: addresses, edges and keys. The bytes (the plan, tasks, results) stay in the
// store, and activities read them, so that histories stay small. Of internal/runs it has only types. It must not know
// the store, HCL, kinds or any domain package, and calls activities by name. Beside it are names, contracts and Ask,
// which no workflow calls, for packages around it.
//
// Promised: the input and result of the workflow Reproduce as docs/operations.md has them, from version 0.1.0 on.
// Nothing else here is for other modules, and it may change at any time.
package workflows
