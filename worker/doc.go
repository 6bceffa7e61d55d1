// Package worker is the only place where workflows and activities are
// registered with Temporal. It must not know kinds, HCL or command lines.
//
// Nothing here is promised to other modules: it may change at any time.
package worker
