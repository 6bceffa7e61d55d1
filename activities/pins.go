package activities

import (
	"context"
	"fmt"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/step"
)

// filePinned files a result under the key that its pinned sources give it too,
// so that the next plan finds it, and returns that key. One that was accepted for its key
// is filed under no other: nobody accepted it for that.
func (a *Activities) filePinned(ctx context.Context, spec *step.Spec, task step.Task, res artifacts.Result) (artifacts.Digest, []step.Pin, error) {
	pins, err := spec.Pins(task, res.Outputs)
	if err != nil || len(pins) == 0 {
		return res.Key, nil, err
	}
	if res.Origin.Accepted != "" {
		return res.Key, pins, nil
	}
	known := pinned{pins: map[string]step.Pin{}}
	for _, p := range pins {
		known.pins[p.Source] = p
	}
	settled, err := a.Registry.Resolved(ctx, known, task)
	if err != nil {
		return res.Key, nil, fmt.Errorf("pin the sources of %s: %w", res.Origin.Step, err)
	}
	key, preimage, err := a.Registry.Key(settled)
	if err != nil || key == res.Key {
		return key, pins, err
	}
	res.Key, res.Preimage = key, preimage
	_, _, err = artifacts.Publish(ctx, a.Store, res)
	return key, pins, err
}

// pinned answers Resolve with what one run has just found out, by source.
type pinned struct {
	step.NoSources
	pins map[string]step.Pin
}

func (ps pinned) Pinned(source string) (step.Pin, bool) {
	p, ok := ps.pins[source]
	return p, ok
}

func (ps pinned) LocalFile(_ context.Context, path string) (step.Pin, error) {
	if p, ok := ps.Pinned(path); ok {
		return p, nil
	}
	return step.Pin{}, fmt.Errorf("%s was not read by this step", path)
}
