package general

import (
	"testing"

	"github.com/redsi/redsi/step"
)

// TestTell: a program is told what its step was given, unless env says otherwise; a step
// that asked for nothing is told nothing.
func TestTell(t *testing.T) {
	env := map[string]string{"OMP_NUM_THREADS": "1"}
	if tell(env, step.Granted{}); len(env) != 1 {
		t.Errorf("without a request: %v", env)
	}
	tell(env, step.Granted{CPUs: 4, Memory: 12e9, Cards: "0,1"})
	for name, want := range map[string]string{"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "4", "REDSI_CPUS": "4", "REDSI_MEMORY": "12000000000", "CUDA_VISIBLE_DEVICES": "0,1"} {
		if env[name] != want {
			t.Errorf("%s is %q, want %q", name, env[name], want)
		}
	}
}
