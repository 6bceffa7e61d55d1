// Package adamw is the AdamW optimizer (Loshchilov and Hutter, 2019) with the semantics
// of torch.optim.AdamW, and of transformers' Trainer where that decides which parameters
// decay: all but biases and the weights of layer norms.
//
// An Optimizer keeps the running means for a list of parameters; Step changes the
// parameters in place. Its state can be written and read without loss, so that
// training continues bit for bit on a CPU.
//
// It knows of tensors and names, not of models, schedules or data.
package adamw
