// Package kernel multiplies a decoder's states with the output matrix, which it packs once, and reads the logits once:
// the normalizer of each row's softmax, and the maxima that tell a search where the best tokens are. Products of int8
// are for the layers' matrices too (int8.c). It is C, for the processor's vector units; without the libtorch build it
// is empty.
package kernel
