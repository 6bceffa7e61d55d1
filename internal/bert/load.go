//go:build !notorch

package bert

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/redsi/redsi/internal/tensor"
	"github.com/redsi/redsi/internal/tensor/checkpoint"
)

// Load opens a Hugging Face model folder: config.json with model.safetensors or,
// where that is not there, pytorch_model.bin.
func Load(folder string, device tensor.Device) (*Model, error) {
	text, err := os.ReadFile(filepath.Join(folder, "config.json"))
	if err != nil {
		return nil, err
	}
	c, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	var m *Model
	err = checkpoint.Weights(folder, func(r io.ReaderAt, size int64) (err error) {
		m, err = readWeights(c, r, size, device)
		return err
	}, "model.safetensors", "pytorch_model.bin")
	return m, err
}

// readWeights makes a model of the configuration that parse gave.
func readWeights(c Config, weights io.ReaderAt, size int64, device tensor.Device) (*Model, error) {
	f, err := checkpoint.Open(weights, size)
	if err != nil {
		return nil, err
	}
	l := &loader{f: f, m: &Model{Config: c, Device: device, scope: tensor.NewScope()}}
	err = tensor.Try(l.load)
	if err = errors.Join(l.err, err); err != nil {
		l.m.Close()
		return nil, err
	}
	return l.m, nil
}

// loader reads tensors until the first error.
type loader struct {
	f   *checkpoint.File
	m   *Model
	err error
}

func (l *loader) get(name string, shape ...int64) *tensor.Tensor {
	if l.err != nil {
		return nil
	}
	old := strings.NewReplacer("LayerNorm.weight", "LayerNorm.gamma", "LayerNorm.bias", "LayerNorm.beta").Replace(name)
	for _, other := range []string{"bert." + name, old, "bert." + old} {
		if !l.f.Has(name) && l.f.Has(other) {
			name = other
		}
	}
	t, err := l.f.Tensor(l.m.scope, name, tensor.F32, l.m.Device, shape...)
	l.err = err
	return t
}

func (l *loader) dense(name string, out, in int64) dense {
	return dense{l.get(name+".weight", out, in), l.get(name+".bias", out)}
}

func (l *loader) norm(name string) dense {
	return dense{l.get(name+".weight", l.m.Config.Hidden), l.get(name+".bias", l.m.Config.Hidden)}
}

func (l *loader) load() {
	m, c := l.m, l.m.Config
	m.words = l.get("embeddings.word_embeddings.weight", c.VocabSize, c.Hidden)
	m.positions = l.get("embeddings.position_embeddings.weight", c.MaxPositions, c.Hidden)
	m.types = l.get("embeddings.token_type_embeddings.weight", c.Types, c.Hidden)
	m.norm = l.norm("embeddings.LayerNorm")
	for i := range c.Layers {
		at := fmt.Sprintf("encoder.layer.%d.", i)
		m.layers = append(m.layers, layer{
			q: l.dense(at+"attention.self.query", c.Hidden, c.Hidden), k: l.dense(at+"attention.self.key", c.Hidden, c.Hidden),
			v: l.dense(at+"attention.self.value", c.Hidden, c.Hidden), o: l.dense(at+"attention.output.dense", c.Hidden, c.Hidden),
			afterAttention: l.norm(at + "attention.output.LayerNorm"),
			in:             l.dense(at+"intermediate.dense", c.Intermediate, c.Hidden),
			out:            l.dense(at+"output.dense", c.Hidden, c.Intermediate), after: l.norm(at + "output.LayerNorm"),
		})
	}
}
