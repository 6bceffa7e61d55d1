// Package worker registers workflows and activities with Temporal, and is the only package that does. It must not know
// kinds, HCL or command lines.
//
// Nothing here is promised to other modules: it may change at any time.
package worker
