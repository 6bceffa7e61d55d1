package rehearsal

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
)

type Shape struct{ Layers, Width, Inner, Heads, PerHead int }

// EfficientTiny is the shape of google/t5-efficient-tiny, SmallBERT the shape of the second smallest of Google's small BERTs.
var (
	EfficientTiny = Shape{Layers: 4, Width: 256, Inner: 1024, Heads: 4, PerHead: 64}
	SmallBERT     = Shape{Layers: 2, Width: 256, Inner: 1024, Heads: 4}
)

// tensor has random numbers, or ones in a norm.
type tensor struct {
	name  string
	shape []int
}

// t5 is a T5 of version 1.0.
func (s Shape) t5() (config map[string]any, all []tensor) {
	const tokens, buckets = 32128, 32
	config = map[string]any{"architectures": []string{"T5ForConditionalGeneration"}, "model_type": "t5", "vocab_size": tokens, "d_model": s.Width, "d_kv": s.PerHead, "d_ff": s.Inner,
		"num_layers": s.Layers, "num_decoder_layers": s.Layers, "num_heads": s.Heads, "relative_attention_num_buckets": buckets, "dropout_rate": 0.1,
		"layer_norm_epsilon": 1e-6, "feed_forward_proj": "relu", "pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0, "is_encoder_decoder": true}
	inner := s.Heads * s.PerHead
	add := func(name string, shape ...int) { all = append(all, tensor{name + ".weight", shape}) }
	add("shared", tokens, s.Width)
	for part, kinds := range [][]string{{"SelfAttention"}, {"SelfAttention", "EncDecAttention"}} {
		part := [2]string{"encoder", "decoder"}[part]
		for i := range s.Layers {
			for j, kind := range append(kinds, "DenseReluDense") {
				at := fmt.Sprintf("%s.block.%d.layer.%d.", part, i, j)
				add(at+"layer_norm", s.Width)
				if at += kind; j == len(kinds) {
					add(at+".wi", s.Inner, s.Width)
					add(at+".wo", s.Width, s.Inner)
					continue
				}
				for _, name := range []string{".q", ".k", ".v"} {
					add(at+name, inner, s.Width)
				}
				add(at+".o", s.Width, inner)
				if i == 0 && j == 0 {
					add(at+".relative_attention_bias", buckets, s.Heads)
				}
			}
		}
		add(part+".final_layer_norm", s.Width)
	}
	return config, all
}

// bert is a BERT of uncased English.
func (s Shape) bert() (config map[string]any, all []tensor) {
	const tokens, positions = 30522, 512
	config = map[string]any{"model_type": "bert", "vocab_size": tokens, "hidden_size": s.Width, "num_hidden_layers": s.Layers, "num_attention_heads": s.Heads,
		"intermediate_size": s.Inner, "max_position_embeddings": positions, "type_vocab_size": 2, "hidden_act": "gelu", "layer_norm_eps": 1e-12}
	// add adds a matrix, which in a norm is one row, and its bias.
	add := func(name string, shape ...int) {
		all = append(all, tensor{"bert." + name + ".weight", shape})
		if !strings.HasSuffix(name, "_embeddings") {
			all = append(all, tensor{"bert." + name + ".bias", shape[:1]})
		}
	}
	add("embeddings.word_embeddings", tokens, s.Width)
	add("embeddings.position_embeddings", positions, s.Width)
	add("embeddings.token_type_embeddings", 2, s.Width)
	add("embeddings.LayerNorm", s.Width)
	for i := range s.Layers {
		at := fmt.Sprintf("encoder.layer.%d.", i)
		for _, name := range []string{"self.query", "self.key", "self.value", "output.dense"} {
			add(at+"attention."+name, s.Width, s.Width)
		}
		add(at+"attention.output.LayerNorm", s.Width)
		add(at+"intermediate.dense", s.Inner, s.Width)
		add(at+"output.dense", s.Width, s.Inner)
		add(at+"output.LayerNorm", s.Width)
	}
	return config, all
}

// file returns a file of the model's folder on the hub: config.json or, as torch.save writes it, pytorch_model.bin.
func file(name string, config map[string]any, all []tensor) ([]byte, error) {
	if name == "config.json" {
		return json.Marshal(config)
	}
	var b bytes.Buffer
	z, draw := zip.NewWriter(&b), rand.New(rand.NewPCG(1, 2))
	for i := -1; i < len(all); i++ {
		name := "archive/data.pkl"
		if i >= 0 {
			name = fmt.Sprint("archive/data/", i)
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err == nil && i < 0 {
			_, err = w.Write(pickle(all))
		} else if err == nil {
			err = all[i].write(w, draw)
		}
		if err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

func (t tensor) size() int {
	n := 1
	for _, d := range t.shape {
		n *= d
	}
	return n
}

func (t tensor) write(w io.Writer, draw *rand.Rand) error {
	b := make([]byte, 0, 4*t.size())
	for range t.size() {
		x := 1.0
		if !strings.HasSuffix(strings.ToLower(t.name), "norm.weight") {
			x = draw.NormFloat64() * 0.02
		}
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)))
	}
	_, err := w.Write(b)
	return err
}

// pickle returns the dictionary of a file of torch.save, in protocol 2: each tensor's name, and the call that creates it
// from a storage.
func pickle(all []tensor) []byte {
	b := []byte("\x80\x02}(")
	text := func(s string) {
		b = append(binary.LittleEndian.AppendUint32(append(b, 'X'), uint32(len(s))), s...)
	}
	number := func(n int) { b = binary.LittleEndian.AppendUint32(append(b, 'J'), uint32(n)) }
	for i, t := range all {
		text(t.name)
		b = append(b, "ctorch._utils\n_rebuild_tensor_v2\n(("...)
		text("storage")
		b = append(b, "ctorch\nFloatStorage\n"...)
		text(fmt.Sprint(i))
		text("cpu")
		number(t.size())
		b = append(b, "tQ"...)
		number(0)
		b = append(b, '(')
		for _, d := range t.shape {
			number(d)
		}
		b = append(b, "t("...)
		stride := t.size()
		for _, d := range t.shape {
			stride /= d
			number(stride)
		}
		b = append(b, "t\x89ccollections\nOrderedDict\n)RtR"...)
	}
	return append(b, "u."...)
}
