package lease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/process"
	"github.com/redsi/redsi/internal/system/testkit"
)

var key = artifacts.Sum([]byte("a key"))

func keeper(records artifacts.Records) *Keeper { return New(records, slog.New(slog.DiscardHandler)) }

// elsewhere is a keeper of another machine.
func elsewhere(records artifacts.Records, machine string) *Keeper {
	k := keeper(records)
	k.self.Machine, k.self.Boot = machine, machine
	return k
}

func take(t *testing.T, k *Keeper, c Claim) (*Held, *Lease) {
	t.Helper()
	h, other, err := k.Take(t.Context(), key, c)
	if err != nil || (h == nil) == (other == nil) {
		t.Fatalf("Take = %v, %v, %v", h, other, err)
	}
	return h, other
}

// takes is the lease that a keeper gets at once.
func takes(t *testing.T, k *Keeper, c Claim) *Held {
	t.Helper()
	h, other := take(t, k, c)
	if other != nil {
		t.Fatalf("it waits for %v", other)
	}
	return h
}

// waits is the lease that a keeper has to wait for.
func waits(t *testing.T, k *Keeper, c Claim) *Lease {
	t.Helper()
	_, other := take(t, k, c)
	if other == nil {
		t.Fatal("it is taken at once")
	}
	return other
}

// empty fails a test in which leases are left.
func empty(t *testing.T, records artifacts.Records) {
	t.Helper()
	for r, err := range records.List(t.Context(), "") {
		t.Errorf("%v is left, %v", r, err)
	}
}

func TestTakeAndRelease(t *testing.T) {
	s, err := dir.Open(t.TempDir())
	testkit.None(t, err)
	a, b := keeper(s.Leases), keeper(s.Leases)
	h := takes(t, a, Claim{Run: "1", Step: "step.text.a"})
	if other := waits(t, b, Claim{Run: "2"}); other.Run != "1" || other.Step != "step.text.a" || other.Process != a.self {
		t.Fatalf("the other is %v", other)
	}
	waits(t, a, Claim{Run: "3"}) // the process that has it, too
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	testkit.ErrSays(t, b.Wait(ctx, key, Claim{}, func(Lease) {}), "enough")
	waited := make(chan error)
	go func() { waited <- b.Wait(t.Context(), key, Claim{}, func(Lease) { h.Release() }) }()
	testkit.None(t, <-waited)
	h.Release() // again is nothing
	empty(t, s.Leases)
	takes(t, b, Claim{Run: "2"}).Release()
}

// TestOneOfMany: of those who want a key that is free, whose holder is gone, or whose
// generations are many, exactly one takes it.
func TestOneOfMany(t *testing.T) {
	gone := exec.Command("true")
	testkit.None(t, gone.Run())
	for name, generations := range map[string]int{"free": 0, "its holder is gone": 1, "many holders are gone": 4} {
		t.Run(name, func(t *testing.T) {
			s := mem.New()
			for g := range generations {
				k := keeper(s.Leases)
				k.self.PID, k.self.Start = gone.Process.Pid, "1"
				l := Lease{Format: Format, Key: key, Taking: fmt.Sprint("gone ", g), Claim: Claim{Run: "gone"}, Process: k.self, Since: time.Now().UTC(), generation: g + 1}
				testkit.None(t, k.write(t.Context(), l, s.Leases.Create))
			}
			var won atomic.Int32
			var wg sync.WaitGroup
			var winner *Held
			for range 16 {
				wg.Go(func() {
					h, _, err := keeper(s.Leases).Take(t.Context(), key, Claim{})
					if err != nil {
						t.Error(err)
					}
					if h != nil {
						won.Add(1)
						winner = h
					}
				})
			}
			wg.Wait()
			if won.Load() != 1 {
				t.Fatalf("%d took it", won.Load())
			}
			winner.Release()
			empty(t, s.Leases)
		})
	}
}

