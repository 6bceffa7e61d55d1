package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/open"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/signature"
	"github.com/redsi/redsi/internal/system/words"
)

// Key checks the user's signing key, nil: none; read is why it could not be read, revoked that it does not count here.
func Key(k *signature.Private, revoked bool, read error) Finding {
	f := Finding{What: "signing key", OK: true, Soft: true}
	switch {
	case read != nil:
		f.OK, f.Soft, f.Note, f.Do = false, false, read.Error(), "set REDSI_SIGNING_KEY to a key made by redsi key new, or unset it"
	case k == nil:
		f.Note = "none; results are not signed"
	default:
		f.Note = k.Public().String()
		if revoked {
			f.OK, f.Do = false, "this key is revoked here, so its signatures do not count: make another one with redsi key new --out FILE"
		}
	}
	return f
}

// Trust says which keys are trusted; err is why the policy could not be made.
func Trust(p artifacts.Policy, err error) Finding {
	f := Finding{What: "trust", OK: true}
	if err == nil {
		err = p.Validate()
	}
	if err != nil {
		f.OK, f.Note, f.Do = false, err.Error(), "correct the results block, --trust or --untrusted"
		return f
	}
	names := lists.Map(p.Ring.Trusted, func(k signature.Public) string { return k.Name })
	f.Note = "results in other stores that no trusted key signed: " + string(cmp.Or(p.Foreign, artifacts.RunUntrusted))
	if len(names) > 0 {
		f.Note = "trusts " + strings.Join(names, ", ") + "; " + f.Note
	}
	if n := len(p.Ring.Revoked); n > 0 {
		f.Note += fmt.Sprintf("; %s revoked", words.Count(n, "key"))
	}
	return f
}

// asksFor is a key without a result anywhere.
var asksFor = artifacts.Sum([]byte("redsi doctor asks whether anybody answers"))

// Others asks each other store for a result that does not exist.
func Others(ctx context.Context, addresses []string, required bool) (found []Finding) {
	for _, address := range addresses {
		f := Finding{What: "from", Soft: !required, Note: open.Shown(address)}
		ctx, cancel := context.WithTimeout(ctx, AnswersWithin)
		began := time.Now()
		o, err := open.Other(address)
		if err == nil {
			_, err = o.Records.Get(ctx, artifacts.ResultName(asksFor))
		}
		cancel()
		if err == nil || errors.Is(err, artifacts.ErrNotExist) {
			f.OK, f.Note = true, fmt.Sprintf("%s answers in %s", f.Note, words.Seconds(time.Since(began)))
		} else {
			f.Note, f.Do = f.Note+": "+err.Error(), "check the address; while it does not answer, each plan says what it may have"
		}
		found = append(found, f)
	}
	return found
}
