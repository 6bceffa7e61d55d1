// Package rates owns how fast a device does the work of steps, by units that kinds say their
// work in (step.Work): what was measured on a device and is kept in a file of its own, and what
// the paper prints of the one that it used. It must not know how units are measured, or plans.
package rates
