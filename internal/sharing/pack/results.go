package pack

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/sharing/archive"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/signature"
)

// believed reports whether keys of the ring signed all results.
func believed(ctx context.Context, r *archive.Reader, ring signature.Ring) (bool, error) {
	store := r.Reader()
	keys, err := artifacts.ResultKeys(ctx, store.Records)
	if err != nil {
		return false, err
	}
	for _, key := range keys {
		all, err := artifacts.Signatures(ctx, store.Records, key)
		if err != nil {
			return false, err
		}
		if !slices.ContainsFunc(all, func(s artifacts.Signed) bool { return s.Err == nil && ring.Of(s.By) == signature.Trusted }) {
			return false, nil
		}
	}
	return len(keys) > 0, nil
}

// admit refuses to mix results that no trusted key signed with results of other origin.
func (x *Imported) admit(ctx context.Context, store artifacts.Store, o Incoming) error {
	if x.Trusted || x.Believed || o.Unsigned {
		return nil
	}
	for _, err := range store.Records.List(ctx, artifacts.ResultsPrefix) {
		if err != nil {
			return err
		}
		who := "not signed"
		if x.Signer != "" {
			who = "signed by " + x.Signer + ", whose key you do not trust"
		}
		return fault.Input(fmt.Errorf("%s has results, and this archive is %s: leave out --store, so that it gets a store of its own, name a trusted key with --trust KEY, or accept it with --untrusted use", store.URL, who))
	}
	return nil
}

// takeResults copies results, blobs first, and pins them: no run of this store names them.
func (x *Imported) takeResults(ctx context.Context, r *archive.Reader, store artifacts.Store, meter Meter) (err error) {
	from := r.Reader()
	keys, err := artifacts.ResultKeys(ctx, from.Records)
	if err != nil {
		return err
	}
	t := &artifacts.Transfer{From: from, To: store}
	name := "archive-" + r.Manifest.Records.Digest.Hex()[:16]
	release, err := t.Hold(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, release()) }()
	add, over := meter(r.Manifest.Bytes)
	t.Sent = add
	err = t.Results(ctx, keys)
	over()
	if err != nil {
		return err
	}
	done := t.Done()
	x.Results, x.There, x.Blobs, x.Bytes = done.Results, done.There, done.Blobs, done.Bytes
	x.Differs = append(x.Differs, lists.Map(done.Differs, artifacts.Digest.String)...)
	if len(r.Manifest.LeftOut) == 0 {
		for d, why := range done.Lost {
			x.Damaged = append(x.Damaged, d.String()+": "+why)
		}
		slices.Sort(x.Damaged)
	}
	keys = slices.DeleteFunc(keys, func(key artifacts.Digest) bool { _, gone := done.Lost[key]; return gone })
	return artifacts.PutPin(ctx, store, artifacts.Pin{Name: name, Of: "an imported archive", Since: time.Now().UTC()}, keys)
}
