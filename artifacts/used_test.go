package artifacts_test

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/stores/mem"
)

// TestUsedGolden pins how a record says what its step used.
func TestUsedGolden(t *testing.T) {
	s := mem.New()
	r := example(t, s)
	r.Used = &artifacts.Used{CPU: 12.5, CPUOf: artifacts.CPUOfProgram, Memory: 1 << 30, MemoryOf: artifacts.MemoryOfProgram, Read: 5, Written: 17,
		Card: "A card", CardMemory: 1 << 20, Energy: 99.25, EnergyOf: "processors", Beside: 2}
	publish(t, artifacts.Alone(s), r)
	goldens.Same(t, filepath.Join("testdata", "result-used.json"), string(stored(t, s, r.Key)))
	if back, err := artifacts.Lookup(t.Context(), artifacts.Alone(s), r.Key); err != nil || back == nil || !reflect.DeepEqual(back.Used, r.Used) {
		t.Errorf("back %+v, %v", back, err)
	}
}

// TestUsedWithParts: sums are there only if all terms are.
func TestUsedWithParts(t *testing.T) {
	part := func(u artifacts.Used) artifacts.Result { return artifacts.Result{Used: &u} }
	own := &artifacts.Used{CPU: 1, CPUOf: artifacts.CPUOfStep, Memory: 10, MemoryOf: artifacts.MemoryOfProcess, Read: 3, Written: 4, Energy: 2, EnergyOf: "processors"}
	for name, c := range map[string]struct {
		parts []artifacts.Result
		want  *artifacts.Used
	}{
		"none": {nil, own},
		"all":  {[]artifacts.Result{part(*own), part(*own)}, &artifacts.Used{CPU: 3, CPUOf: artifacts.CPUOfStep, Memory: 10, MemoryOf: artifacts.MemoryOfProcess, Read: 9, Written: 12, Energy: 6, EnergyOf: "processors"}},
		"no processor time of one": {[]artifacts.Result{part(artifacts.Used{Memory: 70, MemoryOf: artifacts.MemoryOfProgram, Beside: 2, Card: "x", CardMemory: 8})},
			&artifacts.Used{Memory: 70, MemoryOf: artifacts.MemoryOfProgram, Read: 3, Written: 4, Beside: 2, Card: "x", CardMemory: 8}},
		"of the process": {[]artifacts.Result{part(artifacts.Used{CPU: 5, CPUOf: artifacts.CPUOfProcess, Read: 1})},
			&artifacts.Used{CPU: 6, CPUOf: artifacts.CPUOfProcess, Read: 4, Written: 4}},
		"not measured": {[]artifacts.Result{part(*own), {}}, nil},
	} {
		if got := own.With(c.parts); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	for of, want := range map[string]int64{artifacts.MemoryOfStep: 7, artifacts.MemoryOfProgram: 7, artifacts.MemoryOfProcess: 0, "": 0} {
		if r := part(artifacts.Used{Memory: 7, MemoryOf: of}); r.Memory() != want {
			t.Errorf("memory of %q: %d, want %d", of, r.Memory(), want)
		}
	}
	var none *artifacts.Used
	if none.With([]artifacts.Result{part(*own)}) != nil || none.Own() || !own.Own() {
		t.Error("of a step that was not measured nothing is known")
	}
}
