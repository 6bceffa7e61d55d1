package impact

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

type config struct {
	Text  string      `hcl:"text" help:"text"`
	After step.Inputs `hcl:"after,optional" help:"inputs"`
}

func registry(version int) *step.Registry {
	kind := func(name string, version int, block bool) step.Spec {
		return step.Define(step.Kind[config]{Name: name, Version: version, Doc: "Text.", Block: block,
			Outputs: []step.Output{{Name: "out", Type: "text", Help: "text"}},
			Run:     func(context.Context, *step.IO, config) error { return nil }})
	}
	return step.NewRegistry(kind("text", version, false), kind("render_table", 1, true))
}

// store is results by key, as a lookup finds them, and the newest of each step.
type store struct {
	results map[artifacts.Digest]*artifacts.Result
	newest  map[string][]byte
}

func newStore() *store {
	return &store{map[artifacts.Digest]*artifacts.Result{}, map[string][]byte{}}
}

func (s *store) preview(t *testing.T, version int, src string) *plan.Preview {
	t.Helper()
	reg := registry(version)
	p, ds := pipeline.Load(map[string][]byte{"p.hcl": []byte(src)}, pipeline.Options{Registry: reg})
	testkit.None(t, ds.Err())
	pl, err := plan.Build("p.hcl", p, reg, nil)
	testkit.None(t, err)
	v, err := pl.Follow(t.Context(), reg, func(_ context.Context, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
		return s.results, nil
	}, plan.KeepAll, nil)
	testkit.None(t, err)
	return v
}

// run leaves a result of every step, of an hour each: its text up to a "#".
func (s *store) run(t *testing.T, version int, src string) {
	t.Helper()
	for {
		v := s.preview(t, version, src)
		if v.Done() {
			return
		}
		for i, it := range v.Items {
			if it.Outcome != plan.Run {
				continue
			}
			tree, err := it.Task().Tree()
			testkit.None(t, err)
			text, _, _ := strings.Cut(tree["text"].(string), "#")
			s.results[it.Key] = &artifacts.Result{Key: it.Key, Preimage: it.Preimage, Took: time.Hour,
				Outputs: map[string]artifacts.Artifact{"out": {Type: "text", Digest: artifacts.Sum([]byte(text)), Size: 1000}}}
			s.newest[v.Plan.Steps[i].Address] = it.Preimage
		}
	}
}

func (s *store) compare(t *testing.T, version int, was, is string) *Report {
	t.Helper()
	v, w := s.preview(t, version, was), s.preview(t, version, is)
	r, err := Compare(t.Context(), Sides{Registry: registry(version), Was: v, Is: w, Estimate: estimate.Of(w, estimate.History{}),
		Newest: func(_ context.Context, i int) ([]byte, error) { return s.newest[v.Plan.Steps[i].Address], nil },
		Diff:   step.Diff,
		Claims: func(string) []string { return []string{"It holds."} }})
	testkit.None(t, err)
	return r
}

const chain = `
step "text" "a" { text = "a" }
step "text" "b" {
  text  = "b"
  after = step.text.a.out
}
step "text" "each" {
  for_each = toset(["x", "y"])
  text     = "each ${each.key} 1"
  after    = step.text.a.out
}
table "t" {
  text  = "t"
  after = step.text.b.out
}
table "u" {
  text  = "u"
  after = [for k in ["x", "y"] : step.text.each[k].out]
}
`

func edit(t *testing.T, src, before, after string) string {
	t.Helper()
	if !strings.Contains(src, before) {
		t.Fatalf("no %q", before)
	}
	return strings.ReplaceAll(src, before, after)
}

func causesOf(r *Report) []string {
	return lists.Map(r.Causes, func(c Cause) string {
		return fmt.Sprintf("%s %s %s: %d, %d run, %.0f h", c.Block, c.Text, c.Where, c.Steps, c.Moves.Steps, c.Moves.P50/3600)
	})
}

func tablesOf(r *Report) []string {
	return lists.Map(r.Tables, func(x Table) string {
		return fmt.Sprintf("%s %s %+v %.0f h %d", x.Address, x.After, x.Counts, x.Cost.P50/3600, x.Claims)
	})
}

