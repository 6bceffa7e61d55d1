package t5

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
)

// small is a configuration for tests that train.
func small() Config {
	c := Defaults()
	c.VocabSize, c.DModel, c.DKV, c.DFF, c.NumLayers, c.NumDecoderLayers, c.NumHeads = 50, 16, 8, 32, 2, 2, 2
	return c
}

func initial(t testing.TB, c Config, seed uint64) *seq2seq.Model {
	t.Helper()
	m := errtest.Value(seq2seq.Init(c, seed, tensor.CPU))(t)
	t.Cleanup(m.Close)
	return m
}

// All three files of a checkpoint that transformers wrote are the same model, and
// what is saved is read back the same, bit for bit.
func TestFilesRoundTrip(t *testing.T) {
	for _, name := range variants {
		want := load(t, name)
		same := func(what string, got *seq2seq.Model) {
			if len(got.Params()) != len(want.Params()) {
				t.Fatalf("%s: %d parameters", what, len(got.Params()))
			}
			tensortest.Run(t, func(*tensor.Scope) {
				for i, p := range want.Params() {
					if g := got.Params()[i]; g.Name != p.Name || !bytes.Equal(g.Tensor.Bytes(), p.Tensor.Bytes()) {
						t.Errorf("%s: %s differs", what, p.Name)
					}
				}
			})
		}
		for _, file := range []string{"pytorch_model.bin", "pytorch_model_legacy.bin"} {
			folder := t.TempDir()
			for from, to := range map[string]string{seq2seq.ConfigFile: seq2seq.ConfigFile, file: "pytorch_model.bin"} {
				data, err := os.ReadFile(filepath.Join("testdata", name, from))
				if err == nil {
					err = os.WriteFile(filepath.Join(folder, to), data, 0o644)
				}
				errtest.None(t, err)
			}
			got := errtest.Value(seq2seq.Load(folder, tensor.CPU, Family))(t)
			t.Cleanup(got.Close)
			same(name+"/"+file, got)
		}
		folder := filepath.Join(t.TempDir(), "new")
		if kept := os.Getenv("REDSI_KEEP"); kept != "" { // for tools/golden/model_opens.py
			folder = filepath.Join(kept, name)
		}
		errtest.None(t, want.Save(folder))
		got := errtest.Value(seq2seq.Load(folder, tensor.CPU, Family))(t)
		t.Cleanup(got.Close)
		same(name+" saved", got)
		if files, err := os.ReadDir(folder); err != nil || len(files) != 2 {
			t.Errorf("%v in the folder, %v", files, err)
		}
		var config map[string]any
		text, err := os.ReadFile(filepath.Join(folder, seq2seq.ConfigFile))
		if err != nil || json.Unmarshal(text, &config) != nil || config["model_type"] != "t5" || config["d_ff"] != 32.0 || config["n_positions"] != 512.0 {
			t.Errorf("config %s, %v", text, err)
		}
	}
}

