package compute

import (
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/model/train/fit"
	"github.com/redsi/redsi/step"
)

// logRecorded logs how a GPU made the updates of a training; it logs nothing for CPUs.
func logRecorded(x *step.IO, r fit.Recorded) {
	switch {
	case r.Failed != nil:
		x.Log.Warn("an update could not be recorded: the GPU runs one operation at a time", "why", r.Failed, "recorded", r.Graphs, "replayed", r.Replays)
	case r.Graphs > 0:
		x.Log.Info("updates were recorded and replayed", "recorded", r.Graphs, "replayed", r.Replays, "one operation at a time", r.Single)
	case r.Single > 0 && !r.Possible:
		x.Log.Info("the GPU runs one operation at a time", "why", tensor.Card().GraphsReason)
	}
}
