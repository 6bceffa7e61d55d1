package activities

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/compute"
	"github.com/redsi/redsi/internal/host/stepio"
	"github.com/redsi/redsi/step"
)

func (a *Activities) newHost(ctx context.Context, key artifacts.Digest) *stepio.Host {
	return &stepio.Host{Store: a.Store, CacheDir: a.CacheDir, Areas: a.Scratch, Log: a.Log, Telemetry: a.Telemetry, Key: key, Progress: step.Reporter(ctx)}
}

func (a *Activities) checkpoints(key artifacts.Digest) *stepio.Checkpoints {
	return stepio.CheckpointsOf(a.Store, key, a.Log)
}

// elsewhere has a step computed by a process of the second program, on the card that it asks
// for, and says how long it waited for that.
func (a *Activities) elsewhere(ctx context.Context, of admitted, spec *step.Spec, tree map[string]any, t compute.Task, log *slog.Logger, said io.Writer) (o stepio.Outcome, waited time.Duration, err error) {
	name, err := spec.DeviceOf(tree)
	if err != nil {
		return o, 0, step.Permanent(err)
	}
	cards, err := a.Models.Cards(ctx)
	if err != nil {
		return o, 0, err
	}
	card, waited, give, err := a.Cards.Choose(ctx, name, cards.Cards, cards.Why)
	defer give()
	if err != nil {
		return o, waited, err
	}
	if err := artifacts.Have(ctx, a.Store, inputs(tree, t.Parts)); err != nil {
		return o, waited, err
	}
	err = of.within(ctx, func(ctx context.Context) (err error) {
		o, err = a.Models.Run(ctx, t, a.Store, card, log, said)
		return err
	})
	if n := a.Models.Deaths(t.Key); n >= deadliest {
		err = &deadly{err, n}
	}
	return o, waited, err
}

// inputs are the blobs that a task may read.
func inputs(tree map[string]any, parts []artifacts.Result) (all []artifacts.Digest) {
	_, err := step.MapInputs(tree, func(_ string, in step.Input) (step.Input, error) {
		if in.Artifact != nil {
			all = append(all, in.Artifact.Blobs()...)
		}
		return in, nil
	})
	if err != nil {
		panic(err) // of the function above
	}
	for _, p := range parts {
		for _, art := range p.Outputs {
			all = append(all, art.Blobs()...)
		}
	}
	return all
}

// lacksProgram says why this worker has not the program that a step needs; "" if it has.
func (a *Activities) lacksProgram(task step.Task) string {
	if a.Lacks == nil {
		return ""
	}
	spec := a.Registry.Lookup(task.Kind)
	tree, err := task.Tree()
	if spec == nil || err != nil {
		return "" // which is said in its place
	}
	if elsewhere, err := spec.Elsewhere(tree); err != nil || !elsewhere {
		return ""
	}
	return a.Lacks.Error()
}
