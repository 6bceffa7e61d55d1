package worker_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/workflows"
)

// long is a text that is let go, and short one that stays.
func long(text string) string { return text + strings.Repeat(".", 5000) }

// temporaries is raw -> mid -> last -> end, with a reader of last and one of mid beside it.
func temporaries(keep, end, side string) string {
	return fmt.Sprintf(`
step "text" "raw"  { text = %[1]q, %[4]s }
step "text" "mid"  { text = %[2]q, after = [step.text.raw.out], %[4]s }
step "text" "last" { text = %[3]q, after = [step.text.mid.out], %[4]s }
step "text" "end"  { text = %[5]q, after = [step.text.last.out], last = 9 }
step "text" "other" { text = "other", after = [step.text.last.out], last = 9 }
step "text" "side" { text = %[6]q, after = [step.text.mid.out], last = 9 }
`, long("raw"), long("mid"), long("last"), keep, end, side)
}

// hcl writes attributes of a step on lines of their own.
func hcl(src string) string {
	return strings.NewReplacer("{ ", "{\n", ", keep", "\nkeep", ", after", "\nafter", ", last", "\nlast", ", hold", "\nhold", " }", "\n}", "\\n", "\n").Replace(src)
}

// ranTimes says how often steps ran, by the beginnings of their texts.
func (b *bench) ranTimes(texts ...string) string {
	var said []string
	for _, text := range texts {
		said = append(said, fmt.Sprint(text, " ", b.count(long(text))+b.count(text)))
	}
	return strings.Join(said, ", ")
}

// seen is a preview of a pipeline.
func (b *bench) seen(src string) *plan.Preview {
	b.t.Helper()
	pl, _ := b.plan(src)
	v, err := pl.Follow(b.t.Context(), b.reg, func(ctx context.Context, keys []artifacts.Digest) (map[artifacts.Digest]*artifacts.Result, error) {
		return artifacts.LookupKnown(ctx, artifacts.Alone(b.store), keys)
	}, plan.KeepAll, nil)
	testkit.None(b.t, err)
	return v
}

// resultOf is the result of a step, released or not.
func (b *bench) resultOf(src, address string) *artifacts.Result {
	b.t.Helper()
	v := b.seen(src)
	return v.Items[slices.IndexFunc(v.Plan.Steps, func(s plan.Step) bool { return s.Address == address })].Result
}

// foreseen is what a preview says of the steps of a pipeline.
func (b *bench) foreseen(src string) string {
	b.t.Helper()
	v := b.seen(src)
	var said []string
	for i, it := range v.Items {
		word := string(it.Outcome)
		if it.Released && it.Outcome == plan.Hit {
			word = "released"
		}
		said = append(said, strings.TrimPrefix(v.Plan.Steps[i].Address, "step.text.")+" "+word)
	}
	slices.Sort(said)
	return strings.Join(said, ", ")
}

// foresees is a preview that must say this of the steps.
func (b *bench) foresees(src, want string) {
	b.t.Helper()
	if got := b.foreseen(src); got != want {
		b.t.Fatalf("%s\nwant %s", got, want)
	}
}

// bytes is the size of the outputs that are let go if nothing needs them.
func (b *bench) bytes() (n int64) {
	b.t.Helper()
	for x, err := range b.store.Blobs.List(b.t.Context()) {
		if err != nil {
			b.t.Fatal(err)
		}
		text, err := artifacts.ReadBlob(b.t.Context(), b.store.Blobs, x.Digest, artifacts.AnySize)
		if err != nil && !errors.Is(err, artifacts.ErrNotExist) {
			b.t.Fatal(err)
		}
		if strings.HasPrefix(strings.ToLower(string(text)), long("raw")) {
			n += x.Size
		}
	}
	return n
}

func (b *bench) mustRun(src, id string) workflows.ReproduceResult {
	b.t.Helper()
	r, err := b.wait(b.start(src, id))
	testkit.None(b.t, err)
	return r
}

