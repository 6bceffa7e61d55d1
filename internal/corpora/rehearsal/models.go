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
)

// Shape is the size of a model.
type Shape struct{ Layers, Width, Inner, Heads, PerHead int }

// EfficientTiny is the shape of google/t5-efficient-tiny, SmallBERT that of the next to smallest of
// Google's small BERTs.
var (
	EfficientTiny = Shape{Layers: 4, Width: 256, Inner: 1024, Heads: 4, PerHead: 64}
	SmallBERT     = Shape{Layers: 2, Width: 256, Inner: 1024, Heads: 4}
)

type tensor struct {
	name      string
	deviation float64 // of its numbers around 0; 0: all are 1
	shape     []int
}

// t5 is a T5 of version 1.0, with T5's usual random weights.
func (s Shape) t5() (config map[string]any, all []tensor) {
	const tokens, buckets = 32128, 32
	config = map[string]any{"architectures": []string{"T5ForConditionalGeneration"}, "model_type": "t5", "vocab_size": tokens, "d_model": s.Width, "d_kv": s.PerHead, "d_ff": s.Inner,
		"num_layers": s.Layers, "num_decoder_layers": s.Layers, "num_heads": s.Heads, "relative_attention_num_buckets": buckets, "dropout_rate": 0.1,
		"layer_norm_epsilon": 1e-6, "feed_forward_proj": "relu", "pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0, "is_encoder_decoder": true}
	inner, d := s.Heads*s.PerHead, 1/math.Sqrt(float64(s.Width))
	add := func(deviation float64, shape []int, name string, args ...any) {
		all = append(all, tensor{fmt.Sprintf(name, args...) + ".weight", deviation, shape})
	}
	add(1, []int{tokens, s.Width}, "shared")
	for _, part := range []string{"encoder", "decoder"} {
		kinds := []string{"SelfAttention"}
		if part == "decoder" {
			kinds = append(kinds, "EncDecAttention")
		}
		for i := range s.Layers {
			for j, kind := range kinds {
				at := fmt.Sprintf("%s.block.%d.layer.%d.", part, i, j)
				add(d/math.Sqrt(float64(s.PerHead)), []int{inner, s.Width}, "%s%s.q", at, kind)
				add(d, []int{inner, s.Width}, "%s%s.k", at, kind)
				add(d, []int{inner, s.Width}, "%s%s.v", at, kind)
				add(1/math.Sqrt(float64(inner)), []int{s.Width, inner}, "%s%s.o", at, kind)
				if i == 0 && j == 0 {
					add(d, []int{buckets, s.Heads}, "%s%s.relative_attention_bias", at, kind)
				}
				add(0, []int{s.Width}, "%slayer_norm", at)
			}
			at := fmt.Sprintf("%s.block.%d.layer.%d.", part, i, len(kinds))
			add(d, []int{s.Inner, s.Width}, "%sDenseReluDense.wi", at)
			add(1/math.Sqrt(float64(s.Inner)), []int{s.Width, s.Inner}, "%sDenseReluDense.wo", at)
			add(0, []int{s.Width}, "%slayer_norm", at)
		}
		add(0, []int{s.Width}, "%s.final_layer_norm", part)
	}
	return config, all
}

// bert is a BERT of uncased English.
func (s Shape) bert() (config map[string]any, all []tensor) {
	const tokens, positions = 30522, 512
	config = map[string]any{"model_type": "bert", "vocab_size": tokens, "hidden_size": s.Width, "num_hidden_layers": s.Layers, "num_attention_heads": s.Heads,
		"intermediate_size": s.Inner, "max_position_embeddings": positions, "type_vocab_size": 2, "hidden_act": "gelu", "layer_norm_eps": 1e-12}
	add := func(name string, shape ...int) { all = append(all, tensor{"bert." + name, 0.02, shape}) }
	norm := func(name string) {
		add(name+".bias", s.Width)
		all = append(all, tensor{"bert." + name + ".weight", 0, []int{s.Width}})
	}
	dense := func(name string, out, in int) {
		add(name+".weight", out, in)
		add(name+".bias", out)
	}
	add("embeddings.word_embeddings.weight", tokens, s.Width)
	add("embeddings.position_embeddings.weight", positions, s.Width)
	add("embeddings.token_type_embeddings.weight", 2, s.Width)
	norm("embeddings.LayerNorm")
	for i := range s.Layers {
		at := fmt.Sprintf("encoder.layer.%d.", i)
		for _, name := range []string{"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"} {
			dense(at+name, s.Width, s.Width)
		}
		norm(at + "attention.output.LayerNorm")
		dense(at+"intermediate.dense", s.Inner, s.Width)
		dense(at+"output.dense", s.Width, s.Inner)
		norm(at + "output.LayerNorm")
	}
	return config, all
}

// file is a file of the model's folder on the hub: config.json or, as torch.save writes it, pytorch_model.bin.
func file(name string, config map[string]any, all []tensor) ([]byte, error) {
	var b bytes.Buffer
	if name == "config.json" {
		return json.Marshal(config)
	}
	z := zip.NewWriter(&b)
	store := func(name string, write func(io.Writer) error) error {
		w, err := z.CreateHeader(&zip.FileHeader{Name: "archive/" + name, Method: zip.Store})
		if err == nil {
			err = write(w)
		}
		return err
	}
	err := store("data.pkl", func(w io.Writer) error {
		_, err := w.Write(pickle(all))
		return err
	})
	draw := rand.New(rand.NewPCG(1, 2))
	for i, t := range all {
		if err == nil {
			err = store(fmt.Sprint("data/", i), func(w io.Writer) error { return t.write(w, draw) })
		}
	}
	if err == nil {
		err = z.Close()
	}
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
		if t.deviation > 0 {
			x = draw.NormFloat64() * t.deviation
		}
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)))
	}
	_, err := w.Write(b)
	return err
}

// pickle is the dictionary of a file of torch.save, in protocol 2: of each tensor its name, and the
// call that makes it of a storage.
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