func TestChange(t *testing.T) {
	s := newStore()
	s.run(t, 1, chain)
	for _, c := range []struct {
		name, is string
		counts   Counts
		causes   []string
		tables   []string
	}{
		{"nothing", chain, Counts{Same: 6}, nil, nil},
		{"in the middle", edit(t, chain, `"b"
  after`, `"bb"
  after`), Counts{Same: 4, Run: 1, Maybe: 1},
			[]string{`step.text.b config.text: "b" -> "bb" p.hcl:4: 1, 2 run, 2 h`},
			[]string{`table.t maybe {Same:1 Run:1 Maybe:1 New:0 Hit:0 Cut:0 Gone:0 Anyway:0} 2 h 1`}},
		{"a block, each step otherwise", edit(t, chain, `${each.key} 1`, `${each.key} 2`), Counts{Same: 3, Run: 2, Maybe: 1},
			[]string{`step.text.each config.text differs p.hcl:9: 2, 3 run, 3 h`},
			[]string{`table.u maybe {Same:1 Run:2 Maybe:1 New:0 Hit:0 Cut:0 Gone:0 Anyway:0} 3 h 1`}},
		{"new and gone", edit(t, edit(t, chain, `"b" {`, `"c" {`), "text.b.out", "text.c.out") + `step "text" "n" { text = "n" }`,
			Counts{Same: 5, New: 1, Hit: 1, Gone: 1},
			[]string{"step.text.n new p.hcl:20: 1, 1 run, 1 h", "step.text.c new p.hcl:3: 1, 0 run, 0 h"},
			[]string{"table.t hit {Same:2 Run:0 Maybe:0 New:0 Hit:1 Cut:0 Gone:1 Anyway:0} 0 h 0"}},
	} {
		t.Log(c.name)
		r := s.compare(t, 1, chain, c.is)
		testkit.Deep(t, r.Steps, c.counts)
		testkit.Deep(t, causesOf(r), c.causes)
		testkit.Deep(t, tablesOf(r), c.tables)
		if runs := c.counts.Run+c.counts.New > 0; r.Runs() != runs {
			t.Errorf("%s: runs %v", c.name, r.Runs())
		}
	}
}

// TestCut: a step that was run with other configuration and left the same bytes ends the consequences.
func TestCut(t *testing.T) {
	s := newStore()
	s.run(t, 1, chain)
	is := edit(t, chain, `"a" }`, `"a#comment" }`)
	r := s.compare(t, 1, chain, is)
	testkit.Deep(t, r.Steps, Counts{Run: 1, Maybe: 5})
	s.run(t, 1, is)
	r = s.compare(t, 1, chain, is)
	testkit.Deep(t, r.Steps, Counts{Same: 5, Cut: 1})
	testkit.Deep(t, causesOf(r), []string{`step.text.a config.text: "a" -> "a#comment" p.hcl:2: 1, 0 run, 0 h`})
}

// TestVersion: results of a kind's earlier version stood before, and the change adds nothing to what the version moves.
func TestVersion(t *testing.T) {
	s := newStore()
	s.run(t, 1, chain)
	r := s.compare(t, 2, chain, chain)
	testkit.Deep(t, r.Steps, Counts{Run: 1, Maybe: 5})
	testkit.Deep(t, causesOf(r), []string{" kind text: version 1 -> 2 : 4, 6 run, 0 h"})
	for _, c := range r.Each {
		testkit.That(t, c.Stood && c.Charged, c)
	}
	// What never ran stood nowhere, and a change of it is still said.
	r = newStore().compare(t, 2, chain, edit(t, chain, "\"b\"\n  after", "\"bb\"\n  after"))
	testkit.Deep(t, r.Steps, Counts{Anyway: 6})
	testkit.Deep(t, causesOf(r), []string{`step.text.b config.text: "b" -> "bb" p.hcl:4: 1, 0 run, 0 h`})
}

func TestSet(t *testing.T) {
	var s set
	for _, n := range []int{3, 64, 200} {
		s = s.plus(n)
	}
	u := set{}.plus(1).plus(200)
	both := s.with(u)
	var got []int
	both.each(func(n int) { got = append(got, n) })
	testkit.Deep(t, got, []int{1, 3, 64, 200})
	testkit.That(t, !u.empty() && (set{}).empty() && s.with(set{}) == s && (set{}).with(s) == s, s, u, both)
	testkit.Is(t, s.with(set{}.plus(3)), s, "a set that has all is copied")
}
