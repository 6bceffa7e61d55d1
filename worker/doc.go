// Package worker is the only place where workflows and activities are
// registered with Temporal.
package worker
