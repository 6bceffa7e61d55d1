package seq2seq

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
	"github.com/redsi/redsi/internal/system/atomicfile"
)

// The files of a Hugging Face model folder.
const (
	ConfigFile  = "config.json"
	WeightsFile = "model.safetensors"
)

// Check says what would stop Load, which tensors nothing is computed with, and what the weights add to c; it reads the
// headers of the weights, and what is there twice.
func Check(folder string, c Config) (of Config, unused []string, err error) {
	err = checkpoint.Weights(folder, func(f *checkpoint.File) (err error) {
		if c, err = c.Of(f); err != nil {
			return err
		}
		for _, s := range Specs(c) {
			if !s.Fixed {
				if err := f.Check(s.In(f), s.Shape...); err != nil {
					return err
				}
			}
		}
		unused, err = rest(c, f)
		return err
	})
	return c, unused, err
}

// rest are the tensors of a file, whose Specs were checked or read, that nothing is computed with. One that has a part in
// the model, but no place in c, is an error, and so are a second one of a place that has other numbers, and a Fixed one
// that has numbers at all.
func rest(c Config, f *checkpoint.File) (unused []string, err error) {
	for _, s := range Specs(c) {
		read := s.In(f)
		if s.Fixed && f.Has(read) {
			if zeros, err := f.Zeros(read, s.Shape...); err != nil {
				return nil, err
			} else if !zeros {
				return nil, fmt.Errorf("tensor %q is not 0, and nothing is added to scores here: take a model in which it is 0, as in all that were published", read)
			}
		}
		for _, name := range s.Other {
			if name == read || !f.Has(name) {
				continue
			}
			if same, err := f.Same(name, read); err != nil {
				return nil, err
			} else if !same {
				return nil, fmt.Errorf("tensors %q and %q have other numbers, and config.json says that they are one matrix: leave out the wrong one, or correct tie_word_embeddings: %w", name, read, checkpoint.ErrOther)
			}
		}
	}
	return f.Rest(func(name string) bool { return !c.Unused(name) })
}

// LoadAs opens a model folder that Save wrote of a model with the configuration c. A folder of another one is an error.
func LoadAs(folder string, c Config, device tensor.Device) (*Model, error) {
	text, err := os.ReadFile(filepath.Join(folder, ConfigFile))
	if err != nil {
		return nil, err
	}
	var have bytes.Buffer
	if err := json.Compact(&have, text); err != nil {
		return nil, fmt.Errorf("%s: %w", ConfigFile, err)
	}
	want, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(have.Bytes(), want) {
		return nil, fmt.Errorf("%s: it belongs to another model", ConfigFile)
	}
	return Load(folder, c, device)
}

// Load opens the weights of a model folder whose config.json says c: model.safetensors or what else
// checkpoint.Weights finds.
func Load(folder string, c Config, device tensor.Device) (m *Model, err error) {
	err = checkpoint.Weights(folder, func(f *checkpoint.File) (err error) {
		if c, err = c.Of(f); err != nil {
			return err
		}
		m, err = assemble(c, device, func(scope *tensor.Scope, s Spec) (*tensor.Tensor, error) {
			if s.Fixed {
				return scope.Zeros(tensor.F32, device, s.Shape...), nil
			}
			return f.Tensor(scope, s.In(f), tensor.F32, device, s.Shape...)
		})
		if err != nil {
			return err
		}
		if m.Unused, err = rest(c, f); err != nil {
			m.Close()
			m = nil
		}
		return err
	})
	return m, err
}

// In is the tensor's name in a file.
func (s Spec) In(f *checkpoint.File) string {
	name := s.Name
	for _, other := range s.Other {
		if !f.Has(name) && f.Has(other) {
			name = other
		}
	}
	return name
}

// WriteWeights writes all tensors as model.safetensors, as transformers names
// them. The same parameters give the same bytes.
func (m *Model) WriteWeights(w io.Writer) error {
	return tensor.Do(func(*tensor.Scope) error { return checkpoint.Write(w, map[string]string{"format": "pt"}, m.all) })
}

// Save writes config.json and model.safetensors to a folder, which transformers' from_pretrained opens. Each file is
// complete or absent.
func (m *Model) Save(folder string) error {
	text, err := json.MarshalIndent(m.Config, "", "  ")
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(folder, WeightsFile), 0o644, m.WriteWeights); err != nil {
		return err
	}
	return atomicfile.WriteFile(filepath.Join(folder, ConfigFile), append(text, '\n'), 0o644)
}
