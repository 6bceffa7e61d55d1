package roofline

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/host/nvidia"
)

// near fails if a number is not within a part of what is wanted.
func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within*want) {
		t.Errorf("%s: %.4g, want %.4g within %.0f %%", what, got, want, 100*within)
	}
}

// TestParameters: sizes give the numbers of parameters that are published, but for norms.
func TestParameters(t *testing.T) {
	for name, x := range map[string]struct {
		m    Model
		want float64
	}{"tiny": {Tiny(), 15.57e6}, "small": {Small(), 60.51e6}, "base": {Base(), 222.9e6}, "bert": {BERT(), 41.4e6}} {
		near(t, name, float64(x.m.Parameters()), x.want, 0.01)
	}
	near(t, "base, atomic", float64(Base().Extended(109_739-28).Parameters()), 307.2e6, 0.01)
}

// TestParseModel: config.json of each family, and of none.
func TestParseModel(t *testing.T) {
	for text, want := range map[string]Model{
		`{"model_type":"t5","vocab_size":32128,"d_model":768,"d_kv":64,"d_ff":3072,"num_layers":12,"num_heads":12}`: Base(),
		`{"model_type":"t5"}`: Small(),
		`{"model_type":"t5","vocab_size":32128,"d_model":512,"d_kv":64,"d_ff":1024,"num_layers":8,"num_decoder_layers":6,"num_heads":6,"feed_forward_proj":"gated-gelu","tie_word_embeddings":false}`: {Vocabulary: 32128, Width: 512, Inner: 384, Heads: 6, FF: 1024, Encoder: 8, Decoder: 6, Gated: true, Untied: true},
		`{"model_type":"bart","vocab_size":50265,"d_model":768,"encoder_layers":6,"decoder_layers":6,"encoder_attention_heads":12,"encoder_ffn_dim":3072,"max_position_embeddings":1024}`:             {Vocabulary: 50265, Width: 768, Inner: 768, Heads: 12, FF: 3072, Encoder: 6, Decoder: 6, Positions: 1024},
		`{"vocab_size":30522,"hidden_size":512,"num_hidden_layers":8,"num_attention_heads":8,"intermediate_size":2048}`:                                                                               BERT(),
		`{"model_type":"distilbert","vocab_size":30522,"dim":768,"n_layers":6,"n_heads":12,"hidden_dim":3072}`:                                                                                        {Vocabulary: 30522, Width: 768, Inner: 768, Heads: 12, FF: 3072, Encoder: 6, Positions: 512},
	} {
		if got, err := ParseModel([]byte(text)); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{`[`, `{"model_type":"t5","num_layers":0}`, `{"model_type":"t5","d_model":-1}`, `{"model_type":"t5","num_decoder_layers":-3}`} {
		if m, err := ParseModel([]byte(text)); err == nil {
			t.Errorf("%s: %+v", text, m)
		}
	}
}

// TestCards: names are one card's each, drivers' names are found, and figures are there.
func TestCards(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Cards() {
		if seen[c.Name] || c.Half < c.Float || c.Float <= 0 || c.Bandwidth <= 0 || c.Memory < gb(16) || c.Bus <= 0 || c.Launch <= 0 || c.Price <= 0 || c.Capability == (nvidia.Version{}) {
			t.Errorf("%+v", c)
		}
		seen[c.Name] = true
		if got, err := CardNamed(strings.ToUpper(c.Name)); err != nil || got.Name != c.Name {
			t.Errorf("%s: %+v, %v", c.Name, got, err)
		}
	}
	if _, err := CardNamed("voodoo2"); err == nil || !strings.Contains(err.Error(), "h100") {
		t.Errorf("an unknown card: %v", err)
	}
	for model, want := range map[string]string{
		"Tesla V100-SXM2-16GB": "v100", "Tesla T4": "t4", "NVIDIA A100-SXM4-80GB": "a100", "NVIDIA A100-PCIE-40GB": "a100-40", "NVIDIA A10G": "a10",
		"NVIDIA H100 80GB HBM3": "h100", "NVIDIA H200": "h200", "NVIDIA L4": "l4", "NVIDIA L40S": "l40s", "NVIDIA GeForce RTX 4090": "rtx4090",
		"2 × NVIDIA H100 80GB HBM3": "h100",
	} {
		if c, ok := CardOf(model); !ok || c.Name != want {
			t.Errorf("%s is %s, %v", model, c.Name, ok)
		}
	}
	if c, ok := CardOf("AMD Instinct MI300X"); ok {
		t.Errorf("another maker's is %s", c.Name)
	}
}

// TestTime: a class takes as long as what is slower, the card or the host, waits add up, and
// what is in graphs costs the host and the card less.
func TestTime(t *testing.T) {
	c := Card{Half: 100, BF16: 0, Float: 10, Bandwidth: 1000, Bus: 10, Launch: 2}
	a := Assumptions{HalfEfficiency: 0.5, FloatEfficiency: 0.5, Bandwidth: 0.5, Gap: 1, Wait: 3, Replayed: 0.5, Replay: 7, NodeLaunch: 0.25, NodeGap: 0.5}
	classes := []Class{{Products, 500, 100}, {Pointwise, 0, 2000}}
	for name, x := range map[string]struct {
		work Work
		want Time
	}{
		"the card is slower": {
			Work{Precision: "fp16", Launches: 10, Classes: classes, Waits: 2},
			Time{Seconds: 24 + 6, Card: 10 + 4 + 10, Host: 20, Parts: Parts{0: 10, 2: 4, 6: 10, 7: 6}},
		},
		"float32 in place of bfloat16": {
			Work{Precision: "bf16", Launches: 10, Classes: classes, Waits: 2},
			Time{Seconds: 114 + 6, Card: 100 + 4 + 10, Host: 20, Parts: Parts{0: 100, 2: 4, 6: 10, 7: 6}},
		},
		"the host is slower": {
			Work{Precision: "bf16", Launches: 100, Classes: classes, Up: 50, Down: 20, Waits: 2},
			Time{Seconds: 206 + 6, Card: 100 + 4 + 100 + 2, Host: 205, Parts: Parts{0: 100, 2: 4, 6: 100, 7: 8}},
		},
		"half of the updates replay a graph of all": {
			Work{Precision: "fp16", Launches: 100, Graphed: 100, Replays: 1, Classes: classes},
			Time{Seconds: 50*2 + 50*0.25 + 3.5, Card: 10 + 4 + 50 + 25, Host: 50*2 + 50*0.25 + 3.5, Parts: Parts{0: 10, 2: 4, 6: 75, 7: 116 - 89}},
		},
		"two graphs of some": {
			Work{Precision: "fp16", Launches: 100, Graphed: 60, Replays: 2, Classes: classes},
			Time{Seconds: 70*2 + 30*0.25 + 7, Card: 10 + 4 + 70 + 15, Host: 70*2 + 30*0.25 + 7, Parts: Parts{0: 10, 2: 4, 6: 85, 7: 154.5 - 99}},
		},
	} {
		got := x.work.On(c, a)
		if got != x.want {
			t.Errorf("%s: %+v, want %+v", name, got, x.want)
		}
		if twice := x.work.Times(2).On(c, a); twice.Seconds != 2*got.Seconds || twice.Parts.Seconds() != 2*got.Seconds {
			t.Errorf("%s: twice takes %+v, once %+v", name, twice, got)
		}
		if sum := x.work.Plus(x.work).On(c, a); sum.Seconds != 2*got.Seconds {
			t.Errorf("%s: both take %+v, one %+v", name, sum, got)
		}
	}
	if len(Sorts()) != len(Parts{}) {
		t.Errorf("%d sorts of %d parts", len(Sorts()), len(Parts{}))
	}
}

// TestBucketed: rows are padded by half a step on average, at most a thirty-second, widths to
// the next four and more, and examples by sequences of filler.
func TestBucketed(t *testing.T) {
	for _, x := range []struct{ got, want Batch }{
		{Batch{128, 2500, 35, 512, 6}, Batch{132, 2500 + 64, 36, 512 + 16, 8}},
		{Batch{128, 2047, 32, 128, 1}, Batch{132, 2047 + 32, 32, 128 + 4, 1}},
		{Batch{2, 20, 16, 10, 9}, Batch{2.0625, 20 + 4, 16, 10 + 4, 12}},
	} {
		if got := x.got.Bucketed(); got != x.want {
			t.Errorf("%+v is in the bucket %+v, want %+v", x.got, got, x.want)
		}
	}
}

// TestGraphs: a replayed update is that of a padded batch, in one graph, or in one for each
// part of the batch and one for the optimizer. It takes the host less and never a card more
// than its padding, and more memory.
func TestGraphs(t *testing.T) {
	launched := paper(Base(), "fp16")
	replayed := launched
	replayed.Graphs = true
	l, r := launched.Work(), replayed.Work()
	if l.Graphed != 0 || l.Replays != 0 || r.Graphed != r.Launches || r.Launches != l.Launches || r.Replays != 1 {
		t.Errorf("launched %+v, replayed %+v", l, r)
	}
	for what, x := range map[string][2]float64{"flops": {l.Flops(), r.Flops()}, "bytes": {l.Bytes(), r.Bytes()}} {
		if more := x[1] / x[0]; more <= 1 || more > 1.1 {
			t.Errorf("%s: %.3f of those of the batch without padding", what, more)
		}
	}
	padded := launched
	padded.Batch = launched.Batch.Bucketed()
	if w := padded.Work(); w.Flops() != r.Flops() || w.Bytes() != r.Bytes() || w.Up != r.Up {
		t.Errorf("%+v replayed, %+v of the padded batch", r, w)
	}
	for _, c := range Cards() {
		p, r := padded.Work().On(c, Assumed()), r.On(c, Assumed())
		if r.Host >= p.Host/3 || r.Seconds >= p.Seconds || r.Card >= p.Card {
			t.Errorf("%s: %+v replayed, %+v launched", c.Name, r, p)
		}
	}
	for parts, want := range map[int]float64{1: 1, 2: 3, 4: 5} {
		cut := replayed
		cut.Accumulate = parts
		if w := cut.Work(); w.Replays != want || w.Graphed != w.Launches {
			t.Errorf("%d parts: %+v", parts, w)
		}
	}
	again := replayed
	again.Recompute = true
	if w := again.Work(); w.Graphed != 0 || w.Replays != 0 {
		t.Errorf("recomputed: %+v", w)
	}
	if m, p := replayed.Memory(), padded.Memory(); m.Graphs != p.Gradients+p.Activations+p.Scratch || p.Graphs != 0 || m.Total() != p.Total()+m.Graphs {
		t.Errorf("%+v replayed, %+v launched", m, p)
	}
	if m := again.Memory(); m.Graphs != 0 {
		t.Errorf("recomputed: %+v", m)
	}
}

// paper is the paper's update.
func paper(m Model, precision string) Training {
	return Training{Model: m, Precision: precision, Optimizer: "adafactor", Batch: Batch{Examples: 128, InputTokens: 2500, LongestInput: 35, LabelTokens: 512, LongestLabel: 6}}
}

// TestOptions: what options of a training do to its work and its memory.
func TestOptions(t *testing.T) {
	plain := paper(Base(), "fp16")
	cut, again, wide, adamw := plain, plain, plain, plain
	cut.Accumulate, again.Recompute, wide.Precision, adamw.Optimizer = 4, true, "fp32", "adamw"
	near(t, "flops of a batch that is cut", cut.Work().Flops(), plain.Work().Flops(), 1e-9)
	if w, p := again.Work(), plain.Work(); w.Flops() <= 1.2*p.Flops() || w.Flops() > 4.0/3*p.Flops() {
		t.Errorf("recomputing takes %.3g flops instead of %.3g", w.Flops(), p.Flops())
	}
	for name, x := range map[string]struct{ less, more Training }{
		"a part": {cut, plain}, "recomputed": {again, plain}, "half": {plain, wide}, "adafactor": {plain, adamw}, "small": {paper(Small(), "fp16"), plain},
	} {
		if l, m := x.less.Memory(), x.more.Memory(); l.Total() >= m.Total() {
			t.Errorf("%s takes %+v, no less than %+v", name, l, m)
		}
	}
	c, _ := CardNamed("h100")
	if h, f := plain.Work().On(c, Assumed()), wide.Work().On(c, Assumed()); h.Seconds >= f.Seconds {
		t.Errorf("half precision takes %+v, float32 %+v", h, f)
	}
}

// TestFits: what is said to be changed makes it fit, and what fits needs no change.
func TestFits(t *testing.T) {
	atomic := paper(Base().Extended(109_739), "fp32")
	atomic.Batch = Batch{Examples: 2048, InputTokens: 2048 * 40, LongestInput: 67, LabelTokens: 2048, LongestLabel: 1}
	f := Fits(gb(24), atomic)
	if f.Fits || len(f.Change) == 0 || !strings.HasPrefix(f.Change[0], "accumulate = ") {
		t.Fatalf("%+v", f)
	}
	parts := 0
	for p := 2; p <= 2048; p *= 2 {
		cut := atomic
		if cut.Accumulate = p; Fits(gb(24), cut).Fits {
			parts = p
			break
		}
	}
	if want := "accumulate = " + strconv.Itoa(parts); f.Change[0] != want {
		t.Errorf("%q, want %q", f.Change[0], want)
	}
	if f := Fits(gb(10_000), atomic); !f.Fits || f.Change != nil {
		t.Errorf("%+v", f)
	}
	if f := Fits(gb(1), atomic); f.Fits || len(f.Change) != 1 || !strings.HasPrefix(f.Change[0], "a card with ") {
		t.Errorf("the weights alone are larger: %+v", f)
	}
}

// Tolerances of formulas against counts: of products, and of what one size says of another.
const (
	flopsWithin = 0.1
	bytesWithin = 1.3
	peakWithin  = 1.55 // of larger models less than the formula is live
)

// TestFormulas: the products of every operation are those that were counted, and what was
// counted of bytes and of memory grows from size to size as the formulas do.
func TestFormulas(t *testing.T) {
	counted := Counts()
	if len(counted) == 0 {
		t.Fatal("nothing was counted")
	}
	ratios := map[string]map[string]float64{}
	note := func(what string, c Counted, got, formula float64) {
		key := what + " of " + c.Operation + " in " + c.Precision
		if ratios[key] == nil {
			ratios[key] = map[string]float64{}
		}
		ratios[key][c.Of+" "+c.Name] = got / formula
	}
	for _, c := range counted {
		name := c.Operation + " of " + c.Of + " " + c.Name + " in " + c.Precision
		switch c.Operation {
		case OpTrain:
			near(t, "flops of "+name, c.training().formula().Flops(), float64(c.Flops), flopsWithin)
			note("bytes", c, c.bytes(), c.trainBytes())
			note("peak", c, c.peak(), c.livePeak())
		case OpStep:
			w := c.searching().token(c.Batch.Examples*float64(c.Beams), 2.5)
			near(t, "flops of "+name, w.Flops(), float64(c.Flops), flopsWithin)
			note("bytes", c, c.bytes(), c.searchBytes())
		case OpRank:
			note("bytes", c, c.bytes(), c.rankBytes())
		case OpEmbed:
			near(t, "flops of "+name, Embedding{Model: c.Model, Batch: c.Batch}.formula().Flops(), float64(c.Flops), flopsWithin)
			note("bytes", c, c.bytes(), c.embedBytes())
		}
		// A line through two or three sizes is near each of them.
		near(t, "launches of "+name, launchesOf(c.Operation, c.Model, c.Precision), float64(c.Launches), 0.1)
	}
	for key, of := range ratios {
		t.Logf("%-40s %v", key, of)
		within := bytesWithin
		if strings.HasPrefix(key, "peak") {
			within = peakWithin
		}
		for a, x := range of {
			for b, y := range of {
				if x/y > within {
					t.Errorf("%s: %.2f of the formula for %s, %.2f for %s: more than %g times apart", key, x, a, y, b, within)
				}
			}
		}
	}
}

// TestPaperFits: a card with no memory to speak of has room for none, a large one for all.
func TestPaperFits(t *testing.T) {
	if text := PaperFitsText(gb(141)); text != "every training of the paper fits, by computation" {
		t.Error(text)
	}
	if text := PaperFitsText(gb(2)); !strings.Contains(text, "T5-Base, atomic identifiers, which needs ") {
		t.Error(text)
	}
	all := PaperFits(gb(80))
	for i, f := range all {
		if f.Needs <= 0 || i%3 > 0 && i < 6 && f.Needs <= all[i-1].Needs {
			t.Errorf("%+v", f)
		}
	}
}