// TestStale: a lease of another machine counts while it is renewed, and a minute more.
func TestStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mem.New()
		a, b := elsewhere(s.Leases, "one"), elsewhere(s.Leases, "two")
		h := takes(t, a, Claim{Run: "1"})
		for range 12 {
			time.Sleep(Stale / 2)
			waits(t, b, Claim{Run: "2"})
		}
		a.mu.Lock()
		clear(a.held) // it renews nothing any more
		a.mu.Unlock()
		start := time.Now()
		testkit.None(t, b.Wait(t.Context(), key, Claim{}, func(Lease) {}))
		if d := time.Since(start); d < Stale/2 || d > 2*Stale {
			t.Errorf("it was stale after %s", d)
		}
		won := takes(t, b, Claim{Run: "2"})
		h.Release() // of the first generation: the second stands
		testkit.Is(t, waits(t, a, Claim{Run: "3"}).Run, "2", "after the release of a lost lease")
		won.Release()
		empty(t, s.Leases)
		time.Sleep(2 * renewEvery) // the renewals end
	})
}

// slow takes nearly as long as a renewal may.
type slow struct{ artifacts.Records }

func (s slow) Put(ctx context.Context, name string, data []byte) error {
	time.Sleep(renewEvery - time.Second)
	return s.Records.Put(ctx, name, data)
}

// TestSlowRenewals: however many leases a process holds, none is stale for the slowness of
// the others' renewals.
func TestSlowRenewals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mem.New()
		a, b := elsewhere(slow{s.Leases}, "one"), elsewhere(s.Leases, "two")
		var held []*Held
		for i := range 8 {
			h, _, err := a.Take(t.Context(), artifacts.Digest{byte(i)}, Claim{Run: "1"})
			testkit.None(t, err)
			held = append(held, h)
		}
		for range 30 {
			time.Sleep(10 * time.Second)
			for i := range held {
				if h, _, err := b.Take(t.Context(), artifacts.Digest{byte(i)}, Claim{Run: "2"}); h != nil || err != nil {
					t.Fatalf("lease %d was stale, %v", i, err)
				}
			}
		}
		time.Sleep(renewEvery - time.Second/2) // none is being renewed then
		for _, h := range held {
			h.Release()
		}
		time.Sleep(2 * renewEvery) // the renewals end
	})
}

// TestAttempt: an attempt takes over from one before it, which is known to be lost.
func TestAttempt(t *testing.T) {
	s := mem.New()
	a, b := elsewhere(s.Leases, "one"), elsewhere(s.Leases, "two")
	takes(t, a, Claim{Run: "1", Attempt: "workflow/7"})
	waits(t, b, Claim{Run: "1", Attempt: "workflow/8"}) // another piece of work
	takes(t, b, Claim{Run: "1", Attempt: "workflow/7"})
}

// TestGarbage: of the leases of a key that is held, garbage collection deletes none, however old
// the lost one before it is; of a key that nobody holds, all.
func TestGarbage(t *testing.T) {
	now := time.Now()
	s := mem.NewAt(func() time.Time { return now })
	dead, b, c := elsewhere(s.Leases, "one"), elsewhere(s.Leases, "two"), elsewhere(s.Leases, "three")
	takes(t, dead, Claim{Run: "1", Attempt: "a"})
	held := takes(t, b, Claim{Run: "1", Attempt: "a"}) // the next generation
	for _, want := range []int{0, 2} {
		now = now.Add(25 * time.Hour)
		if want == 0 {
			held.lease.Since = held.lease.Since.Add(-time.Hour)
			held.renew()
		}
		g, err := artifacts.Collect(t.Context(), s, artifacts.GCOptions{Now: now})
		testkit.None(t, err)
		testkit.Is(t, len(g.Leases), want, g.Leases)
		if h, _ := take(t, c, Claim{Run: "2"}); (h != nil) != (want > 0) {
			t.Errorf("a third takes it: %v", h != nil)
		}
	}
}

// TestUnreadable: what nobody can read counts as long as what nobody renews.
func TestUnreadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mem.New()
		testkit.None(t, s.Leases.Create(t.Context(), name(key, 1), nil))
		k := keeper(s.Leases)
		waits(t, k, Claim{})
		time.Sleep(Stale)
		takes(t, k, Claim{}).Release()
		time.Sleep(2 * renewEvery)
	})
}

// TestDeletedMeanwhile: while its process deletes a lease that it may have, no other generation begins beside it:
// when the first is gone a third one would begin, too.
func TestDeletedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mem.New()
		records := &away{Records: s.Leases, deletes: make(chan bool)}
		records.create.Store(true)
		records.late.Store(true)
		k := keeper(records)
		first := Claim{Run: "1", Step: "step.command.a", Attempt: "work-1"}
		if _, _, err := k.Take(t.Context(), key, first); err == nil {
			t.Fatal("it is taken")
		}
		records.create.Store(false)
		records.deletes <- true
		for _, c := range []Claim{first, {Run: "2"}} {
			waits(t, k, c)
		}
		records.deletes <- true
		synctest.Wait()
		h := takes(t, k, first)
		close(records.deletes)
		h.Release()
		time.Sleep(2 * renewEvery) // the renewals end
	})
}

