package native

// /* Without OpenMP at::parallel_for, a template, would run its loops on one thread. */
// /* libtorch is a release build: what its headers hold of debugging would not fit. */
// #cgo CXXFLAGS: -std=c++17 -DREDSI_NATIVE -DNDEBUG
// #cgo linux CXXFLAGS: -fopenmp
// #cgo linux LDFLAGS: -fopenmp
// #cgo LDFLAGS: -ltorch_cpu -lc10 -lstdc++ -lm
import "C"
