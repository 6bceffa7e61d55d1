// Package checkpoint reads a model's tensors from model.safetensors or
// pytorch_model.bin, whichever a file is, and writes the former. It knows of files,
// names and shapes, not of models.
package checkpoint
