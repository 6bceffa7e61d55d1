package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// TestGathers: who reads several steps of an on_failure block in a list goes on without some; at_least rounds up.
func TestGathers(t *testing.T) {
	for least, want := range map[string]string{"": "1", "at_least = 0.5": "2", "at_least = 0.95": "3", "at_least = 3": "3", "at_least = 7": "7"} {
		p := build(t, load(t, strings.Replace(`
step "text" "piece" {
  for_each   = toset(["a", "b", "c"])
  on_failure = "leave_out"
  LEAST
  text       = each.key
}
step "text" "own" {
  for_each = toset(["a", "b", "c"])
  text     = each.key
  after    = step.text.piece[each.key].out
}
step "text" "few" {
  text  = "few"
  after = [step.text.piece["a"].out, step.text.own["a"].out]
}
step "text" "all" {
  text  = "all"
  after = step.text.piece[*].out
}
`, "LEAST", least, 1)), registry(1), "")
		var got []string
		for _, s := range p.Steps {
			for _, g := range s.Gathers {
				got = append(got, fmt.Sprint(s.Address, " ", g.Least, " of ", g.Of))
			}
		}
		testkit.That(t, len(got) == 1 && strings.HasPrefix(got[0], "step.text.all "+want+" of ["), least, got)
		last := len(p.Steps) - 1
		rest, left := p.Without(registry(1), func(i int) bool { return p.Steps[i].Address == `step.text.piece["b"]` })
		if made := strings.Contains(addresses(rest), "all"); made != (want < "3") || len(left) < 2 {
			t.Errorf("%q: without b there is %s", least, addresses(rest))
		} else if made {
			// The same key, whether it was left out beforehand or has failed.
			_, before, _, err := rest.Bind(registry(1), len(rest.Steps)-1, func(int) *artifacts.Result { return result() })
			_, failed, _, ferr := p.Bind(registry(1), last, func(d int) *artifacts.Result {
				if p.Steps[d].Address == `step.text.piece["b"]` {
					return nil
				}
				return result()
			})
			_, whole, _, werr := p.Bind(registry(1), last, func(int) *artifacts.Result { return result() })
			if err != nil || ferr != nil || werr != nil || before != failed || whole == failed {
				t.Errorf("keys %s, %s, %s: %v, %v, %v", before, failed, whole, err, ferr, werr)
			}
		}
	}
}

func result() *artifacts.Result {
	return &artifacts.Result{Outputs: map[string]artifacts.Artifact{"out": {Type: "text", Digest: artifacts.Sum([]byte("x"))}}}
}

// TestWithoutRefs: what may go is in a list with others, a map, or a list of objects; what goes is counted where a kind asks for it.
func TestWithoutRefs(t *testing.T) {
	type row struct {
		Value step.Inputs `hcl:"value,optional" help:"may go"`
		One   step.Input  `hcl:"one" help:"may not"`
	}
	type config struct {
		List  step.Inputs            `hcl:"list,optional" help:"all but one"`
		Map   map[string]step.Input  `hcl:"map,optional" help:"each but one"`
		Lists map[string]step.Inputs `hcl:"lists,optional" help:"each but one"`
		Rows  []row                  `hcl:"rows,optional" help:"rows"`
		Lacks int                    `hcl:"lacks,added" help:"how many went"`
	}
	reg := step.NewRegistry(step.Define(step.Kind[config]{Name: "k", Version: 1, Doc: "K.", Outputs: []step.Output{{Name: "out", Type: "text", Help: "text"}},
		Run: func(context.Context, *step.IO, config) error { return nil }}))
	in := func(name string) string { return fmt.Sprintf(`{"$ref":{"step":%q,"output":"out"}}`, name) }
	task := step.Task{Kind: "k", Config: []byte(`{"list":[` + in("a") + `,` + in("b") + `],"map":{"x":` + in("c") + `,"y":` + in("d") + `},"lists":{"x":[` + in("e") + `],"y":[` + in("a") + `]},` +
		`"rows":[{"value":[` + in("f") + `],"one":` + in("g") + `}]}`)}
	out, err := reg.Without(task, map[string]bool{"a": true, "c": true, "f": true})
	want := `{"lacks":3,"list":[` + in("b") + `],"lists":{"x":[` + in("e") + `]},"map":{"y":` + in("d") + `},"rows":[{"one":` + in("g") + `}]}`
	testkit.None(t, err)
	testkit.Is(t, string(out.Config), want)
	for _, gone := range []map[string]bool{{"g": true}, {"a": true, "b": true}, {"c": true, "d": true}} {
		if out, err := reg.Without(task, gone); err == nil {
			t.Errorf("without %v it is %s", gone, out.Config)
		}
	}
}

