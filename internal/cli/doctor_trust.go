package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/artifacts/open"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/system/signature"
)

// checkKey checks the user's signing key.
func (a *app) checkKey() finding {
	f := finding{What: "signing key", OK: true, Soft: true}
	k, err := a.signer()
	switch {
	case err != nil:
		f.OK, f.Soft, f.Note, f.Do = false, false, err.Error(), "set REDSI_SIGNING_KEY to a key made by redsi key new, or unset it"
	case k == nil:
		f.Note = "none; results are not signed"
	default:
		f.Note = k.Public().String()
		if r, err := a.ring(); err == nil && r.Of(k.Public()) == signature.Revoked {
			f.OK, f.Do = false, "this key is revoked here, so its signatures do not count: make another one with redsi key new --out FILE"
		}
	}
	return f
}

// readResults takes the pipeline's results block, if there is a pipeline that can be read:
// some verbs also work without one.
func (a *app) readResults(ctx context.Context) {
	file := cmp.Or(a.File, env("REDSI_FILE", "pipelines.hcl"))
	sources, err := pipeline.Read(file)
	if err != nil {
		return
	}
	g, err := a.given()
	if err != nil {
		return
	}
	mods := a.reader(file)
	p, ds := pipeline.Load(sources, a.options(ctx, g, mods))
	if !ds.HasErrors() {
		a.whose = p.Results
	}
}

// checkTrust says which keys the pipeline trusts.
func (a *app) checkTrust() finding {
	f := finding{What: "trust", OK: true}
	p, err := a.policy()
	if err == nil {
		err = p.Validate()
	}
	if err != nil {
		f.OK, f.Note, f.Do = false, err.Error(), "correct the results block, --trust or --untrusted"
		return f
	}
	var names []string
	for _, k := range p.Ring.Trusted {
		names = append(names, k.Name)
	}
	f.Note = "results in other stores that no trusted key signed: " + string(cmp.Or(p.Foreign, artifacts.RunUntrusted))
	if len(names) > 0 {
		f.Note = "trusts " + strings.Join(names, ", ") + "; " + f.Note
	}
	if n := len(p.Ring.Revoked); n > 0 {
		f.Note += fmt.Sprintf("; %s revoked", view.Count(n, "key"))
	}
	return f
}

// asksFor is a key without a result anywhere.
var asksFor = artifacts.Sum([]byte("redsi doctor asks whether anybody answers"))

// checkOthers asks each other store for a result that does not exist.
func (a *app) checkOthers(ctx context.Context) (found []finding) {
	for _, address := range a.addresses() {
		f := finding{What: "from", Soft: !a.requiresFrom(), Note: open.Shown(address)}
		ctx, cancel := context.WithTimeout(ctx, answersWithin)
		began := time.Now()
		o, err := open.Other(ctx, address, open.Options{})
		if err == nil {
			_, err = o.Store.Records.Get(ctx, artifacts.ResultName(asksFor))
		}
		cancel()
		if err == nil || errors.Is(err, artifacts.ErrNotExist) {
			f.OK, f.Note = true, fmt.Sprintf("%s answers in %s", f.Note, view.Seconds(time.Since(began)))
		} else {
			f.Note, f.Do = f.Note+": "+err.Error(), "check the address; while it does not answer, each plan says what it may have"
		}
		found = append(found, f)
	}
	return found
}
