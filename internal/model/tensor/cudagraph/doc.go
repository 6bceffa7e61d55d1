// Package cudagraph records what a thread asks of a card, and asks for all of it again at once: a CUDA
// graph. It owns the interface (table.h) of a library that knows how, and its source (library), which
// is compiled apart, against CUDA's headers: redsi itself is built without them, and runs without it.
//
// It must not know tensors: package tensor says what may be recorded.
package cudagraph
