// Package checkpoint reads a model's tensors from safetensors or PyTorch's files, whichever
// a file is, of one file or of several that an index lists, and writes the former, as it does
// what an optimizer keeps. It knows of files, names and shapes, not of models.
package checkpoint