func TestMistakes(t *testing.T) {
	m := load(t, "v1_0")
	live := tensor.Live()
	loss := func(b seq2seq.Batch) error { _, err := m.Loss(b); return err }
	one := [][]int32{{5, 1}}
	read := func(change, to string, cut int) error {
		text := goldens.Text(t, "testdata/v1_0/"+seq2seq.ConfigFile)
		data := errtest.Value(os.ReadFile("testdata/v1_0/" + seq2seq.WeightsFile))(t)
		data = data[:len(data)-cut]
		return openFolder(t, []byte(strings.Replace(string(text), change, to, 1)), data)
	}
	for want, err := range map[string]error{
		"outside of the vocabulary of 100":  loss(seq2seq.Batch{Inputs: [][]int32{{5, 100}}, Labels: one}),
		"token -3 at 0":                     loss(seq2seq.Batch{Inputs: [][]int32{{-3}}, Labels: one}),
		"label 0: token 100 at 0":           loss(seq2seq.Batch{Inputs: one, Labels: [][]int32{{100}}}),
		"input 1 is empty":                  loss(seq2seq.Batch{Inputs: [][]int32{{5}, {}}, Labels: [][]int32{{1}, {1}}}),
		"a batch of 1 inputs and 2 labels":  loss(seq2seq.Batch{Inputs: one, Labels: [][]int32{{1}, {1}}}),
		"a batch of 0 inputs":               loss(seq2seq.Batch{}),
		"label 0: token 100 at 1":           m.Vocabulary().CheckTokens(seq2seq.Batch{Labels: [][]int32{{seq2seq.Ignore, 100}}}),
		"input 0: token -100 at 0":          m.Vocabulary().CheckTokens(seq2seq.Batch{Inputs: [][]int32{{seq2seq.Ignore}}}),
		"has shape [24 16], the configurat": read(`"d_kv": 8`, `"d_kv": 9`, 0),
		`no tensor "encoder.block.2`:        read(`"num_layers": 2`, `"num_layers": 3`, 0),
		"is the file cut off":               read("", "", 10),
		`feed_forward_proj is "gated-mish"`: read(`"feed_forward_proj": "relu"`, `"feed_forward_proj": "gated-mish", "dense_act_fn": null`, 0),
		`dense_act_fn is "tanh"`:            read(`"dense_act_fn": "relu"`, `"dense_act_fn": "tanh"`, 0),
		`model_type is "mt5"`:               read(`"model_type": "t5"`, `"model_type": "mt5"`, 0),
		"eos_token_id 100 is outside":       read(`"eos_token_id": 1`, `"eos_token_id": 100`, 0),
		"d_model is -1":                     read(`"d_model": 16`, `"d_model": -1`, 0),
		"config.json":                       read(`{`, `[`, 0),
		"config.json: it is null":           openFolder(t, []byte("null"), nil),
		"no such file":                      func() error { _, err := seq2seq.Load(t.TempDir(), tensor.CPU, Family); return err }(),
		"disk full":                         m.WriteWeights(full{}),
	} {
		errtest.Says(t, err, want)
	}
	if n := tensor.Live(); n != live {
		t.Errorf("%d tensors leaked by failures", n-live)
	}
	for change, want := range map[string]string{
		`"d_kv": 9`: `model.safetensors: tensor "encoder.block.0.layer.0.SelfAttention.q.weight" has shape [24 16], the configuration asks for [27 16]: ` +
			"the file belongs to another model; take config.json and the weights from one place",
		`"d_kv": -8`: "config: d_kv is -8",
	} {
		folder := t.TempDir()
		errtest.None(t, os.CopyFS(folder, os.DirFS("testdata/v1_0")))
		text, err := os.ReadFile(filepath.Join(folder, seq2seq.ConfigFile))
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, seq2seq.ConfigFile), []byte(strings.Replace(string(text), `"d_kv": 8`, change, 1)), 0o644)
		}
		errtest.None(t, err)
		if _, err := seq2seq.Load(folder, tensor.CPU, Family); err == nil || !strings.HasPrefix(err.Error(), folder) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	folder := filepath.Join(t.TempDir(), "file")
	filetest.Write(t, folder, "")
	if m.Save(folder) == nil {
		t.Error("saved into a file")
	}
}

// full fails as a full disk does.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

var _ io.Writer = full{}

// TestBF16: half precision follows single precision to its own accuracy; gradients of matrices are of half precision, but the
// embedding's, to which those of tokens are added.
func TestBF16(t *testing.T) {
	m, b := load(t, "v1_0"), batch(t)
	want := errtest.Value(m.Loss(b))(t)
	m.Compute = tensor.BF16
	got, err := m.Loss(b)
	if err != nil || math.Abs(got-want) > 0.05*want {
		t.Errorf("loss %g in bf16, %g in fp32, %v", got, want, err)
	}
	tensortest.Run(t, func(s *tensor.Scope) {
		loss, grads := m.Gradients(s, m.Prepare(b), &tensor.RNG{Seed: 1}, seq2seq.Scale{})
		products := map[string]bool{}
		for _, spec := range m.Config.Specs() {
			products[spec.Name] = spec.Product != "" && spec.Name != "shared.weight"
		}
		for i, g := range grads {
			if name := m.Params()[i].Name; (g.DType() == tensor.BF16) != products[name] || !s.AllFinite(g) {
				t.Errorf("%s has gradient %v", name, g)
			}
		}
		if math.IsNaN(loss.Item()) {
			t.Error("the loss is NaN")
		}
	})
}

// openFolder loads a folder with a config.json and weights.
func openFolder(t *testing.T, config, weights []byte) error {
	t.Helper()
	dir := t.TempDir()
	for name, b := range map[string][]byte{seq2seq.ConfigFile: config, seq2seq.WeightsFile: weights} {
		filetest.Write(t, filepath.Join(dir, name), b)
	}
	_, err := seq2seq.Load(dir, tensor.CPU, Family)
	return err
}
