package t5

import (
	"os"
	"strconv"
	"syscall"
	"testing"

	"github.com/redsi/redsi/internal/corpora/drawn"
	"github.com/redsi/redsi/internal/model/adafactor"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
)

// tiny is google/t5-efficient-tiny's configuration.
func tiny() Config {
	c := Defaults()
	c.DModel, c.DFF, c.NumLayers, c.NumDecoderLayers, c.NumHeads = 256, 1024, 4, 4, 4
	return c
}

// BenchmarkTrainStep is forward, backward and Adafactor of Tiny with a batch of 128,
// on REDSI_BENCH_THREADS (2) threads: of REDSI_BENCH_MODEL, where that is set, or random weights. "bound"
// is the same step's matrix products alone.
func BenchmarkTrainStep(b *testing.B) {
	threads := 2
	if text := os.Getenv("REDSI_BENCH_THREADS"); text != "" {
		var err error
		if threads, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	tensor.SetNumThreads(threads)
	var m *seq2seq.Model
	var err error
	if folder := os.Getenv("REDSI_BENCH_MODEL"); folder != "" {
		m, err = seq2seq.Load(folder, tensor.CPU, Family)
	} else {
		m, err = seq2seq.Init(tiny(), 1, tensor.CPU)
	}
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	a, err := adafactor.New(m.Params(), adafactor.Defaults())
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	for _, lengths := range []string{"full", "real"} {
		inputs, labels := drawn.Batch(lengths)
		batch := seq2seq.Batch{Inputs: inputs, Labels: labels}
		loss, err := m.Loss(batch)
		if err != nil {
			b.Fatal(err)
		}
		b.Logf("%s: loss %.5f without dropout", lengths, loss)
		for _, dropout := range []string{"dropout", "plain"} {
			var rng *tensor.RNG
			if dropout == "dropout" {
				rng = &tensor.RNG{Seed: 1}
			}
			b.Run(lengths+"/"+dropout, func(b *testing.B) {
				defer reportCPU(b)()
				for b.Loop() {
					tensortest.Run(b, func(s *tensor.Scope) {
						_, grads := m.Gradients(s, m.Prepare(batch), rng, seq2seq.Scale{})
						a.Step(grads, 0)
					})
				}
			})
		}
		b.Run(lengths+"/bound", func(b *testing.B) { matrixProducts(b, m.Config.(Config), batch) })
	}
}

// reportCPU reports processor seconds per step, which a busy machine changes less
// than wall time.
func reportCPU(b *testing.B) func() {
	used := func() float64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
	}
	before := used()
	return func() { b.ReportMetric((used()-before)/float64(b.N), "cpu-s/op") }
}

// matrixProducts does the products of one step, forward and both of backward, on
// operands that lie ready.
func matrixProducts(b *testing.B, c Config, batch seq2seq.Batch) {
	var from, to int64
	for i := range batch.Inputs {
		from, to = from+int64(len(batch.Inputs[i])), to+int64(len(batch.Labels[i]))
	}
	inner := c.NumHeads * c.DKV
	type product struct{ rows, in, out, times int64 }
	products := []product{
		{from, c.DModel, inner, 4*c.NumLayers + 2*c.NumDecoderLayers}, // q, k, v, o; cross k, v
		{from, c.DModel, c.DFF, c.NumLayers}, {from, c.DFF, c.DModel, c.NumLayers},
		{to, c.DModel, inner, 6 * c.NumDecoderLayers}, // q, k, v, o; cross q, o
		{to, c.DModel, c.DFF, c.NumDecoderLayers}, {to, c.DFF, c.DModel, c.NumDecoderLayers},
		{to, c.DModel, c.VocabSize, 1},
	}
	tensortest.Run(b, func(s *tensor.Scope) {
		type operands struct{ x, w, wt, g, gt *tensor.Tensor }
		var all []operands
		rng := &tensor.RNG{Seed: 1}
		for _, p := range products {
			o := operands{x: s.Normal(rng, 0, 1, p.rows, p.in), w: s.Normal(rng, 0, 1, p.out, p.in), g: s.Normal(rng, 0, 1, p.rows, p.out)}
			o.wt, o.gt = s.Transpose(o.w, 0, 1), s.Transpose(o.g, 0, 1)
			all = append(all, o)
		}
		defer reportCPU(b)()
		for b.Loop() {
			for i, p := range products {
				for range p.times {
					tensor.Within(func(s *tensor.Scope) {
						s.MatMul(all[i].x, all[i].wt)
						s.MatMul(all[i].g, all[i].w)
						s.MatMul(all[i].gt, all[i].x)
					})
				}
			}
		}
	})
}
