package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/plan"
)

// belief is what a preview found out about results that exist and are not used, and about
// results that are used although no trusted key signed them.
type belief struct {
	passed   map[artifacts.Digest][]artifacts.Passed // of keys without a result
	unsigned map[string]int                          // results in use, by store
	compares bool                                    // with results made here
}

func (a *app) newBelief() *belief {
	p, err := a.policy()
	return &belief{passed: map[artifacts.Digest][]artifacts.Passed{}, unsigned: map[string]int{}, compares: err == nil && p.Foreign == artifacts.VerifyUntrusted}
}

// lookup is artifacts.LookupMany that records what it passes over.
func (b *belief) lookup(ctx context.Context, store artifacts.Store, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
	entries, err := artifacts.Inspect(ctx, store, keys)
	if err != nil {
		return nil, err
	}
	hits := make(map[artifacts.Digest]*artifacts.Result, len(entries))
	for key, e := range entries {
		switch {
		case !e.Hit():
			if len(e.Passed) > 0 {
				b.passed[key] = e.Passed
			}
			continue
		case e.Result.From != "" && e.Result.Signer == "":
			b.unsigned[e.Result.From]++
		}
		hits[key] = e.Result
	}
	return hits, nil
}

// explain adds, to the reasons why steps must run, results of them that are not used.
func (b *belief) explain(v *plan.Preview, why map[int]string) {
	for i, it := range v.Items {
		if it.Outcome != plan.Run {
			continue
		}
		var words []string
		for _, p := range b.passed[it.Key] {
			words = append(words, p.String())
		}
		if len(words) > 0 {
			why[i] = strings.Join(append(words, why[i]), "; ")
		}
	}
}

// kind is what passed-over results are grouped by: who, where and why.
type passedKind struct {
	from   string
	reason artifacts.Reason
	signer string
}

// summary counts what was passed over, for each store, signer and reason, and says what to
// do about it.
func (b *belief) summary() (out []view.Passed) {
	if b == nil {
		return nil
	}
	counted := map[passedKind]*view.Passed{}
	for _, key := range slices.SortedFunc(maps.Keys(b.passed), artifacts.Digest.Compare) {
		for _, p := range b.passed[key] {
			if p.Reason == artifacts.NoAnswer { // reported as a store that is down
				continue
			}
			k := passedKind{from: p.From, reason: p.Reason}
			if !p.Signer.IsZero() {
				k.signer = p.Signer.String()
			}
			if counted[k] == nil {
				counted[k] = &view.Passed{From: p.From, Reason: string(p.Reason), Signer: k.signer, Text: p.String(), Do: b.whatToDo(p)}
			}
			counted[k].Steps++
		}
	}
	for _, x := range counted {
		out = append(out, *x)
	}
	slices.SortFunc(out, func(x, y view.Passed) int {
		return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(y.Steps, x.Steps), cmp.Compare(x.Reason, y.Reason), cmp.Compare(x.Signer, y.Signer))
	})
	return out
}

// whatToDo says how a result that is passed over could be used; "" if there is no way.
func (b *belief) whatToDo(p artifacts.Passed) string {
	if b.compares && p.From != "" && (p.Reason == artifacts.Unsigned || p.Reason == artifacts.UnknownKey) {
		return "the step runs here, and the run compares the results at its end"
	}
	where := "untrusted"
	if p.From == "" {
		where = "shared"
	}
	switch p.Reason {
	case artifacts.Unsigned:
		if p.From != "" {
			return "--untrusted verify runs the steps here and compares, --untrusted use accepts it"
		}
		return fmt.Sprintf("key sign signs it, %s = \"use\" in the results block accepts it", where)
	case artifacts.UnknownKey:
		return fmt.Sprintf("if you know whose key this is: results { trust = [%q] }", p.Signer.String())
	}
	return ""
}
