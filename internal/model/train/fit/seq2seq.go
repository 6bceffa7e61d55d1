package fit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/redsi/redsi/internal/corpora/splitmix"
	"github.com/redsi/redsi/internal/model/amp"
	"github.com/redsi/redsi/internal/model/optimizer"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/train"
)

// Seq2Seq is a train.Learner: a model whose dropout masks are a function of seed and step.
// The model computes in its Compute type. For F16 the loss is scaled, and updates
// whose loss or gradients overflow are left out, as torch's GradScaler does.
type Seq2Seq struct {
	Model     *seq2seq.Model
	Optimizer optimizer.Optimizer
	Seed      int64

	// Accumulate is the number of parts that the examples of an update are cut into. The parts' gradients are added up,
	// each weighted by its labels: the update is the one of all examples at once, up to rounding and dropout's masks,
	// in the memory of a part. 0 and 1: examples are not cut.
	Accumulate int
	// ClipNorm bounds the norm of all gradients together, as torch's clip_grad_norm_ does; 0: it is not bounded.
	ClipNorm float64
	// OneByOne asks a card for each operation of every update: nothing is recorded and replayed.
	OneByOne bool

	scaler amp.State // on a card, as it was read last
	inRow  int       // there: updates left out one after another, because of the loss itself
	losses []train.Loss
	card   *amp.Scaler      // on a card: what scaler is there
	asked  *recorder        // there
	sum    []*tensor.Tensor // there, of the parts' gradients and their loss, where there are several
}

// mostInRow is how many updates may be left out one after another because fp16
// overflowed in the forward pass. More are not an accident of a batch: training diverged.
const mostInRow = 50

// ErrFP16 says where fp16 does not train.
var ErrFP16 = errors.New("fp16 trains on a CUDA card only; use fp32 or bf16 on a CPU")

// NewSeq2Seq is a learner of a model on its device, which owns the optimizer, in case of an error too; F16 needs a
// CUDA card.
func NewSeq2Seq(m *seq2seq.Model, o optimizer.Optimizer, seed int64) (*Seq2Seq, error) {
	if m.Compute == tensor.F16 && !m.Device.IsCUDA() {
		o.Close()
		return nil, ErrFP16
	}
	return &Seq2Seq{Model: m, Optimizer: o, Seed: seed, scaler: amp.Start()}, nil
}

// Skipped is how many updates were left out because fp16 gradients overflowed.
func (l *Seq2Seq) Skipped() int64 { return l.scaler.Skipped }

// Recorded says how much of the updates on a card so far was recorded and replayed.
func (l *Seq2Seq) Recorded() Recorded {
	if l.asked == nil {
		return Recorded{}
	}
	return l.asked.Recorded
}

// Close frees what training took beside the model, the optimizer's state too.
func (l *Seq2Seq) Close() {
	l.end()
	l.Optimizer.Close()
}

func (l *Seq2Seq) Prepare(b *train.Batch) (err error) {
	parts := cut(b, l.Accumulate)
	for i := range parts {
		if parts[i].prepared, err = seq2seq.PrepareStep(l.Model.Config, l.Model.Device, parts[i].Batch, ownNumbers); err != nil {
			return err
		}
	}
	b.Prepared = parts
	return nil
}

func (l *Seq2Seq) Step(_ context.Context, b *train.Batch, step int64, rate float64) error {
	if b.Prepared == nil {
		if err := l.Prepare(b); err != nil {
			return err
		}
	}
	parts := b.Prepared.([]part)
	return tensor.Run(func(s *tensor.Scope) {
		seed := splitmix.Finish(splitmix.Finish(uint64(l.Seed)) + uint64(step))
		if l.Model.Device.IsCUDA() {
			l.stepOnCard(parts, seed, rate)
		} else {
			l.losses = append(l.losses, l.step(s, parts, &tensor.RNG{Seed: seed}, rate))
		}
	})
}

// step makes an update on a CPU.
func (l *Seq2Seq) step(s *tensor.Scope, parts []part, rng *tensor.RNG, rate float64) train.Loss {
	loss, grads := l.gradients(s, parts, rng)
	if train.Finite(loss) {
		tensor.NoGrad(func() {
			l.clip(s, grads)
			l.Optimizer.Step(grads, rate)
			l.Model.Changed()
		})
	}
	return train.Loss{Value: loss}
}

// Losses implements train.Learner. On a CPU each loss is there at once.
func (l *Seq2Seq) Losses(all bool) (losses []train.Loss, err error) {
	if l.card != nil && (all || l.card.Full()) {
		err = tensor.Try(l.read)
	}
	losses, l.losses = l.losses, nil
	return losses, err
}

