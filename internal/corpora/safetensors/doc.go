// Package safetensors reads and writes the safetensors format: an 8-byte length, a JSON header with each tensor's type,
// shape and place, then the bytes.
//
// A file from anywhere is safe to open: the header's size is bounded, every tensor must lie inside the file and be as long
// as its shape says, tensors may not overlap or leave gaps, and no memory is allocated for numbers that the file lacks.
// Tensors are read one at a time, as a stream.
//
// It knows of names, types, shapes and bytes, not of libtorch or models.
package safetensors
