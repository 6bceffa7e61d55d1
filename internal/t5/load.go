//go:build !notorch

package t5

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/redsi/redsi/internal/atomicfile"
	"github.com/redsi/redsi/internal/tensor"
	"github.com/redsi/redsi/internal/tensor/checkpoint"
)

// The files of a Hugging Face model folder.
const (
	ConfigFile  = "config.json"
	WeightsFile = "model.safetensors"
	OldWeights  = "pytorch_model.bin"
)

// Load opens a model folder: config.json with model.safetensors or, where that is
// not there, pytorch_model.bin.
func Load(folder string, device tensor.Device) (*Model, error) {
	c, err := ReadConfig(folder)
	if err != nil {
		return nil, err
	}
	return withWeights(folder, c, device)
}

// LoadAs opens a model folder that Save wrote of a model with the configuration c. A
// folder of another one is an error.
func LoadAs(folder string, c Config, device tensor.Device) (*Model, error) {
	have, err := ReadConfig(folder)
	if err != nil {
		return nil, err
	}
	if same, err := have.same(c); err != nil {
		return nil, err
	} else if !same {
		return nil, fmt.Errorf("%s: it is of another model", ConfigFile)
	}
	return withWeights(folder, c, device)
}

func withWeights(folder string, c Config, device tensor.Device) (m *Model, err error) {
	err = checkpoint.Weights(folder, func(r io.ReaderAt, size int64) (err error) {
		m, err = readWeights(c, r, size, device)
		return err
	}, WeightsFile, OldWeights)
	return m, err
}

// ReadConfig reads a model folder's config.json, which must be a T5's.
func ReadConfig(folder string) (Config, error) {
	text, err := os.ReadFile(filepath.Join(folder, ConfigFile))
	if err != nil {
		return Config{}, err
	}
	c, err := parse(text)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", folder, err)
	}
	return c, nil
}

// Read makes a model of the text of config.json and a file of weights, of either
// format. Parameters are converted to float32. A tensor that is missing or has
// another shape than the configuration asks for is an error; tensors that the
// configuration does not ask for are not read.
func Read(config []byte, weights io.ReaderAt, size int64, device tensor.Device) (*Model, error) {
	c, err := parse(config)
	if err != nil {
		return nil, err
	}
	return readWeights(c, weights, size, device)
}

func parse(config []byte) (c Config, err error) {
	if err := json.Unmarshal(config, &c); err != nil {
		return c, fmt.Errorf("%s: %w", ConfigFile, err)
	}
	if kind, ok := c.other["model_type"]; ok && string(kind) != `"t5"` {
		return c, fmt.Errorf("%s: model_type is %s, want \"t5\"", ConfigFile, kind)
	}
	return c, c.Validate()
}

// readWeights makes a model of the configuration that parse gave.
func readWeights(c Config, weights io.ReaderAt, size int64, device tensor.Device) (*Model, error) {
	f, err := checkpoint.Open(weights, size)
	if err != nil {
		return nil, err
	}
	scope := tensor.NewScope()
	var m *Model
	var failed error
	err = tensor.Try(func() {
		var params []Param
		for _, p := range c.specs() {
			name := p.name
			// NOTE some files name the embedding only where it is used.
			if name == "shared.weight" && !f.Has(name) {
				name = "encoder.embed_tokens.weight"
			}
			var t *tensor.Tensor
			if t, failed = f.Tensor(scope, name, tensor.F32, device, p.shape...); failed != nil {
				return
			}
			params = append(params, Param{p.name, t})
		}
		m = build(c, device, scope, params)
		m.leaves()
	})
	if err = errors.Join(failed, err); err != nil {
		scope.Close()
		return nil, err
	}
	return m, nil
}

// WriteWeights writes the parameters as model.safetensors, as transformers names
// them. The same parameters give the same bytes.
func (m *Model) WriteWeights(w io.Writer) error {
	var failed error
	err := tensor.Try(func() {
		named := make([]checkpoint.Named, len(m.params))
		for i, p := range m.params {
			named[i] = checkpoint.Named{Name: p.Name, Tensor: p.Tensor}
		}
		failed = checkpoint.Write(w, map[string]string{"format": "pt"}, named)
	})
	return errors.Join(failed, err)
}

// Save writes config.json and model.safetensors to a folder, which transformers'
// T5ForConditionalGeneration.from_pretrained opens. Each file appears whole or not
// at all.
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
