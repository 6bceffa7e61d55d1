//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
)

// rival is the mark of the step that two publish at once.
const rival = "slow-n0"

// rivals has two runs that share nothing but the store publish a result of one key, over one
// that is damaged or has lost a blob, at the same moment and with other outputs each: their
// leases are taken away, the step ends when both are at it, and what they write under the key
// meets on the way to the store. One of them must win, and whatever else there was must be
// recorded.
func rivals(r *round) error {
	ctx := context.Background()
	first, err := r.run()
	if err != nil {
		return err
	}
	if !first.wait(r.slack(recovery)) || first.code != 0 {
		return fmt.Errorf("a run that nobody hurts does not succeed: %s", first.out.tail(6))
	}
	store, ok := r.store(ctx)
	if !ok {
		return fmt.Errorf("the store does not open")
	}
	old, err := resultOf(ctx, store, rival)
	incomplete := r.rng.IntN(2) == 0
	want := 1 // results that are recorded besides the winner
	switch {
	case err != nil:
	case incomplete:
		want++
		for _, f := range old.Outputs["out"].Files {
			if f.Name == "text" { // of this step alone
				err = store.Blobs.Delete(ctx, f.Digest)
			}
		}
	default:
		err = store.Records.Put(ctx, artifacts.ResultName(old.Key), []byte(`{"format":"redsi.result/1"}`))
	}
	if err == nil {
		err = os.WriteFile(r.path("marks", "rivals."+rival), nil, 0o644)
	}
	r.proxy.pair("/" + artifacts.RecordPath(artifacts.ResultName(old.Key)))
	for i := 0; i < 2 && err == nil; i++ { // each with a server of its own
		var p *process
		p, err = r.redsi(fmt.Sprintf("rival %d", i), append([]string{"run", "--state", fmt.Sprintf("worker-rival-%d", i), "--out", fmt.Sprintf("results-%d", i)}, r.storeArgs(false)...)...)
		if err == nil {
			r.runs = append(r.runs, p)
		}
	}
	if err != nil {
		return err
	}
	limit := r.slack(recovery)
	if !eventually(limit, func() bool {
		for lease, err := range store.Leases.List(ctx, "") {
			if err == nil {
				_ = store.Leases.Delete(ctx, lease.Name)
			}
		}
		return marks(r.path("marks"))[rival] >= 3
	}) {
		r.violate("two runs are not at %s after %.0f s", rival, limit.Seconds())
	}
	r.gone = time.Now()
	for _, p := range r.runs[1:] {
		if !p.wait(limit-time.Since(r.gone)) || p.code != 0 {
			r.violate("%s does not end well: %s", p.name, p.out.tail(6))
		}
	}
	r.res.RecoveredS = time.Since(r.gone).Seconds()
	won, err := artifacts.Lookup(ctx, store, old.Key)
	if err != nil || won == nil || won.OutputsDigest() == old.OutputsDigest() {
		return fmt.Errorf("in the end the result of %s is %+v, %v", rival, won, err)
	}
	var lost []string
	for info, err := range store.Records.List(ctx, "nondeterminism/"+old.Key.Hex()+"/") {
		if err != nil || strings.HasSuffix(info.Name, won.OutputsDigest().Hex()) {
			r.violate("the winner is recorded as what lost: %s, %v", info.Name, err)
		}
		lost = append(lost, info.Name)
	}
	if len(lost) != want {
		r.violate("%d results that lost are recorded, not %d: %q", len(lost), want, lost)
	}
	r.res.By = "itself"
	r.note("incomplete: %v, recorded: %d", incomplete, len(lost))
	return nil
}

// resultOf finds the result of the step that leaves a mark.
func resultOf(ctx context.Context, store artifacts.Store, mark string) (found artifacts.Result, err error) {
	err = artifacts.EachResult(ctx, store, func(x *artifacts.Result) bool {
		if markOf(x.Origin.Step) == mark {
			found = *x
		}
		return found.Key.IsZero()
	})
	if err == nil && found.Key.IsZero() {
		err = fmt.Errorf("%s has no result", mark)
	}
	return found, err
}
