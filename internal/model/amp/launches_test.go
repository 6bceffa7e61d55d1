package amp_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/model/adafactor"
	"github.com/redsi/redsi/internal/model/adamw"
	"github.com/redsi/redsi/internal/model/amp"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/checkpoint"
)

// sizes are T5's: Tiny is google/t5-efficient-tiny.
func sizes() map[string]t5.Config {
	tiny, small, base := t5.Defaults(), t5.Defaults(), t5.Defaults()
	tiny.DModel, tiny.DFF, tiny.NumLayers, tiny.NumDecoderLayers, tiny.NumHeads = 256, 1024, 4, 4, 4
	base.DModel, base.DFF, base.NumLayers, base.NumDecoderLayers, base.NumHeads = 768, 3072, 12, 12, 12
	return map[string]t5.Config{"tiny": tiny, "small": small, "base": base}
}

// shaped are tensors of a model's shapes that share memory: what is counted does not depend on
// values.
func shaped(s *tensor.Scope, c t5.Config, d tensor.DType, device tensor.Device) (all []checkpoint.Named) {
	size := func(shape []int64) int64 {
		n := int64(1)
		for _, d := range shape {
			n *= d
		}
		return n
	}
	most := int64(0)
	for _, spec := range c.Specs() {
		most = max(most, size(spec.Shape))
	}
	pool := s.Full(0.01, d, device, most)
	for _, spec := range c.Specs() {
		all = append(all, checkpoint.Named{Name: spec.Name, Tensor: s.View(s.Narrow(pool, 0, 0, size(spec.Shape)), spec.Shape...)})
	}
	return all
}

// cost is what a part of an update asks of a card.
type cost struct {
	Launches  int64            `json:"launches"`
	Operators map[string]int64 `json:"operators"`
}

// TestLaunches: what an update of a model's size asks of a card, and that nothing waits for it. At the
// most 130 launches for Adafactor, whatever the size; of memory what StepOn says.
func TestLaunches(t *testing.T) {
	defer tensor.Emulate()()
	defer tensor.SetNumThreads(tensor.NumThreads())
	tensor.SetNumThreads(1)
	const path = "testdata/launches.json"
	got := map[string]map[string]cost{}
	for name, config := range sizes() {
		if err := tensor.Run(func(s *tensor.Scope) { got[name] = costs(t, s, name, config) }); err != nil {
			t.Fatal(err)
		}
	}
	var want map[string]map[string]cost
	goldens.OfJSON(t, path, got, &want)
	if !reflect.DeepEqual(got, want) {
		now, _ := json.MarshalIndent(got, "", "  ")
		t.Errorf("%s has other counts; now they are\n%s", path, now)
	}
}

func costs(t *testing.T, s *tensor.Scope, name string, config t5.Config) map[string]cost {
	card := tensor.CUDA(0)
	params := shaped(s, config, tensor.F32, card)
	var masters, grads, halves []*tensor.Tensor
	shapes, alone := map[string]int64{}, map[string]int64{}
	for i, half := range shaped(s, config, tensor.F16, card) {
		p := params[i].Tensor
		masters, halves = append(masters, p), append(halves, half.Tensor)
		grads = append(grads, s.View(masters[i], p.Shape()...))
		shapes[p.String()] += p.Numel()
		alone[p.String()] = p.Numel()
	}
	stacked, largest := int64(0), int64(0)
	for shape, n := range shapes {
		largest = max(largest, n)
		if n > alone[shape] {
			stacked += n
		}
	}
	scaler, err := amp.New(card, amp.Options{Scaled: true, ClipNorm: 1, Ring: 50})
	if err != nil {
		t.Fatal(err)
	}
	defer scaler.Close()
	o := adafactor.Defaults()
	factored, err := adafactor.New(params, o)
	if err != nil {
		t.Fatal(err)
	}
	defer factored.Close()
	loss, rate, slot := s.Full(1, tensor.F32, card), s.Full(1e-3, tensor.F32, card, 1), s.Zeros(tensor.I64, card, 1)
	parts := map[string]func(){
		"check":     func() { scaler.Check(loss, grads, slot) },
		"adafactor": func() { factored.StepOn(grads, rate, scaler) },
		"copies":    func() { s.CopyAll(halves, masters) },
	}
	parts["check"]()
	parts["adafactor"]() // the first arranges the state
	if name == "tiny" {
		o.ScaleParameter, o.WeightDecay = false, 0.1
		plain, err := adafactor.New(params, o)
		if err != nil {
			t.Fatal(err)
		}
		defer plain.Close()
		parts["adafactor, not scaled, half"] = func() { plain.StepOn(halves, rate, scaler) }
		adam, err := adamw.New(params, adamw.Options{Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, WeightDecay: 0.01})
		if err != nil {
			t.Fatal(err)
		}
		defer adam.Close()
		parts["adamw"] = func() { adam.StepOn(grads, rate, scaler) }
		parts["adamw, half"] = func() { adam.StepOn(halves, rate, scaler) }
		parts["adafactor, not scaled, half"]()
		parts["adamw"]()
	}
	all := map[string]cost{}
	for part, f := range parts {
		c := tensor.Count(f)
		all[part] = cost{c.Launches, c.Operators}
		if c.Uploads+c.Downloads != 0 || len(c.Syncs) != 0 {
			t.Errorf("%s of %s: %d uploads, %d downloads, waits %v", part, name, c.Uploads, c.Downloads, c.Syncs)
		}
		// A CPU's kernels copy halves to float32; a card's do not.
		most := map[string]int64{"check": 1 << 16, "adafactor": 4*min(stacked, 1<<27) + 4*min(largest, 1<<27), "copies": 0, "adamw": 1 << 10}
		if bytes, ok := most[part]; ok && c.Peak > bytes+bytes/50 {
			t.Errorf("%s of %s takes %d bytes, want at most %d", part, name, c.Peak, bytes)
		}
	}
	if n := all["adafactor"].Launches; n > 130 {
		t.Errorf("Adafactor of %s: %d launches", name, n)
	}
	scaler.Checked()
	read := tensor.Count(func() { scaler.Read() })
	if read.Downloads != 1 || read.Launches != 0 || len(read.Syncs) != 0 {
		t.Errorf("a read: %+v", read)
	}
	return all
}
