// Package adafactor is the Adafactor optimizer (Shazeer and Stern, 2018) with the
// semantics of transformers 4.44.1's optimization.Adafactor for relative_step =
// False and beta1 = None, which is what DSI models are trained with: factored
// second moments of matrices, update clipping, no first moment.
//
// An Optimizer keeps the running means for a list of parameters; Step changes the
// parameters in place. Its state can be written and read without loss, so that
// training continues bit for bit on a CPU.
//
// It knows of tensors and names, not of models, schedules or data.
package adafactor