// TestFresh: for a run that begins too late a result does not count; for who only looks it does.
func TestFresh(t *testing.T) {
	p := build(t, load(t, "step \"text\" \"listing\" {\n  text  = \"x\"\n  fresh = \"24h\"\n}\n"), registry(1), "")
	made := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for after, want := range map[time.Duration]Outcome{time.Hour: Hit, 24 * time.Hour: Run, -1: Hit} {
		var at time.Time
		if after > 0 {
			at = made.Add(after)
		}
		v, err := p.FollowWithout(t.Context(), registry(1), func(_ context.Context, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
			return map[artifacts.Digest]*artifacts.Result{keys[0]: {Key: keys[0], Finished: made}}, nil
		}, KeepNone, nil, func(int, bool) bool { return false }, at)
		if err != nil || v.Items[0].Outcome != want || (want == Run) != v.Items[0].Snags().Stale.Equal(made) {
			t.Errorf("after %s: %+v, %v", after, v.Items[0], err)
		}
	}
}

// TestGoneStays: in a run in which a step failed, what gathers it has the key of without, whatever another run has left in the store since.
func TestGoneStays(t *testing.T) {
	p := build(t, load(t, `
step "text" "piece" {
  for_each   = toset(["a", "b"])
  on_failure = "leave_out"
  text       = each.key
}
step "text" "all" {
  text  = "all"
  after = step.text.piece[*].out
}
`), registry(1), "")
	failed := func(i int) bool { return p.Steps[i].Address == `step.text.piece["b"]` }
	follow := func(stored func(i int) bool, gone func(i int, has bool) bool) Item {
		t.Helper()
		v, err := p.FollowWithout(t.Context(), registry(1), func(_ context.Context, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
			found := map[artifacts.Digest]*artifacts.Result{}
			for i, key := range keys {
				if len(keys) == 2 && stored(i) {
					found[key] = result()
				}
			}
			return found, nil
		}, KeepNone, nil, gone, time.Time{})
		testkit.None(t, err)
		return v.Items[len(p.Steps)-1]
	}
	all := func(int) bool { return true }
	without := follow(func(i int) bool { return !failed(i) }, func(i int, has bool) bool { return failed(i) })
	later := follow(all, func(i int, has bool) bool { return failed(i) })
	looked := follow(all, func(_ int, has bool) bool { return !has })
	if without.Key.IsZero() || later.Key != without.Key || len(later.Snags().Lacks) != 1 {
		t.Errorf("without b %s, with a later result of b %s, %+v", without.Key, later.Key, later.Snags().Lacks)
	}
	if looked.Key == without.Key || len(looked.Snags().Lacks) != 0 {
		t.Errorf("who looks at both has %s, %v", looked.Key, looked.Snags().Lacks)
	}
}

// FuzzPlan previews plans that anybody may have written to a store.
func FuzzPlan(f *testing.F) {
	reg := registry(1)
	good, err := json.Marshal(build(f, load(f, diamond), reg, ""))
	testkit.None(f, err)
	f.Add(good)
	for _, change := range [][2]string{{`"deps":[0]`, `"deps":[7]`}, {`"deps":[0]`, `"deps":[-1]`}, {`"deps":[0]`, `"deps":[3]`},
		{`"kind":"text"`, `"kind":"none"`}, {`"text":"left"`, `"text":3`}, {`step.text.first`, `step.text.alone`}} {
		f.Add([]byte(strings.Replace(string(good), change[0], change[1], 1)))
	}
	f.Add([]byte(`{"format":"redsi-plan/1","steps":[{"address":"a"}]}`))
	f.Add([]byte(`null`))
	all := func(_ context.Context, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
		found := map[artifacts.Digest]*artifacts.Result{}
		for _, k := range keys {
			found[k] = &artifacts.Result{Key: k, Outputs: map[string]artifacts.Artifact{"out": {Type: "text", Digest: k, Size: 1}}}
		}
		return found, nil
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p := new(Plan)
		if json.Unmarshal(b, p) != nil || p.Check() != nil {
			return
		}
		for _, lookup := range []Lookup{new(results).lookup, all} {
			v, err := p.Follow(t.Context(), reg, lookup, KeepAll, nil)
			if err != nil {
				continue
			}
			if s := v.Summary(); s.Hit+s.Run+s.Maybe != len(p.Steps) {
				t.Fatalf("%d steps: %+v", len(p.Steps), s)
			}
		}
	})
}

// TestCheck refuses what would be a panic or an endless loop.
func TestCheck(t *testing.T) {
	for deps, want := range map[int]string{1: "does not come before it", 5: "does not come before it", -1: "does not come before it", 0: ""} {
		p := &Plan{Format: Format, Steps: []Step{{Address: "a"}, {Address: "b", Deps: []int{deps}}}}
		if err := p.Check(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("a dependency on %d: %v", deps, err)
		}
	}
	testkit.ErrSays(t, (&Plan{Format: "redsi-plan/9"}).Check(), "plan again")
	testkit.ErrSays(t, (&Plan{Format: Format, Steps: []Step{{Address: "a"}, {Address: "a"}}}).Check(), "belongs to another step")
}
