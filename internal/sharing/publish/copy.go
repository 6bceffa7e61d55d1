package publish

import (
	"context"
	"fmt"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/words"
)

// leftOutBlobs are a publication's blobs: what is left out counts as present.
type leftOutBlobs struct {
	artifacts.Blobs
	out map[artifacts.Digest]bool
}

func (b leftOutBlobs) Missing(ctx context.Context, ds []artifacts.Digest) ([]artifacts.Digest, error) {
	missing, err := b.Blobs.Missing(ctx, ds)
	return slices.DeleteFunc(missing, func(d artifacts.Digest) bool { return b.out[d] }), err
}

// copy writes blobs, results and their signatures into the folder's store, whose blobs come
// from another; sent is told of bytes as they are written.
func (pub *Publication) copy(ctx context.Context, from, to artifacts.Store, sent func(n int64)) error {
	for _, l := range pub.Left {
		if l.URL == "" || pub.DryRun {
			continue
		}
		if err := artifacts.PutElsewhere(ctx, to, artifacts.Elsewhere{Digest: l.Digest, Size: l.Size, URL: l.URL}); err != nil {
			return err
		}
	}
	partly := to
	partly.Blobs = leftOutBlobs{to.Blobs, pub.out}
	t := &artifacts.Transfer{From: from, To: partly, DryRun: pub.DryRun, Sent: sent}
	err := t.Results(ctx, pub.keys)
	pub.Done = t.Done()
	if err != nil {
		return fmt.Errorf("%w; the same command continues from there", err)
	}
	if n := len(pub.Done.Differs); n > 0 {
		return fmt.Errorf("%s has different outputs of %s than this store, such as for key %s, and readers would get those: publish into a new folder", pub.Folder, words.Count(n, "step"), pub.Done.Differs[0].Hex())
	}
	return nil
}

// writeIndex lists what is published for readers of a static host, which lists nothing.
func (pub *Publication) writeIndex(ctx context.Context, to artifacts.Store, v *plan.Preview) error {
	if err := artifacts.ListAbout(ctx, to, pub.keys); err != nil {
		return err
	}
	return pub.index.write(pub.Folder, v, pub.publishes)
}
