package counted

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
	if err := WriteEncoder(folder, sizes); err != nil {
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

// WriteEncoder writes a BERT whose numbers are zeros.
func WriteEncoder(folder string, m roofline.Model) error {
	config, err := json.Marshal(map[string]any{"model_type": "bert", "vocab_size": m.Vocabulary, "hidden_size": m.Width, "num_hidden_layers": m.Encoder,
		"num_attention_heads": m.Heads, "intermediate_size": m.FF, "max_position_embeddings": m.Positions})
	if err != nil {
		return err
	}
	var all []safetensors.Source
	add := func(name string, shape ...int64) {
		n := int64(4)
		for _, d := range shape {
			n *= d
		}
		all = append(all, safetensors.Source{Name: name, DType: "F32", Shape: shape, Write: func(w io.Writer) error {
			_, err := io.Copy(w, bytes.NewReader(make([]byte, n)))
			return err
		}})
	}
	dense := func(name string, out, in int64) { add(name+".weight", out, in); add(name+".bias", out) }
	norm := func(name string) { add(name+".weight", m.Width); add(name+".bias", m.Width) }
	add("embeddings.word_embeddings.weight", m.Vocabulary, m.Width)
	add("embeddings.position_embeddings.weight", m.Positions, m.Width)
	add("embeddings.token_type_embeddings.weight", 2, m.Width)
	norm("embeddings.LayerNorm")
	for i := range m.Encoder {
		at := fmt.Sprintf("encoder.layer.%d.", i)
		for _, name := range []string{"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"} {
			dense(at+name, m.Width, m.Width)
		}
		norm(at + "attention.output.LayerNorm")
		dense(at+"intermediate.dense", m.FF, m.Width)
		dense(at+"output.dense", m.Width, m.FF)
		norm(at + "output.LayerNorm")
	}
	f, err := os.Create(filepath.Join(folder, "model.safetensors"))
	if err != nil {
		return err
	}
	return errors.Join(safetensors.Write(f, nil, all), f.Close(), os.WriteFile(filepath.Join(folder, "config.json"), config, 0o644))
}
