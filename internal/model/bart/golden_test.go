package bart

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/model/optimizer"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
)

// The goldens are transformers 4.44.1's (tools/golden/bart.py).
var variants = []string{"plain", "scaled"}

func load(t testing.TB, name string) *seq2seq.Model {
	t.Helper()
	m := errtest.Value(seq2seq.Load(filepath.Join("testdata", name), tensor.CPU, Family))(t)
	t.Cleanup(m.Close)
	return m
}

func batch(t testing.TB) (b seq2seq.Batch) {
	t.Helper()
	goldens.JSON(t, "testdata/batch.json", &b)
	return b
}

// compare checks got against a golden tensor: differences are below atMost times its
// largest value, or below 1e-4 where atMost is 0.
func compare(t *testing.T, g *checkpoint.File, name string, got *tensor.Tensor, atMost float64) {
	t.Helper()
	tensortest.Run(t, func(s *tensor.Scope) {
		want := errtest.Value(g.Tensor(s, name, tensor.F32, tensor.CPU, got.Shape()...))(t)
		difference, largest := 0.0, 0.0
		values := s.Contiguous(s.Detach(got)).Float32s()
		for i, w := range want.Float32s() {
			d := math.Abs(float64(values[i] - w))
			if math.IsNaN(d) {
				t.Fatalf("%s: NaN at %d", name, i)
			}
			difference, largest = max(difference, d), max(largest, math.Abs(float64(w)))
		}
		if limit := max(atMost*largest, 1e-6); atMost > 0 && difference > limit || atMost == 0 && difference > 1e-4 {
			t.Errorf("%s: max |diff| %g of values up to %g", name, difference, largest)
		}
	})
}

func golden(t *testing.T, name string) *checkpoint.File {
	t.Helper()
	data := goldens.Text(t, filepath.Join("testdata", name, "golden.safetensors"))
	g := errtest.Value(checkpoint.Open(bytes.NewReader(data), int64(len(data))))(t)
	return g
}

// Encoder states, logits, loss, gradients and the parameters after two steps are
// transformers'.
func TestTrainingIsTransformers(t *testing.T) {
	for _, name := range variants {
		m, b, g := load(t, name), batch(t), golden(t, name)
		o := adafactor(t, m)
		tensortest.Run(t, func(s *tensor.Scope) {
			compare(t, g, "encoder", m.Encode(s, b.Inputs, nil).Hidden, 0)
			compare(t, g, "logits", m.ForcedLogits(s, b), 0)
			loss := errtest.Value(m.Loss(b))(t)
			for step := range 2 {
				of, grads := m.Gradients(s, m.Prepare(b), nil, seq2seq.Scale{})
				if step == 0 {
					compare(t, g, "loss", s.View(of, 1), 0)
					for i, p := range m.Params() {
						compare(t, g, "grad."+p.Name, grads[i], 1e-3)
					}
				}
				if step == 0 && math.Abs(of.Item()-loss) > 1e-6 {
					t.Errorf("%s: loss %g with gradients, %g without", name, of.Item(), loss)
				}
				tensor.NoGrad(func() { o.Step(grads, 1e-2) })
			}
		})
		for _, p := range m.Params() {
			// NOTE softmax takes no notice of the keys' bias: its gradient is rounding, which
			// Adafactor makes as large as any other.
			if !strings.HasSuffix(p.Name, "k_proj.bias") {
				compare(t, g, "after."+p.Name, p.Tensor, 1e-3)
			}
		}
	}
}

func adafactor(t *testing.T, m *seq2seq.Model) *optimizer.Adafactor {
	t.Helper()
	options := optimizer.AdafactorDefaults()
	options.ScaleParameter = false // as in tools/golden/bart.py
	o := errtest.Value(optimizer.NewAdafactor(m.Params(), options))(t)
	t.Cleanup(o.Close)
	return o
}

