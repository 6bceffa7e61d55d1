// Package torchfile reads tensors from files that torch.save wrote (pytorch_model.bin):
// the zip format since PyTorch 1.6 and the older one, which are pickles beside raw
// numbers.
//
// A pickle is a program. This reader runs none of it: it knows the few opcodes and
// the few names that a dictionary of tensors needs, builds values of its own, and
// refuses everything else, by name. Sizes are bounded by the file's: nothing is
// allocated that the file does not hold.
//
// It knows of names, types, shapes and bytes, not of libtorch or models.
package torchfile
