// Package optimizer changes parameters by their gradients: Adafactor (Shazeer and Stern, 2018) with the semantics of
// transformers 4.44.1's optimization.Adafactor for relative_step = False and beta1 = None, which is what DSI models are
// trained with: factored second moments of matrices, update clipping, no first moment; and AdamW (Loshchilov and
// Hutter, 2019) with the semantics of torch.optim.AdamW, and of transformers' Trainer where that decides which
// parameters decay: all except biases and the weights of layer norms.
//
// It knows of tensors and names, not of models, schedules or data.
package optimizer

import (
	"io"

	"github.com/redsi/redsi/internal/model/amp"
	"github.com/redsi/redsi/internal/model/tensor"
)

// Optimizer keeps running means for a list of parameters, which it changes in place and does not own. Its state can be
// written and read without loss, so that training continues bit for bit on a CPU. Methods must be called within
// tensor.Run or tensor.Try, except Write, Read and Close.
type Optimizer interface {
	// Step updates every parameter with its gradient, in the order of the parameters, at a learning rate.
	Step(grads []*tensor.Tensor, rate float64)
	// StepOn is Step without waiting for the device, where rate is, float32 [1]: every parameter is updated
	// with its gradient, of any float type, divided by what scaler says, and nothing changes where scaler
	// found an update bad, which does not count either. Scaler, which has checked these gradients, may be nil.
	// It takes few operations, whatever the number of parameters.
	//
	// A call that was recorded may be replayed, until the optimizer's next Step or Read: all that changes from
	// update to update are the values of tensors. The first call of all, and after Step or Read, arranges
	// the state, and is not one to record.
	StepOn(grads []*tensor.Tensor, rate *tensor.Tensor, scaler *amp.Scaler)
	// Steps is the number of updates. After StepOn it waits for the device.
	Steps() int64
	// Write writes the state as a safetensors file, and the number of updates as its metadata.
	Write(w io.Writer) error
	// Read restores what Write wrote of an optimizer of the same parameters, bit for bit. After an error the
	// state is as it was.
	Read(r io.ReaderAt, size int64) error
	// Close frees the state.
	Close()
}