// TestKeepFalse: the bytes of steps with keep = false leave when all that read them are done.
// Hits need none of them, a step that must run brings back those that it needs and no others,
// and a plan that keeps the step makes it again.
func TestKeepFalse(t *testing.T) {
	b := newBench(t)
	src := hcl(temporaries("keep = false", "end", "side"))
	size := int64(len(long("raw")) + len(long("raw")+long("mid")) + len(long("raw")+long("mid")+long("last")))
	r := b.mustRun(src, "1")
	if r.Ran != 6 || r.Released.Results != 3 || r.Released.Bytes != size || b.bytes() != 0 {
		t.Fatalf("%+v, want 6 to run and 3 results of %d bytes to be let go; %d bytes are left", r, size, b.bytes())
	}
	b.foresees(src, "end hit, last released, mid released, other hit, raw released, side hit")
	if r := b.mustRun(src, "2"); r.Hit != 6 || r.Released.Results != 0 {
		t.Fatalf("nothing to do, and %+v", r)
	}

	changed := hcl(temporaries("keep = false", "END", "side"))
	b.foresees(changed, "end run, last run, mid run, other hit, raw run, side hit")
	if r := b.mustRun(changed, "3"); r.Hit != 2 || r.Ran != 4 || r.Released.Results != 3 || b.bytes() != 0 {
		t.Fatalf("another end: %+v, %d bytes left", r, b.bytes())
	}
	if got, want := b.ranTimes("raw", "mid", "last", "other", "side", "END"), "raw 2, mid 2, last 2, other 1, side 1, END 1"; got != want {
		t.Fatalf("%s, want %s", got, want)
	}
	changed = hcl(temporaries("keep = false", "END", "SIDE")) // reads mid alone
	if r := b.mustRun(changed, "4"); r.Hit != 3 || r.Ran != 3 || r.Released.Results != 2 || b.bytes() != 0 {
		t.Fatalf("another side: %+v, %d bytes left", r, b.bytes())
	}
	if got, want := b.ranTimes("raw", "mid", "last", "other"), "raw 3, mid 3, last 2, other 1"; got != want {
		t.Fatalf("%s, want %s", got, want)
	}

	kept := hcl(temporaries("keep = true", "END", "SIDE"))
	b.foresees(kept, "end maybe, last maybe, mid maybe, other maybe, raw run, side maybe")
	if r := b.mustRun(kept, "5"); r.Ran != 3 || r.Hit != 3 || b.bytes() != size {
		t.Fatalf("kept: %+v, %d bytes there", r, b.bytes())
	}
	if got := b.text(kept, "step.text.last"); got != long("raw")+long("mid")+long("last") {
		t.Fatalf("last has %d bytes", len(got))
	}
	if r := b.mustRun(changed, "6"); r.Hit != 6 || r.Released.Results != 3 || b.bytes() != 0 {
		t.Fatalf("no longer kept: %+v, %d bytes left", r, b.bytes())
	}
}

// TestKeepFalseWithOtherBytes: a step that is made again with other bytes is followed by all
// that read it, as any step whose result was lost.
func TestKeepFalseWithOtherBytes(t *testing.T) {
	b := newBench(t)
	src := hcl(temporaries("keep = false", "end", "side"))
	b.mustRun(src, "1")
	raw := b.resultOf(src, "step.text.raw")
	d, n, err := b.store.Blobs.Put(t.Context(), strings.NewReader(long("RAW")))
	testkit.None(t, err)
	again := *raw
	again.Outputs = map[string]artifacts.Artifact{"out": {Type: "text", Digest: d, Size: n}}
	if _, differs, err := artifacts.Publish(t.Context(), artifacts.Alone(b.store), again); err != nil || !differs {
		t.Fatal(differs, err)
	}
	b.foresees(src, "end maybe, last maybe, mid run, other maybe, raw hit, side maybe")
	if r := b.mustRun(src, "2"); r.Hit != 1 || r.Ran != 5 || b.bytes() != 0 {
		t.Fatalf("%+v, %d bytes left", r, b.bytes())
	}
}

func TestKeepFalseOfAFailure(t *testing.T) {
	b := newBench(t)
	b.fails("end", "no")
	src := hcl(temporaries("keep = false", "end", "side"))
	_, err := b.wait(b.start(src, "1"))
	if err == nil {
		t.Fatal("end did not fail")
	}
	b.foresees(src, "end run, last hit, mid released, other hit, raw released, side hit")
	b.fail.Store(nil)
	if r := b.mustRun(src, "2"); r.Hit != 5 || r.Ran != 1 || r.Released.Results != 1 || b.bytes() != 0 {
		t.Fatalf("%+v, %d bytes left", r, b.bytes())
	}
}

// TestKeepFalseDuringARun: bytes go while the run goes on.
func TestKeepFalseDuringARun(t *testing.T) {
	b := newBench(t)
	src := hcl(fmt.Sprintf(`
step "text" "raw" { text = %q, keep = false }
step "text" "end" { text = "end", after = [step.text.raw.out], last = 9 }
step "text" "slow" { text = "slow", hold = true }
`, long("raw")))
	w := b.start(src, "1")
	b.next()
	b.awaitState(func(workflows.State) bool { return b.foreseen(src) == "end hit, raw released, slow run" }, w)
	close(b.hold)
	if r, err := b.wait(w); err != nil || r.Released.Results != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
}

