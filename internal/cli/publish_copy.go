package cli

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/corpora/fetch"
	"github.com/redsi/redsi/internal/pipeline/plan"
)

// addressesOf says where readers can fetch the blobs that steps of a plan download: by https,
// with a digest, from an address without a secret.
func addressesOf(pl *plan.Plan) (map[artifacts.Digest]string, error) {
	sources, err := pinnedSources(pl)
	if err != nil {
		return nil, err
	}
	found := map[artifacts.Digest]string{}
	for _, s := range sources {
		d, err := artifacts.ParseHex(s.SHA256)
		if err != nil {
			continue
		}
		src, err := fetch.ParseSource(s.Source)
		if err == nil && public(src.URL) {
			found[d] = src.URL
		}
	}
	return found, nil
}

// public reports whether an address may be published. Plain http is for servers on the same
// machine.
func public(address string) bool {
	u, err := url.Parse(address)
	if err != nil || address == "" || fetch.Redact(address) != address {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && ip != nil && ip.IsLoopback()
}

// leftOutBlobs are a publication's blobs: what is left out counts as present.
type leftOutBlobs struct {
	artifacts.Blobs
	out map[artifacts.Digest]bool
}

func (b leftOutBlobs) Missing(ctx context.Context, ds []artifacts.Digest) ([]artifacts.Digest, error) {
	missing, err := b.Blobs.Missing(ctx, ds)
	return slices.DeleteFunc(missing, func(d artifacts.Digest) bool { return b.out[d] }), err
}

// copyOut writes blobs, results and their signatures.
func (a *app) copyOut(ctx context.Context, from, to artifacts.Store, pub *publication) error {
	k, err := a.signer()
	if err != nil {
		return err
	}
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
	m := a.newMeter("written", 0)
	t := &artifacts.Transfer{From: from, To: partly, DryRun: pub.DryRun, Sent: m.add}
	err = t.Results(ctx, pub.keys)
	m.close()
	pub.Done = t.Done()
	if err != nil {
		return fmt.Errorf("%w; the same command continues from there", err)
	}
	if len(pub.Done.Differs) > 0 {
		return fmt.Errorf("%s has different outputs of %s than this store, such as for key %s, and readers would get those: publish into a new folder", pub.Folder, view.Count(len(pub.Done.Differs), "step"), pub.Done.Differs[0].Hex())
	}
	if k == nil || pub.DryRun {
		return nil
	}
	pub.Signer = k.Public().String()
	for _, key := range pub.keys {
		if _, err := artifacts.SignResult(ctx, to, key, k); err != nil {
			return err
		}
		pub.Signed++
	}
	return nil
}
