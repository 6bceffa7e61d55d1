package models

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/system/testkit"
)

// Weights in bfloat16 in several files are read, as transformers reads them to float32.
func TestShardsAreTransformers(t *testing.T) {
	b, g := batch(t, "t5"), open(t, "t5/sharded")
	for _, name := range []string{"t5/sharded", "t5/sharded_bin"} { // safetensors, PyTorch's
		m := model(t, name)
		tensortest.Run(t, func(s *tensor.Scope) {
			if d, _ := apart(t, "logits", m.ForcedLogits(s, b).Float32s(), g.values("logits")); d > 1e-5 {
				t.Errorf("%s: max |diff| %g", name, d)
			}
		})
	}
	text, err := json.Marshal(model(t, "t5/sharded").Config)
	if err != nil || !strings.Contains(string(text), `"torch_dtype": "float32"`) && !strings.Contains(string(text), `"torch_dtype":"float32"`) {
		t.Errorf("the model is float32, its configuration says %s, %v", text, err)
	}
	testkit.None(t, testkit.Err(Check(place("t5/sharded"))))
}

// TestSavedAgain: a folder of transformers 5 is written as transformers 4 and 5 read it alike, in float32, and read back.
func TestSavedAgain(t *testing.T) {
	b := batch(t, "t5")
	for name, want := range map[string]string{
		"t5/by5/resaved":     `"dtype":"float32" "scale_decoder_outputs":false "tie_word_embeddings":false "torch_dtype":"float32"`,
		"t5/by5/mt5_resaved": `"dtype":"float32" "scale_decoder_outputs":false "tie_word_embeddings":false "torch_dtype":"float32"`,
		"t5/by5/untied":      `"dtype":"float32" "scale_decoder_outputs":false "tie_word_embeddings":true "torch_dtype":"float32"`,
		"t5/by5/tied":        `"dtype":"float32" "scale_decoder_outputs":true "tie_word_embeddings":true "torch_dtype":"float32"`,
		"t5/gated_silu":      `"tie_word_embeddings":false "torch_dtype":"float32"`,
	} {
		m, folder := model(t, name), t.TempDir()
		text, err := json.Marshal(m.Config)
		if err == nil {
			err = m.Save(folder)
		}
		testkit.None(t, err)
		fields := regexp.MustCompile(`"(dtype|torch_dtype|scale_decoder_outputs|tie_word_embeddings)":[^,}]*`).FindAllString(string(text), -1)
		slices.Sort(fields)
		testkit.Is(t, strings.Join(fields, " "), want, name)
		again := testkit.Value(Load(folder, tensor.CPU))(t)
		as := testkit.Value(seq2seq.LoadAs(folder, m.Config, tensor.CPU))(t)
		for _, other := range []*seq2seq.Model{again, as} {
			tensortest.Run(t, func(s *tensor.Scope) {
				if d, _ := apart(t, name, other.ForcedLogits(s, b).Float32s(), m.ForcedLogits(s, b).Float32s()); d != 0 {
					t.Errorf("%s: read again, logits differ by %g", name, d)
				}
			})
			other.Close()
		}
	}
}

// What does not fit in an index and its files is an error that names file and tensor, whether
// the weights are read or only checked.
func TestShardMistakes(t *testing.T) {
	const index, first, second = "model.safetensors.index.json", "model-00002-of-00005.safetensors", "model-00003-of-00005.safetensors"
	var of struct {
		Map map[string]string `json:"weight_map"`
	}
	goldens.JSON(t, place("t5/sharded", index), &of)
	inFirst := "" // a tensor
	for name, file := range of.Map {
		if file == first && (inFirst == "" || name < inFirst) {
			inFirst = name
		}
	}
	moved := func(name, to string) func(string) {
		return func(folder string) {
			m := maps.Clone(of.Map)
			if m[name] = to; to == "" {
				delete(m, name)
			}
			text, err := json.Marshal(map[string]any{"weight_map": m})
			if err == nil {
				err = os.WriteFile(filepath.Join(folder, index), text, 0o644)
			}
			testkit.None(t, err)
		}
	}
	write := func(name, text string) func(string) {
		return func(folder string) {
			testkit.Write(t, filepath.Join(folder, name), text)
		}
	}
	for want, change := range map[string]func(folder string){
		second + ", which is not there: all files that weight_map names are needed":                 func(folder string) { os.Remove(filepath.Join(folder, second)) },
		`tensor "` + inFirst + `" is not in ` + second + ", where weight_map says, but in " + first: moved(inFirst, second),
		`tensor "` + inFirst + `" in ` + first + " is not in weight_map":                            moved(inFirst, ""),
		`weight_map has "../other" for tensor "` + inFirst + `"`:                                    moved(inFirst, "../other"),
		`tensor "none" is not in ` + first + ", where weight_map says":                              moved("none", first),
		second + ": safetensors":        write(second, "far too short"),
		"it is not an index of weights": write(index, "<html>"),
		"it has no weight_map":          write(index, "{}"),
		`in model-0000`:                 write("config.json", `{"model_type":"t5","vocab_size":160,"d_model":9,"feed_forward_proj":"gated-silu","tie_word_embeddings":false}`),
	} {
		folder := t.TempDir()
		testkit.None(t, os.CopyFS(folder, os.DirFS(place("t5/sharded"))))
		change(folder)
		_, err := Load(folder, tensor.CPU)
		if err == nil || !strings.HasPrefix(err.Error(), filepath.Join(folder, index)) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if _, checked := Check(folder); checked == nil || err != nil && checked.Error() != err.Error() {
			t.Errorf("checked: %v, read: %v", checked, err)
		}
	}
}
