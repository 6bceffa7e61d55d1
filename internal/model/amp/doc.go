// Package amp decides about an update on the device that computed it: whether loss and gradients are
// finite, by what they are divided (the loss scale of float16, as torch's GradScaler chooses
// it, and clipping of their norm, as torch.nn.utils.clip_grad_norm_ does it), and what the next
// scale is. Nothing waits for the device: losses and decisions are kept there until Read, which
// gets all of them in one transfer.
//
// It knows of tensors, not of optimizers, models or files.
package amp
