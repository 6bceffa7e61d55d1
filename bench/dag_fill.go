package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/redsi/redsi/artifacts"
	artifactsdir "github.com/redsi/redsi/internal/stores/dir"
)

// fillDAG publishes a result for each step of the pipeline in a folder, as running it
// would, and the record of a run. It syncs each file: a TMPDIR in memory makes it fast.
func fillDAG(args []string) (sample, error) {
	return sample{}, fill(args[0], args[1])
}

func fill(dir, program string) error {
	saved := filepath.Join(dir, "saved.plan")
	if _, err := runAll(dir, program, []string{"plan", "--out", saved, "--log-level", "warn"}); err != nil {
		return err
	}
	b, err := os.ReadFile(saved)
	if err != nil {
		return err
	}
	var plan struct {
		Steps []struct {
			Address  string
			Key      artifacts.Digest
			Preimage json.RawMessage
		}
	}
	if err := json.Unmarshal(b, &plan); err != nil {
		return err
	}
	store, err := artifactsdir.Open(filepath.Join(dir, ".redsi", "store"))
	if err != nil {
		return err
	}
	ctx := context.Background()
	empty, err := artifacts.PutBytes(ctx, store.Blobs, nil)
	if err != nil {
		return err
	}
	const run = "20260101T000000Z-00000000"
	type runStep struct {
		Address string           `json:"address"`
		Key     artifacts.Digest `json:"key"`
		Outcome string           `json:"outcome"`
		TookS   float64          `json:"took_s"`
	}
	steps := make([]runStep, len(plan.Steps))
	var g errgroup.Group
	g.SetLimit(8)
	for i, s := range plan.Steps {
		steps[i] = runStep{s.Address, s.Key, "ran", 0.02}
		g.Go(func() error {
			text := fmt.Appendf(nil, "%d\n", i)
			d, err := artifacts.PutBytes(ctx, store.Blobs, text)
			if err != nil {
				return err
			}
			out, err := artifacts.Tree("files", []artifacts.File{{Name: "x", Digest: d, Size: int64(len(text))}})
			if err != nil {
				return err
			}
			_, _, err = artifacts.Publish(ctx, artifacts.Alone(store), artifacts.Result{Key: s.Key, Preimage: s.Preimage,
				Outputs: map[string]artifacts.Artifact{"out": out, "stdout": {Type: "file", Digest: empty}},
				Took:    20 * time.Millisecond, Finished: time.Unix(1.8e9, 0).UTC(), Counts: map[string]int64{"files": 1},
				Env:    map[string]string{"devices": "none", "go": "go1.26", "host": "bench", "libtorch": "none", "platform": "linux/amd64, 2 processors", "revision": "unknown"},
				Origin: artifacts.Origin{RunID: run, WorkflowID: "reproduce-" + run, Step: s.Address}})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{"steps": steps})
	if err != nil {
		return err
	}
	d, _, err := store.Blobs.Put(ctx, bytes.NewReader(body))
	if err != nil {
		return err
	}
	record, err := json.Marshal(map[string]any{"format": "redsi-run/2", "run_id": run, "pipeline": "pipelines.hcl", "counts": map[string]int{"ran": len(steps)}, "body": d})
	return errors.Join(err, store.Records.Put(ctx, artifacts.RunsPrefix+run, record))
}
