// Package rates owns how fast a device does the work of steps, in the units of step.Work: what was measured on a device
// and is kept in a file for it, and what the paper prints of its device. It must not know measuring, or plans.
package rates
