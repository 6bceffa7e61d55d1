package metrics

import (
	"math"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
)

// TestAgreement has the values of repro_eval, rbo and scipy (tools/golden/agree.py).
func TestAgreement(t *testing.T) {
	var golden struct {
		Pairs []struct {
			A, B      []string
			RBO       float64
			RBOExt    float64  `json:"rbo_ext"`
			RBONorm   *float64 `json:"rbo_normalized"`
			Tau       *float64
			Overlap10 float64 `json:"overlap_10"`
		}
		RMSE  float64
		RMSEA []float64 `json:"rmse_a"`
		RMSEB []float64 `json:"rmse_b"`
	}
	goldens.JSON(t, "testdata/agree.json", &golden)
	near := func(what string, i int, got float64, want *float64) {
		if want == nil {
			return
		}
		if !(math.Abs(got-*want) < 1e-12) {
			t.Errorf("pair %d: %s is %v, want %v", i, what, got, *want)
		}
	}
	for i, p := range golden.Pairs {
		g := AgreementDepths{Depth: 50, P: 0.9, Overlap: []int{10}}.Of(p.A, p.B)
		near("RBO", i, g.RBO, &p.RBO)
		near("extrapolated RBO", i, g.RBOExt, &p.RBOExt)
		near("normalized RBO", i, g.RBONorm, p.RBONorm)
		near("tau", i, g.Tau, p.Tau)
		near("overlap", i, g.Overlap[0], &p.Overlap10)
		if p.Tau == nil && !math.IsNaN(g.Tau) {
			t.Errorf("pair %d: tau of fewer than two documents is %v", i, g.Tau)
		}
	}
	if len(golden.Pairs) < 40 {
		t.Errorf("%d pairs", len(golden.Pairs))
	}
	near("RMSE", 0, RMSE(golden.RMSEA, golden.RMSEB), &golden.RMSE)
}
