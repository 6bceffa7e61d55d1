package bert

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
)

// Load opens a Hugging Face model folder: config.json with model.safetensors or what else checkpoint.Weights finds.
func Load(folder string, device tensor.Device) (m *Model, err error) {
	c, err := ReadConfig(folder)
	if err != nil {
		return nil, err
	}
	err = checkpoint.Weights(folder, func(f *checkpoint.File) error {
		m, err = readWeights(c, f, device)
		return err
	})
	return m, err
}

// Zeros is a model of the text of a config.json whose parameters are zeros.
func Zeros(config []byte, device tensor.Device) (*Model, error) {
	c, err := parse(config)
	if err != nil {
		return nil, err
	}
	return readWeights(c, nil, device)
}

// Check says what would stop Load, and which tensors nothing is computed with; it reads config.json and the headers of
// the weights.
func Check(folder string) (c Config, unused []string, err error) {
	if c, err = ReadConfig(folder); err != nil {
		return c, nil, err
	}
	err = checkpoint.Weights(folder, func(f *checkpoint.File) error {
		l := &loader{f: f, m: &Model{Config: c}, headers: true}
		l.load()
		unused = l.m.Unused
		return l.err
	})
	return c, unused, err
}

func ReadConfig(folder string) (Config, error) {
	text, err := os.ReadFile(filepath.Join(folder, "config.json"))
	if err != nil {
		return Config{}, err
	}
	c, err := parse(text)
	if err != nil {
		return c, fmt.Errorf("%s: %w", folder, err)
	}
	return c, nil
}

// Encoder says whether models of that model_type are this package's.
func Encoder(modelType string) bool { return families[modelType] != nil }

// readWeights makes a model of the configuration that parse gave; without a file, of zeros.
func readWeights(c Config, f *checkpoint.File, device tensor.Device) (*Model, error) {
	l := &loader{f: f, m: &Model{Config: c, Device: device, scope: tensor.NewScope(), compute: tensor.F32, long: longTexts()}}
	l.m.activation = tensor.ActivationOf(c.Activation) // validate knows it
	err := tensor.Try(l.load)
	if err = errors.Join(l.err, err); err != nil {
		l.m.Close()
		return nil, err
	}
	return l.m, nil
}

// loader reads tensors, or their headers only, until the first error.
type loader struct {
	f       *checkpoint.File
	m       *Model
	headers bool
	err     error
}

// get reads a tensor under its name, with the family's prefix, or with the older names of norms.
func (l *loader) get(name string, shape ...int64) *tensor.Tensor {
	if l.err != nil {
		return nil
	}
	if l.f == nil {
		return l.m.scope.Zeros(tensor.F32, l.m.Device, shape...)
	}
	prefix := l.m.Config.family.prefix
	old := strings.NewReplacer("LayerNorm.weight", "LayerNorm.gamma", "LayerNorm.bias", "LayerNorm.beta").Replace(name)
	for _, other := range []string{prefix + name, old, prefix + old} {
		if !l.f.Has(name) && l.f.Has(other) {
			name = other
		}
	}
	if l.headers {
		l.err = l.f.Check(name, shape...)
		return nil
	}
	t, err := l.f.Tensor(l.m.scope, name, tensor.F32, l.m.Device, shape...)
	l.err = err
	return t
}

// dense reads a matrix [out, in] and its bias, or the scale and the shift of a norm [width].
func (l *loader) dense(name string, shape ...int64) dense {
	return dense{W: l.get(name+".weight", shape...), B: l.get(name+".bias", shape[0])}
}

func (l *loader) load() {
	m, c := l.m, l.m.Config
	m.words = l.get("embeddings.word_embeddings.weight", c.VocabSize, c.Embedding)
	m.positions = l.get("embeddings.position_embeddings.weight", c.MaxPositions, c.Embedding)
	if c.Types > 0 {
		m.types = l.get("embeddings.token_type_embeddings.weight", c.Types, c.Embedding)
	}
	m.norm = l.dense("embeddings.LayerNorm", c.Embedding)
	if c.Embedding != c.Hidden {
		wider := l.dense("embeddings_project", c.Hidden, c.Embedding)
		m.project = &wider
	}
	if c.Buckets > 0 {
		m.relative = l.get("encoder.relative_attention_bias.weight", c.Buckets, c.Heads)
	}
	n := c.family.names
	for i := range c.Layers {
		at := fmt.Sprintf(c.family.layers, i)
		m.layers = append(m.layers, layer{
			q: l.dense(at+n.q, c.Hidden, c.Hidden), k: l.dense(at+n.k, c.Hidden, c.Hidden),
			v: l.dense(at+n.v, c.Hidden, c.Hidden), o: l.dense(at+n.o, c.Hidden, c.Hidden),
			afterAttention: l.dense(at+n.afterAttention, c.Hidden),
			in:             l.dense(at+n.in, c.Intermediate, c.Hidden),
			out:            l.dense(at+n.out, c.Hidden, c.Intermediate), after: l.dense(at+n.after, c.Hidden),
		})
	}
	if l.err == nil && l.f != nil {
		stack, _, _ := strings.Cut(c.family.layers, ".")
		m.Unused, l.err = l.f.Rest(func(name string) bool { // heads and poolers are not used
			name = strings.TrimPrefix(name, c.family.prefix)
			return (strings.HasPrefix(name, "embeddings") || strings.HasPrefix(name, stack+".")) && !strings.HasSuffix(name, "_ids")
		})
	}
}
