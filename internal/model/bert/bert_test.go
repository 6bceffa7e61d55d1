package bert

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
	"github.com/redsi/redsi/internal/system/testkit"
)

func open(t *testing.T, weights string) *Model {
	t.Helper()
	data := goldens.Text(t, "testdata/"+weights)
	m := testkit.Value(Read(goldens.Text(t, "testdata/config.json"), bytes.NewReader(data), int64(len(data)), tensor.CPU))(t)
	t.Cleanup(m.Close)
	return m
}

// The goldens are transformers 4.44.1's (tools/golden/bert.py).
func TestEmbeddingsAreTransformers(t *testing.T) {
	golden := goldens.Text(t, "testdata/golden.safetensors")
	for _, weights := range []string{"model.safetensors", "pytorch_model_old.bin"} {
		compare(t, weights, open(t, weights), "sequences.json", golden, CLS, Mean)
	}
}

// The other encoders' are too, and 5.24.0's of a BERT (tools/golden/transformers5.py), with the pad token in a text, where positions start over for
// none.
func TestOtherEncodersAreTransformers(t *testing.T) {
	for _, name := range []string{"roberta", "xlm_roberta", "distilbert", "mpnet", "electra", "by5"} {
		m := testkit.Value(Load("testdata/"+name, tensor.CPU))(t)
		t.Cleanup(m.Close)
		if _, _, err := Check("testdata/" + name); err != nil {
			t.Error(err)
		}
		compare(t, name, m, "texts.json", goldens.Text(t, "testdata/"+name+"/golden.safetensors"), CLS, Mean, Max)
	}
}

// compare holds vectors, computed in batches of some sizes, to a golden's vectors.
func compare(t *testing.T, name string, m *Model, sequences string, want []byte, poolings ...Pooling) {
	t.Helper()
	var texts [][]int32
	goldens.JSON(t, "testdata/"+sequences, &texts)
	golden := testkit.Value(checkpoint.Open(bytes.NewReader(want), int64(len(want))))(t)
	live, worst, width := tensor.Live(), 0.0, int(m.Config.Hidden)
	for _, pooling := range poolings {
		for _, budget := range []int{1, 30, 1000} {
			got := testkit.Value(m.Embed(texts, pooling, budget))(t)
			tensortest.Run(t, func(s *tensor.Scope) {
				g := testkit.Value(golden.Tensor(s, string(pooling), tensor.F32, tensor.CPU, 4, int64(width)))(t)
				for i, v := range g.Float32s() {
					if d := math.Abs(float64(v - got[i/width][i%width])); !(d <= 1e-5) {
						t.Fatalf("%s, %s, %d tokens at a time: number %d of text %d is %g apart", name, pooling, budget, i%width, i/width, d)
					} else {
						worst = max(worst, d)
					}
				}
			})
		}
	}
	t.Logf("%s: max |diff| %.2g", name, worst)
	testkit.Is(t, tensor.Live(), live, "tensors leaked")
}

// TestPrecisions has vectors in bf16 and int8 beside float32, of every family and in batches of some sizes, packed as this processor
// multiplies or not: cosines of at least 0.999 and 0.99. Texts are attended to together and one by one.
func TestPrecisions(t *testing.T) {
	precisely(t, "bf16", 0.999)
	precisely(t, "int8", 0.99)
}

func precisely(t *testing.T, precision string, least float64) {
	live := tensor.Live()
	for _, name := range []string{"roberta", "xlm_roberta", "distilbert", "mpnet", "electra", "by5"} {
		var texts [][]int32
		goldens.JSON(t, "testdata/texts.json", &texts)
		for _, pooling := range []Pooling{CLS, Mean, Max} {
			m := testkit.Value(Load("testdata/"+name, tensor.CPU))(t)
			want := testkit.Value(m.Embed(texts, pooling, 1000))(t)
			testkit.None(t, m.In(precision))
			for _, budget := range []int{1, 30, 1000} {
				for _, m.long = range []int64{1, math.MaxInt32} {
					got := testkit.Value(m.Embed(texts, pooling, budget))(t)
					same := true
					for i, v := range got {
						if c := cosine(v, want[i]); !(c >= least) {
							t.Errorf("%s in %s, %s, %d tokens at a time: text %d has a cosine of %g", name, precision, pooling, budget, i, c)
						}
						same = same && slices.Equal(v, want[i])
					}
					if same {
						t.Errorf("%s, %s: the vectors are the same as in float32", name, pooling)
					}
				}
			}
			m.Close()
		}
	}
	testkit.Is(t, tensor.Live(), live, "tensors leaked")
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	return ab / math.Sqrt(aa*bb)
}

func TestMistakes(t *testing.T) {
	m := open(t, "model.safetensors")
	long := make([]int32, 25)
	for want, err := range map[string]error{
		"text 1 has 0 tokens":                   testkit.Err(m.Embed([][]int32{{2, 3}, {}}, CLS, 9)),
		"has 25 tokens, want 1 to 24":           testkit.Err(m.Embed([][]int32{long}, CLS, 9)),
		"token 90 at 1 is outside":              testkit.Err(m.Embed([][]int32{{2, 90}}, CLS, 9)),
		`pooling "sum"`:                         testkit.Err(m.Embed(nil, "sum", 9)),
		"config.json":                           config("{"),
		`model_type is "t5"`:                    config(`{"model_type":"t5"}`),
		"not a multiple":                        config(`{"hidden_size":10,"num_attention_heads":3}`),
		`the activation is "mish"`:              config(`{"hidden_act":"mish"}`),
		"dim is 0, want 1 to":                   config(`{"model_type":"distilbert","dim":0}`),
		"relative_attention_num_buckets is 8":   config(`{"model_type":"mpnet","relative_attention_num_buckets":8}`),
		"pad_token_id is 511":                   config(`{"model_type":"roberta","pad_token_id":511}`),
		"is_decoder is true":                    config(`{"is_decoder":true}`),
		`position_embedding_type is "relative`:  config(`{"position_embedding_type":"relative_key"}`),
		"vocab_size is 0":                       config(`{"vocab_size":0}`),
		`no tensor "embeddings.word_embeddings`: config(`{}`),
	} {
		testkit.ErrSays(t, err, want)
	}
	data := goldens.Text(t, "testdata/model.safetensors")
	text := strings.Replace(string(goldens.Text(t, "testdata/config.json")), `"intermediate_size": 32`, `"intermediate_size": 33`, 1)
	live := tensor.Live()
	testkit.ErrSays(t, testkit.Err(Read([]byte(text), bytes.NewReader(data), int64(len(data)), tensor.CPU)), "asks for [33 16]")
	testkit.Is(t, tensor.Live(), live, "a model that could not be read leaks")
}

// config opens an empty checkpoint with that configuration.
func config(text string) error {
	empty := append([]byte{8, 0, 0, 0, 0, 0, 0, 0}, "{}      "...)
	_, err := Read([]byte(text), bytes.NewReader(empty), int64(len(empty)), tensor.CPU)
	return err
}
