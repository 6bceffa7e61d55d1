//go:build linux

package cudagraph_test

import (
	"os"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/cudagraph"
	"github.com/redsi/redsi/internal/model/tensor/kernels"
	"github.com/redsi/redsi/internal/model/tensor/tensortest"
)

// TestMends runs TestMendsWithin in a process whose CUDA runtime is of software.
func TestMends(t *testing.T) {
	if out := kernels.Software(t, "TestMendsWithin"); !strings.Contains(out, "--- PASS: TestMendsWithin") || !strings.Contains(out, "it was recorded") {
		t.Fatal(out)
	}
}

// asks reads what the runtime is asked for.
type asks struct {
	kernels.Asked
	blocks int // of memory that were asked for and not given back
}

// since is how often it was asked for what since the last time.
func (a *asks) since(t *testing.T) map[string]int {
	t.Helper()
	n := map[string]int{}
	for line := range strings.Lines(string(a.Since(t))) {
		n[strings.TrimSpace(line)]++
	}
	a.blocks += n["malloc"] - n["free"]
	return n
}

// TestMendsWithin: libtorch's own code records, and is as it was after each way to fail: its allocators give a graph's memory
// back, its generator draws, it records again.
func TestMendsWithin(t *testing.T) {
	runtime := asks{Asked: kernels.Within(t)}
	if runtime.Asked == "" {
		return // it is TestMends that calls it
	}
	card := tensor.CUDA(0)
	step := func() {
		tensor.Within(func(s *tensor.Scope) {
			x := s.Dropout(s.Zeros(tensor.F32, card, 2048, 2048), 0.5, &tensor.RNG{})
			s.MatMul(x, x)
		})
	}
	// eager is a step that is not recorded.
	eager := func(when string) {
		if err := tensor.Try(step); err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		if n := runtime.since(t); n["launch"] == 0 || n["recorded"] > 0 {
			t.Errorf("%s a step asks for %v", when, n)
		}
	}
	record := func(beside *tensor.Graph) *tensor.Graph {
		t.Helper()
		g, err := tensor.Record(card, beside, step)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	// blocks is how many the card has after a graph was recorded and freed, when what is free was given back.
	blocks := func() int {
		record(nil).Free()
		runtime.since(t)
		return runtime.blocks
	}
	tensortest.Run(t, func(s *tensor.Scope) {
		g := record(nil) // the thread's first use of cuBLAS
		if n := runtime.since(t); n["recorded"] == 0 || n["begin"] != 1 || n["end"] != 1 || n["instantiate"] != 1 || n["cublas while it records"]+n["done while it records"] > 0 {
			t.Errorf("recording asks for %v", n)
		} else {
			t.Log("it was recorded")
		}
		eager("after a recording")
		g.Replay()
		if n := runtime.since(t); n["replay"] != 1 || n["recorded"] > 0 {
			t.Errorf("a replay asks for %v", n)
		}
		record(nil).Free() // while the card may be at the replay, which reads the generator's seed and cuBLAS's workspace
		if n := runtime.since(t); n["beside a replay"] > 0 {
			t.Errorf("recording writes beside a replay: %v", n)
		}
		g.Free()
		if n := runtime.since(t); n["exec destroy"] != 1 {
			t.Errorf("to free it asks for %v", n)
		}
		before := blocks()
		for _, fail := range []string{"begin", "end", "instantiate"} {
			os.Setenv("REDSI_TEST_FAIL", fail)
			g, err := tensor.Record(card, nil, step)
			os.Unsetenv("REDSI_TEST_FAIL")
			runtime.since(t)
			if g != nil || err == nil || !strings.Contains(err.Error(), "previous error during capture") {
				t.Errorf("%s fails: %v", fail, err)
			}
			eager("after " + fail + " failed")
			if n := blocks(); n != before {
				t.Errorf("after %s failed %d blocks are held, before it %d", fail, n, before)
			}
		}
		// An end that fails ends all the same, before the graph is freed.
		open, err := cudagraph.Begin(0, nil)
		if err != nil {
			t.Fatal(err)
		}
		os.Setenv("REDSI_TEST_FAIL", "end")
		if err := open.End(); err == nil {
			t.Error("an end that failed says nothing")
		}
		os.Unsetenv("REDSI_TEST_FAIL")
		runtime.since(t)
		eager("after an end that failed")
		if err := open.Replay(); err == nil {
			t.Error("what was not recorded is replayed")
		}
		open.Free()
		for name, f := range map[string]func(s *tensor.Scope){
			"a copy":       func(s *tensor.Scope) { s.Zeros(tensor.F32, card, 2).Float32s() },
			"an error":     func(*tensor.Scope) { tensor.Failf("step", "it cannot") },
			"a graph":      func(*tensor.Scope) { _, err := tensor.Record(card, nil, step); tensor.Failf("Record", "%v", err) },
			"another card": func(s *tensor.Scope) { s.Zeros(tensor.F32, tensor.CUDA(1), 2) },
		} {
			f := func() { step(); tensor.Within(f) }
			if g, err := tensor.Record(card, nil, f); g != nil || err == nil {
				t.Errorf("%s is recorded: %v", name, err)
			}
			runtime.since(t)
			eager("after " + name)
			if n := blocks(); n != before {
				t.Errorf("after %s %d blocks are held, before it %d", name, n, before)
			}
		}

		// Two graphs in one memory, a third that fails, freed in the order in which they were made.
		one := record(nil)
		runtime.since(t)
		two := record(one)
		if n := runtime.since(t); n["malloc"] > 0 {
			t.Errorf("beside another graph memory was asked for: %v", n)
		}
		os.Setenv("REDSI_TEST_FAIL", "end")
		if g, err := tensor.Record(card, one, step); g != nil || err == nil {
			t.Errorf("it fails, and: %v", err)
		}
		os.Unsetenv("REDSI_TEST_FAIL")
		one.Free()
		if n := runtime.since(t); n["free"] > 0 {
			t.Errorf("memory of a graph was freed that another one has: %v", n)
		}
		two.Replay()
		two.Free()
		if n := blocks(); n > before {
			t.Errorf("after all were freed %d blocks are held, before them %d", n, before)
		}
	})
}
