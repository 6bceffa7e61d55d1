// Package nvidia asks NVIDIA's own libraries what cards there are: the management library
// (NVML) for those of the machine, the driver (libcuda) for those that this process may
// compute on, in the order in which it counts them. Both are found at run time; a machine
// without them has no such cards. It must not know libtorch, nor what computes on a card.
package nvidia