// Decoding token by token gives the logits of the whole sequence at once, with rows that
// multiply and change places.
func TestStepsAreTheWhole(t *testing.T) {
	for _, name := range variants {
		m, inputs := load(t, name), batch(t).Inputs[:2]
		rows := [][]int32{{7, 9, 4}, {7, 3, 8}, {12, 6, 5}} // the first two belong to input 0
		tensortest.Run(t, func(s *tensor.Scope) {
			c := m.NewCache(m.Encode(s, inputs, nil), 3)
			defer c.Close()
			check := func(row int, at int64, states *tensor.Tensor, i int64) {
				input := inputs[row/2]
				whole := m.ForcedLogits(s, seq2seq.Batch{Inputs: [][]int32{input}, Labels: [][]int32{rows[row]}})
				got, want := s.Select(m.LogitsOf(s, states, m.Head()), 0, i).Float32s(), s.Select(whole, 0, at).Float32s()
				for k := range got {
					if d := math.Abs(float64(got[k] - want[k])); !(d < 1e-5) {
						t.Fatalf("%s: row %d, step %d: token %d is apart by %g", name, row, at, k, d)
					}
				}
			}
			start := int32(m.Vocabulary().Start)
			states := c.Step(s, []int32{start, start})
			check(0, 0, states, 0)
			check(2, 0, states, 1)
			c.Select([]int64{0, 0, 1})
			states = c.Step(s, []int32{7, 7, 12})
			check(1, 1, states, 1)
			check(2, 1, states, 2)
			c.Select([]int64{1, 0, 2})
			states = c.Step(s, []int32{3, 9, 6})
			check(1, 2, states, 0)
			check(0, 2, states, 1)
		})
	}
}

// What is saved is read back the same, bit for bit; names without "model." are read too.
func TestFilesRoundTrip(t *testing.T) {
	want := load(t, "scaled")
	folder := t.TempDir()
	if kept := os.Getenv("REDSI_KEEP"); kept != "" { // for tools/golden/model_opens.py
		folder = filepath.Join(kept, "scaled")
	}
	errtest.None(t, want.Save(folder))
	text := goldens.Text(t, filepath.Join(folder, seq2seq.ConfigFile))
	var bare bytes.Buffer
	tensortest.Run(t, func(*tensor.Scope) {
		var named []checkpoint.Named
		for _, s := range want.Config.Specs() {
			if !s.Fixed {
				named = append(named, checkpoint.Named{Name: strings.TrimPrefix(s.Name, "model."), Tensor: want.Param(s.Name)})
			}
		}
		errtest.None(t, checkpoint.Write(&bare, nil, named))
	})
	saved := errtest.Value(seq2seq.LoadAs(folder, want.Config, tensor.CPU))(t)
	defer saved.Close()
	dir := t.TempDir()
	for name, b := range map[string][]byte{seq2seq.ConfigFile: text, seq2seq.WeightsFile: bare.Bytes()} {
		filetest.Write(t, filepath.Join(dir, name), b)
	}
	other := errtest.Value(seq2seq.Load(dir, tensor.CPU, Family))(t)
	defer other.Close()
	tensortest.Run(t, func(*tensor.Scope) {
		for _, m := range []*seq2seq.Model{saved, other} {
			for i, p := range want.Params() {
				if got := m.Params()[i]; got.Name != p.Name || !bytes.Equal(got.Tensor.Bytes(), p.Tensor.Bytes()) {
					t.Errorf("%s differs", p.Name)
				}
			}
		}
	})
}

