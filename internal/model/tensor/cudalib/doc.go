// Package cudalib loads the CUDA half of libtorch, libtorch_cuda.so and what it needs, into a
// process that runs with the CPU's half, where there are the libraries, a driver and a card; else
// it says why not and what to do. One program so serves both kinds of machines.
//
// The libraries are looked for where `make cuda` puts them, by where this process has its libtorch
// from; in the folder cuda beside lib, for archives; beside that libtorch, if it is Python's; or where
// REDSI_CUDA says. It also finds the library of package cudagraph. A folder is laid out as Python's site-packages: torch/lib and nvidia/*/lib.
//
// It must not know tensors, and runs in builds without libtorch.
package cudalib
