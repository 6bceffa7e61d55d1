//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// short are the rounds that every test of the tree does: a fault, and the seed
// from which its moment is drawn, nearly all of one shape, so that few undisturbed
// runs are what they are compared with. In one the store is away for ten seconds, and
// the run is interrupted meanwhile: the next one finds the same workers. They need no
// root. `make chaos` does all.
var short = []struct {
	fault string
	seed  uint64
}{
	{"run: kill -9", 4},
	{"run: Ctrl-C", 8},
	{"worker: kill -9", 2},
	{"cluster's MinIO: kill -9", 1770},
	{"server: kill -9", 6},
}

// TestShort asserts outcomes, and times only by bounds of a minute and more, which grow with the machine's load.
func TestShort(t *testing.T) {
	program := filepath.Join(t.TempDir(), "redsi")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/redsi").CombinedOutput(); err != nil {
		t.Fatalf("build redsi: %v\n%s", err, out)
	}
	h := testkit.Value(newHarness(program, t.TempDir()))(t)
	for i, c := range short {
		named := faultNamed(c.fault)
		if named == nil {
			t.Fatalf("there is no fault %q", c.fault)
		}
		f := *named
		f.shape = nil // one of the usual
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			res := testkit.Value(h.round(t.Context(), c.seed, i, &f))(t)
			for _, v := range res.Violations {
				t.Error(v)
			}
			if t.Failed() {
				said, _ := filepath.Glob(filepath.Join(h.work, fmt.Sprintf("round-%d-*", i), "said.txt"))
				for _, path := range said {
					b, err := os.ReadFile(path)
					t.Logf("%s, %v", b, err)
				}
			}
			t.Logf("%s, %+v: %.1f s, recovered after %.1f s by %s, silent for %.1f s at most, bounds times %.1f",
				res.Shape, res.Choices, res.WallS, res.RecoveredS, res.By, res.SilenceS, res.Factor)
		})
	}
}

// TestDraw makes sure that a seed gives the same rounds again, and that a cycle has every fault.
func TestDraw(t *testing.T) {
	h := &harness{mounts: true}
	seen := map[string]bool{}
	for n := range 200 {
		f, again := h.faultOf(11, n), h.faultOf(11, n)
		if f != again {
			t.Fatalf("round %d is %q, then %q", n, f.name, again.name)
		}
		seen[f.name] = true
		s := shapeOf(rand.New(rand.NewPCG(11, uint64(n))))
		a, b := draw(f, s, rand.New(rand.NewPCG(1, uint64(n)))), draw(f, s, rand.New(rand.NewPCG(1, uint64(n))))
		if !slices.Equal(a, b) {
			t.Fatalf("%q is drawn as %+v, then as %+v", f.name, a, b)
		}
		for _, c := range a {
			if g := faultNamed(c.Fault); g == nil || g.place != f.place {
				t.Errorf("%q is followed by %q, which is of another place", f.name, c.Fault)
			}
		}
	}
	for _, f := range faults {
		if !seen[f.name] {
			t.Errorf("no round of 200 has the fault %q", f.name)
		}
	}
	for seed := range uint64(20) {
		away := 0
		for n := range 100 {
			if h.faultOf(seed, n).away {
				away++
			}
		}
		if away < 40 {
			t.Errorf("in %d rounds of 100 of seed %d the store is away, not in 40", away, seed)
		}
	}
	if order := h.cycle(11, 1); len(order) < 40 || slices.ContainsFunc(order, func(f *fault) bool { return strings.HasPrefix(f.name, "2,000") }) {
		t.Errorf("a cycle has %d faults", len(order))
	}
}

// TestMarkOf names a step's mark by its address.
func TestMarkOf(t *testing.T) {
	for address, want := range map[string]string{
		`step.command.fast["n3"]`: "fast-n3",
		`step.command.all`:        "all",
		`step.extract.train`:      "",
	} {
		testkit.Is(t, markOf(address), want, address)
	}
}
