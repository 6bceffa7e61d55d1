//go:build linux

package cardtest

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"sync"
	"testing"

	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/tensor/fakecard"
	"github.com/redsi/redsi/internal/system/testkit"
)

var (
	kind   = flag.String("card", "fake", "what the tests run on: fake, a card of software, or real")
	report = flag.String("report", "", "`FILE` that gets what was compared, as JSON")
)

// comparison is a line of the report.
type comparison struct {
	Name       string  `json:"name"`
	Difference float64 `json:"difference"` // the largest, by the largest value
	Tolerance  float64 `json:"tolerance"`
}

var compared struct {
	sync.Mutex
	lines []comparison
}

func TestMain(m *testing.M) {
	flag.Parse()
	if err := begin(*kind); err != nil {
		fmt.Fprintln(os.Stderr, "cardtest:", err)
		os.Exit(2)
	}
	code := m.Run()
	if *report != "" {
		if err := write(*report, code == 0); err != nil {
			fmt.Fprintln(os.Stderr, "cardtest:", err)
			os.Exit(2)
		}
	}
	os.Exit(code)
}

func begin(kind string) error {
	switch kind {
	case "fake":
		tensor.SetNumThreads(1) // toys: threads that wait for each other cost more than they win
		return fakecard.Install()
	case "real":
		if tensor.CUDADevices() == 0 {
			return errors.New("libtorch sees no card; `redsi doctor` says what is missing, REDSI_CUDA=FOLDER names where a Python's packages have a torch with CUDA")
		}
		if c := tensor.Card(); !c.Loaded || len(c.Versions) == 0 || c.Versions[0] != "torch "+tensor.Version() {
			return fmt.Errorf("what was loaded is not torch %s: %+v", tensor.Version(), c)
		}
		return nil
	}
	return fmt.Errorf("-card=%s; fake and real are known", kind)
}

func write(path string, passed bool) error {
	compared.Lock()
	defer compared.Unlock()
	data, err := json.MarshalIndent(map[string]any{
		"card": *kind, "libtorch": tensor.Version(), "cards": tensor.CUDADevices(), "passed": passed, "comparisons": compared.lines,
	}, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}

var card = tensor.CUDA(0)

// near compares numbers of the card with the CPU's, by the largest of those.
func near(t *testing.T, name string, got, want []float32, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d numbers, want %d", name, len(got), len(want))
		return
	}
	largest, worst := 1e-30, 0.0
	for i := range want {
		w, g := float64(want[i]), float64(got[i])
		largest = max(largest, math.Abs(w))
		if d := math.Abs(w - g); !(d <= worst) {
			worst = d
		}
	}
	line := comparison{name, worst / largest, tolerance}
	compared.Lock()
	compared.lines = append(compared.lines, line)
	compared.Unlock()
	if !(line.Difference <= tolerance) {
		t.Errorf("%s: differs by %.3g of the largest value, %.3g allowed", name, line.Difference, tolerance)
	}
}

func run(t *testing.T, f func(*tensor.Scope)) {
	t.Helper()
	before := tensor.Live()
	testkit.None(t, tensor.Run(f))
	if n := tensor.Live(); n != before {
		t.Fatalf("%d tensors live, %d before", n, before)
	}
}
