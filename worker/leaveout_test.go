package worker_test

import (
	"context"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/errtest"
)

// leaveOut are pieces of which those that fail are left out: each is read by another block's, which are left out with it, and by
// what gathers them. one reads one of them alone.
func leaveOut(atLeast string) string {
	return `
step "text" "piece" {
  for_each   = toset(["a", "b", "c", "d"])
  on_failure = "leave_out"
  at_least   = ` + atLeast + `
  text       = "piece ${each.key} "
}
step "short" "next" {
  for_each   = toset(["a", "b", "c", "d"])
  on_failure = "leave_out"
  at_least   = ` + atLeast + `
  text       = "next ${each.key} "
  after      = [step.text.piece[each.key].out]
}
step "short" "one" {
  text  = "one "
  after = step.text.piece["b"].out
}
step "short" "gather" {
  text  = "all"
  after = step.short.next[*].out
}
step "short" "last" {
  text  = "last"
  after = step.short.gather.out
}
step "tree" "verdict" {
  files = { "r.json" = jsonencode(["x"]) }
  after = step.short.next[*].out
}
step "short" "named" {
  for_each = toset(json(step.tree.verdict.out, "r.json:"))
  text     = "named ${each.key}"
}
`
}

// TestLeaveOut: what gathers pieces goes on without one that fails, also where it decides which steps there are; the run fails; another
// run with the same pieces finds what was gathered; one in which all succeed gathers anew.
func TestLeaveOut(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fails("piece b ", "it fails\nfurther down")
	src := leaveOut("0.75")
	w := b.start(src, "1")
	_, err := b.wait(w)
	errtest.Says(t, err, "1 of 13 steps failed, 2 skipped:", "step.short.gather is incomplete: it is without 1 of the steps that it gathers", `step.text.piece["b"]: it fails`)
	const first = `gather ran, last ran, named["x"] ran, next["a"] ran, next["b"] skipped, next["c"] ran, next["d"] ran, one skipped, piece["a"] ran, piece["b"] failed, piece["c"] ran, piece["d"] ran, verdict ran`
	if got := b.ended("1"); got != first {
		t.Errorf("got  %s\nwant %s", got, first)
	}
	b.keep("left-out", w.GetID(), "")
	gathered := func(id string) (key artifacts.Digest, text, lacks string) {
		for _, s := range b.record(id).Steps {
			if s.Address == "step.short.gather" {
				r, err := artifacts.Lookup(context.Background(), artifacts.Alone(b.store), s.Key)
				errtest.None(t, err)
				out, err := artifacts.ReadBlob(context.Background(), b.store.Blobs, r.Outputs["out"].Digest, artifacts.AnySize)
				errtest.None(t, err)
				key, text, lacks = s.Key, string(out), strings.Join(s.Lacks, " ")
			}
		}
		return key, text, lacks
	}
	key, text, lacks := gathered("1")
	if want := "piece a next a piece c next c piece d next d all"; text != want || lacks != `step.short.next["b"]` {
		t.Errorf("gathered %q, without %q", text, lacks)
	}

	// The same piece fails again: what was gathered without it is there.
	if _, err = b.wait(b.start(src, "2")); err == nil || b.record("2").Counts[runs.Hit] != 10 || b.record("2").Counts[runs.Ran] != 0 {
		t.Errorf("the second time: %v, %v", b.record("2").Counts, err)
	}
	if k, _, lacks := gathered("2"); k != key || lacks == "" {
		t.Errorf("gathered under %s and %s, without %q", key, k, lacks)
	}

	// It succeeds: all is gathered, and no step lacks any.
	b.fail.Store(nil)
	if hit, ran := b.run(src, "3"); hit != 7 || ran != 6 {
		t.Errorf("%d hit, %d ran", hit, ran)
	}
	if k, text, lacks := gathered("3"); k == key || lacks != "" || text != "piece a next a piece b next b piece c next c piece d next d all" {
		t.Errorf("gathered %q, without %q", text, lacks)
	}
}

// TestLeaveOutTooMany: with fewer than at_least what gathers is skipped, and says how many it needs.
func TestLeaveOutTooMany(t *testing.T) {
	b := newBench(t)
	b.fails("piece b ", "it fails")
	_, err := b.wait(b.start(leaveOut("4"), "1"))
	errtest.Says(t, err, "1 of 13 steps failed")
	for _, s := range b.record("1").Steps {
		if s.Address == "step.short.gather" && (s.Outcome != runs.Skipped || s.Error != "needs 4 of 4 of step.short.next: 1 failed, or need what failed") {
			t.Errorf("%+v", s)
		}
	}
}
