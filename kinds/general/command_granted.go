package general

import (
	"strconv"

	"github.com/redsi/redsi/step"
)

// threadVariables say to programs and libraries how many threads to start.
var threadVariables = []string{"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
	"NUMBA_NUM_THREADS", "RAYON_NUM_THREADS", "POLARS_MAX_THREADS", "JULIA_NUM_THREADS", "LOKY_MAX_CPU_COUNT", "GOMAXPROCS", "REDSI_CPUS"}

// tell puts what a step was given of the machine into the environment of its program, but for
// what env sets already.
func tell(env map[string]string, given step.Granted) {
	say := func(name, value string) {
		if _, set := env[name]; !set {
			env[name] = value
		}
	}
	if given.CPUs > 0 {
		for _, name := range threadVariables {
			say(name, strconv.Itoa(given.CPUs))
		}
	}
	if given.Memory > 0 {
		say("REDSI_MEMORY", strconv.FormatInt(given.Memory, 10))
	}
	if given.Cards != "" {
		say("CUDA_VISIBLE_DEVICES", given.Cards)
	}
}
