// Package tensor is a small, explicit layer over libtorch: the operations that
// this project's models need, about 1 µs each, and nothing hidden.
//
// The nouns:
//
//   - Tensor: a handle to a libtorch tensor. It belongs to exactly one Scope.
//   - Scope: owns tensors and frees them all in Close, or when the function it
//     was made for returns. Every operation is a method of the Scope that will
//     own the result. Move hands a tensor to another scope, Free ends one early.
//   - Run: the boundary. It locks the goroutine to its OS thread (libtorch keeps
//     its last error, its gradient mode and its thread pool per thread), opens a
//     scope, and turns the *Error that a failing operation panics with into a
//     returned error. Try is the same without a scope. Every operation must
//     happen inside one of the two.
//   - RNG: seed and counter, a value that can be stored. The same RNG value gives
//     the same dropout masks and initial weights on a CPU, whatever the number of
//     threads.
//
// Names follow PyTorch. A method whose name ends in InPlace changes its first tensor and returns nothing; all others do
// not change their arguments (views share memory, as in PyTorch: Narrow, Transpose, View, Expand, Select, Detach).
//
// Shapes, dtypes and indices are checked by libtorch at every operation; a
// mistake panics with an *Error that names the operation and the operands' shapes.
//
// The CUDA half of libtorch is loaded before the first operation, where there are its libraries, a driver and a card:
// Card says what became of it. What operations ask of a card can be recorded and replayed at once: Graph.
//
// Nothing here knows of models, files of a certain layout, optimizers or steps. The subpackage checkpoint reads
// files of tensors and writes safetensors; torchfile, which reads those of torch.save, needs no libtorch.
package tensor
