package models

import (
	"fmt"
	"os"
	"slices"

	"github.com/redsi/redsi/internal/host/compute"
	"github.com/redsi/redsi/internal/host/rates"
	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/model/driver"
	"github.com/redsi/redsi/internal/model/engine"
	"github.com/redsi/redsi/internal/model/here"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/trial"
	"github.com/redsi/redsi/kinds"
	collection "github.com/redsi/redsi/kinds/internal/collection/compute"
	ids "github.com/redsi/redsi/kinds/internal/ids/compute"
	model "github.com/redsi/redsi/kinds/internal/model/compute"
	"github.com/redsi/redsi/step"
)

// Kinds are all kinds of the paper, with the halves that compute.
func Kinds() []step.Spec {
	return step.WithHalves(kinds.All(), slices.Concat(collection.Halves, ids.Halves, model.Halves)...)
}

// Main answers redsi through the pipes that redsi has opened, and ends when redsi does.
func Main(kinds ...step.Spec) {
	in, out := os.NewFile(3, "from redsi"), os.NewFile(4, "to redsi")
	if _, err := in.Stat(); err != nil {
		fmt.Fprintln(os.Stderr, "redsi-models: redsi starts this program when there is something to compute; it has no other use")
		os.Exit(2)
	}
	calls := engine.Calls()
	calls[rates.Call] = trial.Answer
	err := compute.Serve(compute.Serving{
		Build: revision.Build(), Registry: step.NewRegistry(kinds...),
		Env:     map[string]string{"libtorch": tensor.Version(), "instructions": tensor.CPUCapability()},
		Exact:   tensor.SameForAnyThreads(),
		Facts:   here.Facts,
		Threads: tensor.NumThreads, SetThreads: tensor.SetNumThreads,
		Explain:    here.Explain,
		CardMemory: func() (now, most int64, ok bool) { return tensor.CardMemory(0) },
		Energy:     []usage.Counter{{Of: "cards", Joule: func() (float64, bool) { return driver.Here().Joules() }}},
		Calls:      calls,
	}, in, out)
	if err != nil {
		fmt.Fprintln(os.Stderr, "redsi-models:", err)
		os.Exit(1)
	}
}
