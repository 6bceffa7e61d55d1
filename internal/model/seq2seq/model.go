package seq2seq

import (
	"slices"
	"sync"

	"github.com/redsi/redsi/internal/model/int8s"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
)

// Model is a model on one device. Its parameters are float32; Compute is the type that matrix products are done in
// (BF16 and F16 as torch.autocast does). Several goroutines may read it at once; changing it needs all of them done.
type Model struct {
	Config  Config
	Device  tensor.Device
	Compute tensor.DType

	Params []Param  // what training changes, in transformers' order, tied ones once
	Unused []string // tensors of its file that nothing is computed with

	Smoothing float64 // of each label's weight, how much Gradients spreads evenly over all tokens

	// HalfScores lets searches on a CPU multiply by the output matrix in BF16 too, if Compute is BF16. Otherwise, as in
	// training and on a card, scores are products of float32. Their sums are float32 either way.
	HalfScores bool

	// Checkpoint makes Gradients keep the beginning of each block only, and recompute blocks in the backward pass: less
	// memory, a third more work, on a CPU the same bytes.
	Checkpoint bool

	scope  *tensor.Scope
	all    []Param // in the order of Specs
	net    Network
	copies *copies         // on a card or in half precision; nil before the first pass
	making *sync.Mutex     // of copies
	int8   *int8s.Matrices // nil: products are of Compute
}

// Param is a parameter under its Hugging Face name.
type Param = checkpoint.Named

// assemble makes a model of tensors that of gives, owned by scope.
func assemble(c Config, device tensor.Device, of func(scope *tensor.Scope, s Spec) (*tensor.Tensor, error)) (m *Model, err error) {
	scope := tensor.NewScope()
	err = tensor.Do(func(*tensor.Scope) error {
		var all []Param
		for _, s := range Specs(c) {
			t, err := of(scope, s)
			if err != nil {
				return err
			}
			all = append(all, Param{Name: s.Name, Tensor: t})
		}
		m = build(c, device, scope, all)
		return nil
	})
	if err != nil {
		scope.Close()
	}
	return m, err
}

// build makes a model of all tensors of its configuration, in their order, and
// makes parameters leaves that gradients can be asked for.
func build(c Config, device tensor.Device, scope *tensor.Scope, all []Param) *Model {
	m := &Model{Config: c, Device: device, Compute: tensor.F32, scope: scope, all: all, making: new(sync.Mutex)}
	for i, s := range Specs(c) {
		if !s.Fixed {
			m.Params = append(m.Params, all[i])
			scope.Leaf(all[i].Tensor)
		}
	}
	m.net = c.Build(m.of)
	return m
}

func (m *Model) Close() {
	m.forget()
	m.scope.Close()
}

// Param is the tensor of that Hugging Face name, or nil.
func (m *Model) Param(name string) *tensor.Tensor {
	if i := slices.IndexFunc(m.all, func(p Param) bool { return p.Name == name }); i >= 0 {
		return m.all[i].Tensor
	}
	return nil
}

func (m *Model) of(s Spec) *tensor.Tensor { return m.Param(s.Name) }

func (m *Model) Vocabulary() Vocabulary { return m.Config.Vocabulary() }

// Head is the output matrix, [Size, width].
func (m *Model) Head() *tensor.Tensor { return m.net.Head() }

// SetDropout trains with another probability, which the saved configuration has too.
func (m *Model) SetDropout(p float64) {
	m.Config = m.Config.WithDropout(p)
	m.net = m.Config.Build(m.of)
	m.forget()
}

// SearchIn lets encoding, decoding steps and scores multiply in a precision: "fp32", "bf16" or "int8". int8 rounds only
// products with matrices, parameters and everything else stay float32; it is for processors, and not for Gradients.
func (m *Model) SearchIn(precision string) (err error) {
	if m.int8 = nil; precision == "int8" {
		if m.int8, err = int8s.New(m.Device); err != nil {
			return err
		}
		precision = "fp32"
	}
	m.HalfScores = true
	m.Compute, err = tensor.ParseDType(precision)
	return err
}

func (m *Model) Int8() bool { return m.int8 != nil }

// Slow is what a user should know of a search whose precision takes longer than fp32 on this processor; "" of others.
func (m *Model) Slow() string {
	if m.Int8() {
		return int8s.Slow()
	}
	return tensor.SlowBF16(m.Compute, m.Device)
}

// ParameterCount is the number of trainable numbers, tied ones counted once.
func ParameterCount(c Config) int64 {
	var n int64
	for _, s := range Specs(c) {
		if s.Fixed {
			continue
		}
		size := int64(1)
		for _, d := range s.Shape {
			size *= d
		}
		n += size
	}
	return n
}

// embed looks up tokens: T ids -> [T, width].
func (m *Model) embed(s *tensor.Scope, ids []int64) *tensor.Tensor {
	m.checkTokens(ids)
	return s.IndexSelect(m.net.Embedding(), 0, s.FromInt64s(ids, m.Device, int64(len(ids))))
}

// checkTokens says which token the model does not have.
func (m *Model) checkTokens(ids []int64) {
	size := m.Vocabulary().Size
	for i, id := range ids {
		if id < 0 || id >= size {
			tensor.Failf("model", "token %d at %d is outside of the vocabulary of %d", id, i, size)
		}
	}
}