// TestKeepFalseBesideAnotherRun: what another run in progress keeps, or has yet to read,
// stays; when that ends it lets go of it, unless it keeps it.
func TestKeepFalseBesideAnotherRun(t *testing.T) {
	for _, keep := range []bool{true, false} {
		t.Run(fmt.Sprint(keep), func(t *testing.T) {
			b := newBench(t)
			src := hcl(temporaries("keep = false", "end", "side"))
			other := hcl(temporaries(fmt.Sprint("keep = ", keep), "end", "side") + `
step "text" "slow" { text = "slow", hold = true }
step "text" "late" { text = "late", after = [step.text.last.out, step.text.slow.out], last = 9 }
`)
			w := b.start(other, "other")
			b.next()
			b.awaitState(func(s workflows.State) bool { return s.Counts[runs.Ran]+s.Counts[runs.Hit] == 6 }, w)
			r := b.mustRun(src, "1")
			if !strings.Contains(b.foreseen(other), "last hit") || r.Released.Held == 0 || !strings.Contains(r.Released.For, "other") {
				t.Fatalf("%+v, want last to stay for the other run", r)
			}
			close(b.hold)
			if r, err := b.wait(w); err != nil {
				t.Fatalf("%+v, %v", r, err)
			}
			if got := b.ranTimes("raw", "mid", "last", "late"); got != "raw 1, mid 1, last 1, late 1" {
				t.Fatal(got)
			}
			if size := b.bytes(); (size > 0) != keep {
				t.Fatalf("%d bytes are left", size)
			}
		})
	}
}

// TestReleasedUnderARun: a run that has found a result whole, and whose bytes are let go
// before it reads them, makes them again.
func TestReleasedUnderARun(t *testing.T) {
	b := newBench(t)
	src := hcl(temporaries("keep = true", "end", "side"))
	b.mustRun(src, "1")
	more := src + hcl(`step "text" "slow" { text = "slow", hold = true }
step "text" "late" { text = "late", after = [step.text.last.out, step.text.slow.out], last = 9 }
`)
	w := b.start(more, "2")
	b.next()
	var keys []artifacts.Digest
	for _, name := range []string{"raw", "mid", "last"} {
		keys = append(keys, b.result(more, "step.text."+name).Key)
	}
	freed, err := artifacts.Release(t.Context(), b.store, keys, nil, func(name string, _ []byte) bool { return true })
	if err != nil || freed.Results != 3 {
		t.Fatalf("%+v, %v", freed, err)
	}
	close(b.hold)
	b.ends(w, 5)
	if got := b.ranTimes("raw", "mid", "last", "late", "end"); got != "raw 2, mid 2, last 2, late 1, end 1" {
		t.Fatal(got)
	}
}

// TestKeepFalseKilled: a run that is killed after it has marked a result, or removed part of
// it, leaves it whole or released; the next one goes on from there.
func TestKeepFalseKilled(t *testing.T) {
	b := newBench(t)
	src := hcl(temporaries("keep = true", "end", "side"))
	b.mustRun(src, "1")
	last := b.result(src, "step.text.last")
	for _, name := range []string{"raw", "last"} {
		key := b.result(src, "step.text."+name).Key
		text := fmt.Sprintf(`{"format":%q,"key":%q,"bytes":7}`, artifacts.ReleasedFormat, key)
		testkit.None(t, b.store.Records.Put(t.Context(), artifacts.ReleasedName(key), []byte(text)))
	}
	for d := range maps.Keys(last.Sizes()) {
		testkit.None(t, b.store.Blobs.Delete(t.Context(), d))
	}
	src = hcl(temporaries("keep = false", "end", "side"))
	b.foresees(src, "end hit, last released, mid hit, other hit, raw hit, side hit")
	if r := b.mustRun(src, "2"); r.Hit != 6 || r.Released.Results != 2 || b.bytes() != 0 {
		t.Fatalf("%+v, %d bytes left", r, b.bytes())
	}
	report, err := artifacts.Check(t.Context(), b.store, artifacts.CheckOptions{})
	if err != nil || len(report.Problems) > 0 || report.Released != 3 {
		t.Fatalf("%+v, %v", report, err)
	}
}
