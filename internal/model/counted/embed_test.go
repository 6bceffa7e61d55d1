package counted

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/redsi/redsi/internal/corpora/drawn"
	"github.com/redsi/redsi/internal/corpora/safetensors"
	"github.com/redsi/redsi/internal/host/roofline"
	"github.com/redsi/redsi/internal/model/bert"
	"github.com/redsi/redsi/internal/model/tensor"
)

// Embed counts a batch of texts of 512 tokens that an encoder reads.
func Embed(of string, sizes roofline.Model, texts int) (c roofline.Counted, err error) {
	draw := drawn.Numbers(3)
	batch := draw.Sequences(texts, 512, 512)
	for _, text := range batch {
		for i := range text {
			text[i] %= int32(sizes.Vocabulary)
		}
	}
	c = roofline.Counted{Operation: roofline.OpEmbed, Of: of, Model: sizes, Precision: "fp32", Batch: asks(batch), Name: "documents"}
	folder, err := os.MkdirTemp("", "encoder")
	if err != nil {
		return c, err
	}
	defer os.RemoveAll(folder)
	if err := writeEncoder(folder, sizes); err != nil {
		return c, err
	}
	defer tensor.EmulateShapes()()
	m, err := bert.Load(folder, tensor.CUDA(0))
	if err != nil {
		return c, err
	}
	defer m.Close()
	var failed error
	err = count(&c, func() { _, failed = m.Embed(batch, bert.CLS, 512*texts) })
	return c, errors.Join(err, failed)
}

// writeEncoder writes a BERT whose numbers are zeros.
func writeEncoder(folder string, m roofline.Model) error {
	config, err := json.Marshal(map[string]any{"model_type": "bert", "vocab_size": m.Vocabulary, "hidden_size": m.Width, "num_hidden_layers": m.Encoder,
		"num_attention_heads": m.Heads, "intermediate_size": m.FF, "max_position_embeddings": m.Positions})
	if err != nil {
		return err
	}
	var all []safetensors.Source
	err = bert.Tensors(config, func(name string, shape ...int64) error {
		n, err := safetensors.Size("F32", shape)
		all = append(all, safetensors.Source{Name: name, DType: "F32", Shape: shape, Write: func(w io.Writer) error {
			_, err := w.Write(make([]byte, n))
			return err
		}})
		return err
	})
	var weights bytes.Buffer
	return errors.Join(err, safetensors.Write(&weights, nil, all), os.WriteFile(filepath.Join(folder, "model.safetensors"), weights.Bytes(), 0o644),
		os.WriteFile(filepath.Join(folder, "config.json"), config, 0o644))
}