// gradients returns the batch's mean loss per label and its gradients.
func (l *Seq2Seq) gradients(s *tensor.Scope, parts []part, rng *tensor.RNG) (loss float64, sum []*tensor.Tensor) {
	if len(parts) == 1 {
		of, grads := l.Model.Gradients(s, parts[0].prepared, rng, seq2seq.Scale{})
		return of.Item(), grads
	}
	for k, p := range parts {
		tensor.Within(func(inner *tensor.Scope) {
			of, grads := l.Model.Gradients(inner, p.prepared, rng, seq2seq.Scale{By: p.share})
			loss += of.Item() * p.share
			tensor.NoGrad(func() {
				for i, g := range grads {
					if g = inner.ToDType(g, tensor.F32); k == 0 {
						sum = append(sum, s.Move(g))
					} else {
						inner.AddInPlace(sum[i], g)
					}
				}
			})
		})
	}
	return loss, sum
}

// clip is torch.nn.utils.clip_grad_norm_.
func (l *Seq2Seq) clip(s *tensor.Scope, grads []*tensor.Tensor) {
	if l.ClipNorm == 0 {
		return
	}
	square := 0.0
	for _, g := range grads {
		square += s.SquareSum(g)
	}
	if by := l.ClipNorm / (math.Sqrt(square) + 1e-6); by < 1 {
		for i, g := range grads {
			grads[i] = s.ToDType(g, tensor.F32)
			s.ScaleInPlace(grads[i], by)
		}
	}
}

const (
	optimizerFile = "optimizer.safetensors"
	scalerFile    = "scaler.json"
)

// scalerState is the state of a learner beside model and optimizer.
type scalerState struct {
	amp.State
	InRow int `json:"in_row"`
}

func (l *Seq2Seq) Save(folder string) error {
	if err := l.SaveModel(folder); err != nil {
		return err
	}
	if l.card != nil {
		if err := tensor.Try(l.read); err != nil {
			return err
		}
	}
	f, err := os.Create(filepath.Join(folder, optimizerFile))
	if err != nil {
		return err
	}
	if err := errors.Join(l.Optimizer.Write(f), f.Close()); err != nil {
		return fmt.Errorf("%s: %w", optimizerFile, err)
	}
	data, err := json.Marshal(scalerState{l.scaler, l.inRow})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, scalerFile), data, 0o644)
}

// finiteModel is a *train.NotFiniteError of the first parameter that is not.
func finiteModel(m *seq2seq.Model) error {
	return tensor.Do(func(*tensor.Scope) (failed error) {
		tensor.NoGrad(func() {
			for _, p := range m.Params {
				tensor.Within(func(inner *tensor.Scope) { // masks of all parameters would be a quarter of their size
					if failed == nil && !inner.AllFinite(p.Tensor) {
						failed = &train.NotFiniteError{Parameter: p.Name}
					}
				})
			}
		})
		return failed
	})
}

// Load implements train.Learner: all is read and checked before anything is changed.
func (l *Seq2Seq) Load(folder string) error {
	saved, err := l.model(folder)
	if err != nil {
		return err
	}
	defer saved.Close()
	state, err := readScaler(filepath.Join(folder, scalerFile))
	if err != nil {
		return train.Unfit(err)
	}
	f, err := os.Open(filepath.Join(folder, optimizerFile))
	if err != nil {
		return train.Unfit(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := l.Optimizer.Read(f, info.Size()); err != nil {
		return misfit(fmt.Errorf("%s: %w", optimizerFile, err))
	}
	l.end() // the next step begins with this state
	l.scaler, l.inRow, l.losses = state.State, state.InRow, nil
	return tensor.Run(func(s *tensor.Scope) {
		defer l.Model.Changed()
		tensor.NoGrad(func() {
			for i, p := range l.Model.Params {
				s.CopyInPlace(p.Tensor, s.ToDevice(s.Detach(saved.Params[i].Tensor), l.Model.Device))
			}
		})
	})
}

// model reads a model of the learner's configuration.
func (l *Seq2Seq) model(folder string) (*seq2seq.Model, error) {
	m, err := seq2seq.LoadAs(folder, l.Model.Config, tensor.CPU)
	if err != nil {
		return nil, misfit(err)
	}
	if err := finiteModel(m); err != nil {
		m.Close()
		return nil, misfit(err)
	}
	return m, nil
}

// misfit is train.Unfit where libtorch may have failed, for want of memory.
func misfit(err error) error {
	if computing := new(tensor.Error); errors.As(err, &computing) {
		return err
	}
	return train.Unfit(err)
}

func readScaler(path string) (s scalerState, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("%s: %w", scalerFile, err)
	}
	if !(s.Scale > 0) || s.Good < 0 || s.Skipped < 0 || s.InRow < 0 || s.InRow > mostInRow {
		return s, fmt.Errorf("%s: %+v is not a state of it", scalerFile, s)
	}
	return s, nil
}

func (l *Seq2Seq) CheckModel(folder string) error {
	m, err := l.model(folder)
	if err == nil {
		m.Close()
	}
	return err
}

func (l *Seq2Seq) SaveModel(folder string) error {
	if err := finiteModel(l.Model); err != nil {
		return err
	}
	return l.Model.Save(folder)
}