// Extending keeps every old score; the new rows are N(0, init_std²) with no bias.
func TestExtend(t *testing.T) {
	m, b := load(t, "scaled"), batch(t)
	scores := func() (all []float32) {
		tensortest.Run(t, func(s *tensor.Scope) {
			all = s.Contiguous(s.Narrow(m.ForcedLogits(s, b), 1, 0, 100)).Float32s()
		})
		return all
	}
	before := scores()
	errtest.None(t, m.Extend(50, 3))
	for i, v := range scores() {
		if math.Abs(float64(v-before[i])) > 1e-5 {
			t.Fatalf("old score %d was %g and is %g", i, before[i], v)
		}
	}
	tensortest.Run(t, func(s *tensor.Scope) {
		var square float64
		rows := s.Contiguous(s.Narrow(s.Detach(m.Param("model.shared.weight")), 0, 100, 50)).Float32s()
		for _, v := range rows {
			square += float64(v) * float64(v)
		}
		if sd := math.Sqrt(square / float64(len(rows))); math.Abs(sd/0.02-1) > 0.1 {
			t.Errorf("new rows have deviation %g", sd)
		}
		b.Labels = [][]int32{{103}, {149}, {100}, {101}}
		if _, grads := m.Gradients(s, m.Prepare(b), nil, seq2seq.Scale{}); grads[0].Dim(0) != 150 || m.Vocabulary().Size != 150 {
			t.Errorf("gradient %v of %d tokens", grads[0], m.Vocabulary().Size)
		}
	})
}

// The parameter counts are those of the published models.
func TestParameterCounts(t *testing.T) {
	base := Defaults()
	base.DModel, base.EncoderLayers, base.DecoderLayers, base.EncoderHeads, base.DecoderHeads, base.EncoderFFN, base.DecoderFFN = 768, 6, 6, 12, 12, 3072, 3072
	for name, c := range map[string]struct {
		config Config
		want   int64
	}{"base": {base, 139_420_416}, "large": {Defaults(), 406_291_456}} {
		if n := seq2seq.ParameterCount(c.config); n != c.want {
			t.Errorf("%s has %d parameters, want %d", name, n, c.want)
		}
	}
}

func TestMistakes(t *testing.T) {
	m := load(t, "plain")
	long := make([]int32, 65)
	_, err := m.Loss(seq2seq.Batch{Inputs: [][]int32{long}, Labels: [][]int32{{5, 2}}})
	errs := map[string]error{"more than 64 tokens": err}
	text := goldens.Text(t, "testdata/plain/config.json")
	for want, change := range map[string][2]string{
		`model_type is "marian"`:        {`"bart"`, `"marian"`},
		"d_model is -1":                 {`"d_model": 24`, `"d_model": -1`},
		"not a multiple of 3 heads":     {`"d_model": 24`, `"d_model": 25`},
		"decoder_attention_heads 4":     {`"decoder_attention_heads": 3`, `"decoder_attention_heads": 4`},
		"encoder_layerdrop":             {`"encoder_layerdrop": 0.0`, `"encoder_layerdrop": 0.1`},
		`activation_function is "relu"`: {`"gelu"`, `"relu"`},
		"dropout is 1":                  {`"dropout": 0.1`, `"dropout": 1`},
		"forced_eos_token_id 100":       {`"forced_eos_token_id": 2`, `"forced_eos_token_id": 100`},
		"tie_word_embeddings":           {`"vocab_size"`, `"tie_word_embeddings": false, "vocab_size"`},
	} {
		folder := t.TempDir()
		filetest.Write(t, filepath.Join(folder, seq2seq.ConfigFile), strings.Replace(string(text), change[0], change[1], 1))
		_, errs[want] = seq2seq.ReadConfig(folder, Family)
	}
	tensortest.Run(t, func(s *tensor.Scope) {
		s.CopyInPlace(m.Param("final_logits_bias"), s.Full(1, tensor.F32, tensor.CPU, 1, 100))
	})
	folder := t.TempDir()
	errtest.None(t, m.Save(folder))
	_, errs[`"final_logits_bias" is not 0`] = seq2seq.Load(folder, tensor.CPU, Family)
	_, _, errs[`model.safetensors: tensor "final_logits_bias" is not 0`] = seq2seq.Check(folder, Family)
	for want, err := range errs {
		errtest.Says(t, err, want)
	}
}
