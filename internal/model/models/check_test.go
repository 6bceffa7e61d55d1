package models

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/safetensors"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/model/bert"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/testkit"
)

// weights are the tensors of a file, in its order.
type weights []safetensors.Source

func readWeights(t *testing.T, path string) (all weights) {
	t.Helper()
	data := goldens.Text(t, path)
	f := testkit.Value(safetensors.Open(bytes.NewReader(data), int64(len(data))))(t)
	for _, info := range f.Tensors {
		text := testkit.Value(io.ReadAll(f.Open(info)))(t)
		all = append(all, source(info.Name, info.DType, info.Shape, text))
	}
	return all
}

func source(name, dtype string, shape []int64, data []byte) safetensors.Source {
	return safetensors.Source{Name: name, DType: dtype, Shape: shape, Write: func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}}
}

// copied adds a tensor under another name, with other numbers if it is changed.
func (w weights) copied(name, as string, changed bool) weights {
	s := w[slices.IndexFunc(w, func(s safetensors.Source) bool { return s.Name == name })]
	var data bytes.Buffer
	if s.Write(&data); changed {
		data.Bytes()[0] ^= 1
	}
	return append(slices.Clone(w), source(as, s.DType, s.Shape, data.Bytes()))
}

// without leaves a tensor out.
func (w weights) without(name string) weights {
	return slices.DeleteFunc(slices.Clone(w), func(s safetensors.Source) bool { return s.Name == name })
}

// TestEveryTensorIsAccountedFor: a tensor of the file is read, or a copy of one that is, or named as one that nothing is
// computed with; any other is an error.
func TestEveryTensorIsAccountedFor(t *testing.T) {
	const (
		shared, head     = "shared.weight", "lm_head.weight"
		inEncoder        = "encoder.embed_tokens.weight"
		inDecoder        = "decoder.embed_tokens.weight"
		table            = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
		ofTransformers   = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"
		other            = "have other numbers, and config.json says that they are one matrix"
		noPlace          = "has no place in a model of this configuration"
		bartShared, word = "model.shared.weight", "roberta.embeddings.word_embeddings.weight"
	)
	for name, c := range map[string]struct {
		folder string
		change func(weights) weights
		config [2]string // replaced
		unused []string
		fails  string
	}{
		"T5, as it is":                   {folder: "t5/testdata/gelu"},
		"T5, a copied head":              {folder: "t5/testdata/gelu", change: func(w weights) weights { return w.copied(shared, head, false) }},
		"T5, another head":               {folder: "t5/testdata/gelu", change: func(w weights) weights { return w.copied(shared, head, true) }, fails: `"lm_head.weight" and "shared.weight" ` + other},
		"T5 of transformers 5, its head": {folder: "t5/testdata/by5/tied", change: func(w weights) weights { return w.copied(shared, head, true) }},
		"T5 of transformers 5, no head":  {folder: "t5/testdata/by5/resaved", change: func(w weights) weights { return w.without(head) }},
		"T5, untied without a head":      {folder: "t5/testdata/gated_silu", change: func(w weights) weights { return w.without(head) }, fails: `no tensor "lm_head.weight"`},
		"T5, the embedding where it is used": {folder: "t5/testdata/gelu", change: func(w weights) weights {
			return w.copied(shared, inEncoder, false).copied(shared, inDecoder, false).without(shared)
		}},
		"T5, two embeddings": {folder: "t5/testdata/gelu", change: func(w weights) weights {
			return w.copied(shared, inEncoder, false).copied(shared, inDecoder, true).without(shared)
		}, fails: `"decoder.embed_tokens.weight" and "encoder.embed_tokens.weight" ` + other},
		"T5, untied, two embeddings": {folder: "t5/testdata/gated_silu", change: func(w weights) weights { return w.copied(shared, inDecoder, true) }, fails: other},
		"T5, what is published":      {folder: "t5/testdata/gelu", change: func(w weights) weights { return w.copied(table, ofTransformers, false) }, unused: []string{ofTransformers}},
		"T5, one more layer": {folder: "t5/testdata/gelu", change: func(w weights) weights {
			return w.copied("encoder.final_layer_norm.weight", "encoder.block.7.layer.1.layer_norm.weight", false)
		}, fails: noPlace},
		"T5, an adapter": {folder: "t5/testdata/gelu", change: func(w weights) weights { return w.copied(shared, "base_model.lora_A.weight", false) }, fails: noPlace},
		"T5, quantized":  {folder: "t5/testdata/gelu", config: [2]string{`"d_ff"`, `"quantization_config": {"bits": 4}, "d_ff"`}, fails: "quantization_config"},
		"T5, one stack":  {folder: "t5/testdata/gelu", config: [2]string{`"d_ff"`, `"tie_encoder_decoder": true, "d_ff"`}, fails: "tie_encoder_decoder is true"},
		"BART, as it is": {folder: "bart/testdata/plain"},
		"BART, copies": {folder: "bart/testdata/plain", change: func(w weights) weights {
			return w.copied(bartShared, "model."+inDecoder, false).copied(bartShared, head, false)
		}},
		"BART, a head":     {folder: "bart/testdata/plain", change: func(w weights) weights { return w.copied(bartShared, head, true) }, fails: other},
		"BART, classes":    {folder: "bart/testdata/plain", change: func(w weights) weights { return w.copied(bartShared, "classification_head.dense.weight", false) }, unused: []string{"classification_head.dense.weight"}},
		"BART, a layer":    {folder: "bart/testdata/plain", change: func(w weights) weights { return w.copied(bartShared, "model.encoder.layers.9.fc1.weight", false) }, fails: noPlace},
		"BERT's, as it is": {folder: "bert/testdata/roberta"},
		"BERT's, a head":   {folder: "bert/testdata/roberta", change: func(w weights) weights { return w.copied(word, "lm_head.decoder.weight", true) }, unused: []string{"lm_head.decoder.weight"}},
		"BERT's, a layer":  {folder: "bert/testdata/roberta", change: func(w weights) weights { return w.copied(word, "roberta.encoder.layer.9.output.dense.weight", false) }, fails: noPlace},
		"BERT's, pruned":   {folder: "bert/testdata/roberta", config: [2]string{`"hidden_size"`, `"pruned_heads": {"0": [1]}, "hidden_size"`}, fails: "pruned_heads"},
	} {
		folder := t.TempDir()
		config := strings.Replace(string(goldens.Text(t, filepath.Join("..", c.folder, "config.json"))), c.config[0], c.config[1], 1)
		all := readWeights(t, filepath.Join("..", c.folder, "model.safetensors"))
		before := names(all)
		if c.change != nil {
			all = c.change(all)
		}
		var data bytes.Buffer
		testkit.None(t, safetensors.Write(&data, nil, all))
		testkit.Write(t, filepath.Join(folder, "model.safetensors"), data.Bytes())
		testkit.Write(t, filepath.Join(folder, "config.json"), config)
		checked, err := Check(folder)
		loaded, failed := load(folder, checked.Encoder || strings.HasPrefix(name, "BERT"))
		if c.fails != "" {
			testkit.ErrSays(t, err, c.fails)
			testkit.ErrSays(t, failed, c.fails)
			continue
		}
		testkit.That(t, err == nil && failed == nil, name, err, failed)
		for _, unused := range [][]string{checked.Unused, loaded} {
			added := slices.DeleteFunc(slices.Clone(unused), func(of string) bool { return slices.Contains(before, of) })
			testkit.That(t, slices.Equal(added, c.unused), name, unused, "want", c.unused)
		}
	}
}

