// Package device says where a worker computes: on which device, with how many threads.
// Without libtorch nothing computes, and there is nothing to set.
package device