// away is a store of which some methods fail: Create, after its work is done if late, and Delete.
type away struct {
	artifacts.Records
	create, late, remove atomic.Bool

	deletes chan bool // if set, received from as a deletion begins, and as it ends
}

func (a *away) Create(ctx context.Context, name string, data []byte) error {
	if a.create.Load() && !a.late.Load() {
		return errAway
	}
	err := a.Records.Create(ctx, name, data)
	if a.create.Load() && err == nil {
		return errAway
	}
	return err
}

func (a *away) Delete(ctx context.Context, name string) error {
	if a.remove.Load() {
		return errAway
	}
	if a.deletes != nil {
		<-a.deletes
		<-a.deletes
	}
	return a.Records.Delete(ctx, name)
}

var errAway = errors.New("connection refused")

// TestNobodyHoldsIt: a lease that nobody holds is an obstacle for some seconds after the store is back,
// or for as long as a lease counts that is not renewed, though its process lives.
func TestNobodyHoldsIt(t *testing.T) {
	const soon = tidyPause + 3*time.Second
	for name, c := range map[string]struct {
		create, late, remove bool
		outage               time.Duration // 0: it does not end
		most                 time.Duration // that others wait for, from the end of the outage
	}{
		"not released":                      {remove: true, outage: 20 * time.Second, most: soon},
		"not released for long":             {remove: true, outage: time.Hour, most: soon},
		"never to be released":              {remove: true, most: Stale + 3*time.Second},
		"taken without an answer":           {create: true, late: true, outage: 20 * time.Second},
		"nothing came of it":                {create: true, outage: 20 * time.Second},
		"taken, and nothing can be deleted": {create: true, late: true, remove: true, most: Stale + 3*time.Second},
	} {
		for _, who := range []string{"its process", "another"} {
			t.Run(name+", "+who, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := mem.New()
					records := &away{Records: s.Leases}
					records.create.Store(c.create)
					records.late.Store(c.late)
					records.remove.Store(c.remove)
					k := keeper(records)
					if h, _, err := k.Take(t.Context(), key, Claim{Run: "1", Step: "step.command.a", Attempt: "batch 1"}); err == nil {
						h.Release()
					} else if !c.create {
						t.Fatal(err)
					}
					time.Sleep(c.outage)
					records.create.Store(false)
					records.remove.Store(c.remove && c.outage == 0)
					if who == "another" {
						k = keeper(s.Leases)
					}
					ctx, cancel := context.WithTimeout(t.Context(), 3*Stale)
					defer cancel()
					start := time.Now()
					testkit.None(t, k.Wait(ctx, key, Claim{Run: "2"}, func(Lease) {}))
					if d := time.Since(start); d > c.most {
						t.Errorf("it waits for %s", d)
					}
					records.remove.Store(false)
					takes(t, k, Claim{Run: "2"}).Release()
					time.Sleep(2 * renewEvery) // all is deleted, and the renewals end
					empty(t, s.Leases)
				})
			})
		}
	}
}

// TestStopped: a holder that is stopped keeps its lease, and who waits for it is told, with its job.
func TestStopped(t *testing.T) {
	t.Setenv("SLURM_JOB_ID", "47")
	t.Setenv("SLURMD_NODENAME", "n1")
	a := keeper(mem.New().Leases)
	b := keeper(a.records)
	cmd := exec.Command("sleep", "3600")
	testkit.None(t, cmd.Start())
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	holder, err := process.Of(cmd.Process.Pid)
	testkit.None(t, err)
	a.self = holder
	takes(t, a, Claim{Run: "1", Step: "step.text.a"})
	if text := waits(t, b, Claim{Run: "2"}).String(); strings.Contains(text, "stopped") || !strings.Contains(text, ", slurm 47 on n1, since") {
		t.Error(text)
	}
	testkit.None(t, cmd.Process.Signal(syscall.SIGSTOP))
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(holder.PID, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatal(err)
	}
	testkit.Says(t, waits(t, b, Claim{Run: "2"}).String(), fmt.Sprintf("; it is stopped: `kill -CONT %d`", holder.PID))
}
