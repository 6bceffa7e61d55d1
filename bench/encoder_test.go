package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/redsi/redsi/internal/corpora/safetensors"
	"github.com/redsi/redsi/internal/host/rates"
)

// writeEncoder writes a BERT for texts of 512 tokens, whose numbers are zeros.
func writeEncoder(folder string, s rates.Shape) error {
	const positions = 512
	vocabulary, width, ff := int64(s.Vocabulary), int64(s.Width), int64(s.FF)
	config, err := json.Marshal(map[string]any{"model_type": "bert", "vocab_size": vocabulary, "hidden_size": width, "num_hidden_layers": s.Layers,
		"num_attention_heads": s.Heads, "intermediate_size": ff, "max_position_embeddings": positions})
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
	norm := func(name string) { add(name+".weight", width); add(name+".bias", width) }
	add("embeddings.word_embeddings.weight", vocabulary, width)
	add("embeddings.position_embeddings.weight", positions, width)
	add("embeddings.token_type_embeddings.weight", 2, width)
	norm("embeddings.LayerNorm")
	for i := range s.Layers {
		at := fmt.Sprintf("encoder.layer.%d.", i)
		for _, name := range []string{"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"} {
			dense(at+name, width, width)
		}
		norm(at + "attention.output.LayerNorm")
		dense(at+"intermediate.dense", ff, width)
		dense(at+"output.dense", width, ff)
		norm(at + "output.LayerNorm")
	}
	f, err := os.Create(filepath.Join(folder, "model.safetensors"))
	if err != nil {
		return err
	}
	return errors.Join(safetensors.Write(f, nil, all), f.Close(), os.WriteFile(filepath.Join(folder, "config.json"), config, 0o644))
}