// TestFollows: where transformers 4.44.1 and 5.24.0 compute a folder differently, it is said which of them is followed.
func TestFollows(t *testing.T) {
	for folder, want := range map[string][]string{
		"t5/testdata/v1_0": nil, "t5/testdata/v1_1": nil, "t5/testdata/mt5": nil, "t5/testdata/umt5": nil, "bart/testdata/plain": nil, "bert/testdata/by5": nil,
		"t5/testdata/by5/tied":         nil,
		"t5/testdata/by5/untied":       {"5.24.0: scale_decoder_outputs is false"},
		"t5/testdata/by5/mt5":          {"5.24.0: scale_decoder_outputs is false"},
		"t5/testdata/by5/resaved":      {"5.24.0: the output matrix is lm_head.weight"},
		"t5/testdata/by5/umt5_resaved": {"5.24.0: the output matrix is lm_head.weight"},
		"t5/testdata/by5/bf16":         {"4.44.1: weights in bfloat16 are computed in float32", "5.24.0: the output matrix is lm_head.weight"},
	} {
		got, err := Check(filepath.Join("..", folder))
		if err != nil || len(got.Follows) != len(want) {
			t.Errorf("%s: %q, %v; want %q", folder, got.Follows, err, want)
			continue
		}
		for i, w := range want {
			if !strings.HasPrefix(got.Follows[i], "transformers "+w) {
				t.Errorf("%s: %q, want %q", folder, got.Follows[i], w)
			}
		}
	}
	folder := t.TempDir()
	config := strings.Replace(string(goldens.Text(t, "../t5/testdata/mt5/config.json")), `"tie_word_embeddings": false`, `"tie_word_embeddings": true`, 1)
	var data bytes.Buffer
	testkit.None(t, safetensors.Write(&data, nil, readWeights(t, "../t5/testdata/mt5/model.safetensors").without("lm_head.weight")))
	testkit.Write(t, filepath.Join(folder, "config.json"), []byte(config))
	testkit.Write(t, filepath.Join(folder, "model.safetensors"), data.Bytes())
	if got, err := Check(folder); err != nil || len(got.Follows) != 1 || !strings.Contains(got.Follows[0], "5.24.0 scales no mT5's") {
		t.Errorf("a tied mT5: %q, %v", got.Follows, err)
	}
}

func names(all weights) []string {
	return lists.Map(all, func(s safetensors.Source) string { return s.Name })
}

func load(folder string, encoder bool) (unused []string, err error) {
	if !encoder {
		m, err := Load(folder, tensor.CPU)
		if err != nil {
			return nil, err
		}
		defer m.Close()
		return m.Unused, nil
	}
	m, err := bert.Load(folder, tensor.CPU)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	return m.Unused, nil
}
