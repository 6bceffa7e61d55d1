package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/redsi/redsi/artifacts"
)

// checkpoints files a step's intermediate state as "checkpoints/<key>/<n>":
// blobs first, then the record, so that any worker of any run of the same key
// resumes at the newest one.
type checkpoints struct {
	records artifacts.Records
	blobs   artifacts.Blobs
	key     artifacts.Digest
}

func checkpointPrefix(key artifacts.Digest) string { return "checkpoints/" + key.Hex() + "/" }

// Save files checkpoint n and removes the record of all but it and the one
// before, which is kept in case the new one's blobs are lost.
func (c *checkpoints) Save(ctx context.Context, n int64, files map[string]artifacts.File) error {
	b, err := json.Marshal(files)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s%016d", checkpointPrefix(c.key), n)
	if err := c.records.Put(ctx, name, b); err != nil {
		return err
	}
	names, err := recordNames(ctx, c.records, checkpointPrefix(c.key))
	if err != nil {
		return err
	}
	for i := 0; i < len(names)-2; i++ {
		if err := c.records.Delete(ctx, names[i]); err != nil {
			return err
		}
	}
	return nil
}

// Latest returns the newest checkpoint whose blobs are all there.
func (c *checkpoints) Latest(ctx context.Context) (int64, map[string]artifacts.File, bool, error) {
	names, err := recordNames(ctx, c.records, checkpointPrefix(c.key))
	if err != nil {
		return 0, nil, false, err
	}
	for i := len(names) - 1; i >= 0; i-- {
		n, files, ok, err := c.read(ctx, names[i])
		if ok || err != nil {
			return n, files, ok, err
		}
	}
	return 0, nil, false, nil
}

func (c *checkpoints) read(ctx context.Context, name string) (n int64, files map[string]artifacts.File, ok bool, err error) {
	b, err := c.records.Get(ctx, name)
	if errors.Is(err, artifacts.ErrNotExist) {
		return 0, nil, false, nil
	}
	if err != nil {
		return 0, nil, false, err
	}
	if err := json.Unmarshal(b, &files); err != nil {
		return 0, nil, false, nil // a damaged record is no checkpoint
	}
	var blobs []artifacts.Digest
	for _, f := range files {
		blobs = append(blobs, f.Digest)
	}
	missing, err := c.blobs.Missing(ctx, blobs)
	if err != nil || len(missing) > 0 {
		return 0, nil, false, err
	}
	if _, err := fmt.Sscanf(name[len(checkpointPrefix(c.key)):], "%d", &n); err != nil {
		return 0, nil, false, nil
	}
	return n, files, true, nil
}

func clearCheckpoints(ctx context.Context, records artifacts.Records, key artifacts.Digest) error {
	names, err := recordNames(ctx, records, checkpointPrefix(key))
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := records.Delete(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// recordNames lists names first: a store is not changed while it is listed.
func recordNames(ctx context.Context, records artifacts.Records, prefix string) ([]string, error) {
	var names []string
	for r, err := range records.List(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		names = append(names, r.Name)
	}
	return names, nil
}
