// Package torchfile reads tensors from files that torch.save wrote (pytorch_model.bin): the zip format since PyTorch
// 1.6 and the older one, which are pickles beside raw numbers.
//
// A pickle is a program. This reader does not run it: it has only the few opcodes and the few names that a dictionary
// of tensors needs, builds values of its own, and refuses everything else, by name. Memory is bounded by the file's
// size: numbers are read only where the file holds them, compressed files are refused, and each byte of a pickle, of
// which at most 16 MB are read, makes at most one small value.
//
// It knows of names, types, shapes and bytes, not of libtorch or models.
package torchfile
