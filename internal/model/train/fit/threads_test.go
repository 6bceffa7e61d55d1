package fit

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/redsi/redsi/internal/model/bart"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/train"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestThreads trains a model that is large enough for every operation to use several
// threads: the weights have the same bytes for any number of them, where that is promised.
func TestThreads(t *testing.T) {
	defer tensor.SetNumThreads(1)
	counts := []int{1, 2, 3, 7}
	if !tensor.SameForAnyThreads() {
		counts = []int{2, 2} // there for the same number only
	}
	c, b := t5.Defaults(), bart.Defaults()
	c.VocabSize, c.DModel, c.DKV, c.DFF, c.NumLayers, c.NumDecoderLayers, c.NumHeads = 3000, 128, 32, 512, 2, 2, 4
	b.VocabSize, b.DModel, b.EncoderLayers, b.DecoderLayers, b.EncoderHeads, b.DecoderHeads, b.EncoderFFN, b.DecoderFFN = 3000, 128, 2, 2, 4, 4, 512, 512
	// The width and the feed-forward layer fill no vector.
	narrow := t5.Defaults()
	narrow.VocabSize, narrow.DModel, narrow.DKV, narrow.DFF, narrow.NumLayers, narrow.NumDecoderLayers, narrow.NumHeads = 3000, 40, 8, 73, 1, 1, 5
	configs := []seq2seq.Config{c, b}
	for _, feedForward := range []string{"gelu_new", "gated-gelu", "gated-silu"} {
		narrow.FeedForward = feedForward
		configs = append(configs, narrow)
	}
	for i, config := range append(configs, c, b) {
		compute := tensor.F32
		if i >= len(configs) {
			compute = tensor.BF16
		}
		var want string
		feedForward := ""
		if c, ok := config.(t5.Config); ok {
			feedForward = c.FeedForward
		}
		for _, threads := range counts {
			tensor.SetNumThreads(threads)
			if got := trained(t, config, compute); want == "" {
				want = got
			} else if got != want {
				t.Errorf("%T %s in %s, %d threads: weights %s, the first time: %s", config, feedForward, compute, threads, got, want)
			}
		}
	}
}

// trained is the digest of a model's weights after some updates.
func trained(t *testing.T, c seq2seq.Config, compute tensor.DType) string {
	l := learnerWith(t, c)
	l.Model.Compute = compute
	for i := range int64(2) {
		b := &train.Batch{}
		for n := range int32(48) {
			var in []int32
			for k := range 8 + n%24 {
				in = append(in, 3+(n*131+k*17+int32(i))%2900)
			}
			b.Inputs = append(b.Inputs, in)
			b.Targets = append(b.Targets, []int32{7 + n, 90 + n*3, 400 + n*7, 1}[n%3:])
		}
		testkit.None(t, testkit.Err(update(l, b, i, 1e-2)))
	}
	return fmt.Sprintf("%x", sha256.Sum256(weights(t, l)))[:16]
}
