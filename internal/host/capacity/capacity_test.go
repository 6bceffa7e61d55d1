package capacity

import (
	"context"
	"fmt"
	"testing"
	"testing/fstest"
)

// TestWithin: the narrowest of the machine, a process's control group and those around it
// counts, of either version; what is no limit is none.
func TestWithin(t *testing.T) {
	const g = "sys/fs/cgroup/"
	for name, c := range map[string]struct {
		files map[string]string
		want  Amount
	}{
		"no control groups": {map[string]string{"proc/meminfo": "MemFree: 1 kB\nMemTotal:   1000 kB\n"}, Amount{8, 1000 << 10, 0}},
		"nothing known":     {nil, Amount{CPUs: 8}},
		"version 2, no limits": {map[string]string{"proc/meminfo": "MemTotal: 1000 kB\n", "proc/self/cgroup": "0::/\n", g + "memory.max": "max\n", g + "cpu.max": "max 100000\n"},
			Amount{8, 1000 << 10, 0}},
		"version 2, around it": {map[string]string{"proc/meminfo": "MemTotal: 1000 kB\n", "proc/self/cgroup": "0::/job/step\n", g + "job/memory.max": "4096\n",
			g + "job/step/memory.max": "8192\n", g + "job/step/cpu.max": "150000 100000\n", g + "job/cpu.max": "400000 100000\n"}, Amount{2, 4096, 0}},
		"version 1": {map[string]string{"proc/meminfo": "MemTotal: 1000 kB\n", "proc/self/cgroup": "4:cpu,cpuacct:/docker/x\n3:memory:/docker/x\n1:name=systemd:/x\n",
			g + "memory/memory.limit_in_bytes": "5000\n", g + "cpu/cpu.cfs_quota_us": "50000\n", g + "cpu/cpu.cfs_period_us": "100000\n"}, Amount{1, 5000, 0}},
		"version 1, no limits": {map[string]string{"proc/meminfo": "MemTotal: 1000 kB\n", "proc/self/cgroup": "4:cpu,cpuacct:/\n3:memory:/\n",
			g + "memory/memory.limit_in_bytes": "9223372036854771712\n", g + "cpu/cpu.cfs_quota_us": "-1\n", g + "cpu/cpu.cfs_period_us": "100000\n"}, Amount{8, 1000 << 10, 0}},
	} {
		files := fstest.MapFS{}
		for path, text := range c.files {
			files[path] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := (Amount{CPUs: 8}).within(files); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	if here := Here(); here.CPUs < 1 {
		t.Errorf("here: %+v", here)
	}
}

// TestKills: a control group's own count of kills for want of memory, of either version,
// else the machine's.
func TestKills(t *testing.T) {
	const g = "sys/fs/cgroup/"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
		ok    bool
	}{
		"nobody":    {nil, 0, false},
		"machine":   {map[string]string{"proc/self/cgroup": "0::/\n", "proc/vmstat": "nr_free 5\noom_kill 3\n"}, 3, true},
		"version 2": {map[string]string{"proc/self/cgroup": "0::/job\n", "proc/vmstat": "oom_kill 3\n", g + "job/memory.events": "oom 9\noom_kill 2\noom_group_kill 0\n"}, 2, true},
		"version 1": {map[string]string{"proc/self/cgroup": "3:memory:/job\n", g + "memory/job/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n"}, 1, true},
	} {
		files := fstest.MapFS{}
		for path, text := range c.files {
			files[path] = &fstest.MapFile{Data: []byte(text)}
		}
		if n, ok := kills(files); n != c.want || ok != c.ok {
			t.Errorf("%s: %d, %v", name, n, ok)
		}
	}
}

// step is one that asks a pool, in a test that goes by its order alone.
type step struct {
	give   func()
	begun  chan struct{}
	cancel func()
	err    error
	what   string
}

// ask begins a step, and returns when it has begun or waits.
func ask(t *testing.T, p *Pool, want Amount) *step {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &step{begun: make(chan struct{}), cancel: cancel}
	waits := make(chan struct{})
	go func() {
		s.give, s.err = p.Take(ctx, want, func(what string) {
			s.what = what
			close(waits)
		})
		close(s.begun)
	}()
	select {
	case <-s.begun:
	case <-waits:
	}
	return s
}

func (s *step) runs() bool {
	select {
	case <-s.begun:
		return s.err == nil
	default:
		return false
	}
}

// TestPool: steps run as long as they fit; a small one passes a large one that waits, eight
// do, and then the large one is next; what it does not lack is not kept from others.
func TestPool(t *testing.T) {
	p := NewPool(Amount{CPUs: 4, Memory: 100})
	first := ask(t, p, Amount{CPUs: 1, Memory: 60})
	second := ask(t, p, Amount{CPUs: 1, Memory: 60})
	if !first.runs() || second.runs() || second.what != "60 B of memory: running steps have 60% of 100 B" {
		t.Fatalf("two of 60 %%: %v, %v, %q", first.runs(), second.runs(), second.what)
	}
	for n := range 20 { // these take none of what it lacks
		s := ask(t, p, Amount{CPUs: 3})
		if !s.runs() {
			t.Fatalf("small step %d waits for a step that waits for memory alone", n)
		}
		s.give()
	}
	for n := range mostPassed + 1 {
		s := ask(t, p, Amount{CPUs: 1, Memory: 40})
		if passes := n < mostPassed; s.runs() != passes {
			t.Fatalf("step %d of 40 %% passes: %v", n, s.runs())
		}
		if s.runs() {
			s.give()
			continue
		}
		if s.what != "its turn: steps that came before it wait for the same" {
			t.Errorf("it waits for %q", s.what)
		}
		one := ask(t, p, Amount{CPUs: 2}) // one cpu is set aside for the second
		if other := ask(t, p, Amount{CPUs: 1}); !one.runs() || other.runs() {
			t.Errorf("beside what is set aside: %v, and of that: %v", one.runs(), other.runs())
		} else {
			other.cancel()
			<-other.begun
		}
		one.give()
		first.give()
		<-second.begun
		<-s.begun
		s.give()
	}
	second.give()
	if p.free != p.has || len(p.queue) != 0 {
		t.Errorf("left: %+v of %+v, %d wait", p.free, p.has, len(p.queue))
	}
}

// TestPoolCancelled: one that is cancelled while it waits keeps nothing, and whoever waited
// behind it begins.
func TestPoolCancelled(t *testing.T) {
	p := NewPool(Amount{CPUs: 2})
	runs := ask(t, p, Amount{CPUs: 1})
	large := ask(t, p, Amount{CPUs: 2})
	for range mostPassed {
		ask(t, p, Amount{CPUs: 1}).give()
	}
	small := ask(t, p, Amount{CPUs: 1})
	if large.runs() || small.runs() {
		t.Fatal("they do not fit")
	}
	large.cancel()
	<-large.begun
	<-small.begun
	if large.err == nil || small.err != nil {
		t.Fatal(large.err, small.err)
	}
	large.give()
	small.give()
	runs.give()
	runs.give() // gives once
	if p.free != p.has {
		t.Errorf("left: %+v", p.free)
	}
}

// TestLacks: what never fits is named, by what there is too little of.
func TestLacks(t *testing.T) {
	has := Amount{CPUs: 4, Memory: 23_400_000_000}
	for want, text := range map[Amount]string{
		{CPUs: 4, Memory: 23_400_000_000}: "",
		{CPUs: 1, Memory: 64_000_000_000}: "64 GB of memory, and it has 23 GB",
		{CPUs: 8, GPUs: 1}:                "8 cpus, 1 card, and it has 4 cpus, 0 cards",
	} {
		if got := has.Lacks(want, "it"); got != text {
			t.Errorf("%+v: %q", want, got)
		}
	}
	if got := fmt.Sprint(Amount{CPUs: 1, Memory: 12e9, GPUs: 2}); got != "1 cpu, 12 GB of memory, 2 cards" {
		t.Error(got)
	}
	var none *Pool
	give, err := none.Take(t.Context(), has, nil)
	give()
	if err != nil || none.Has() != (Amount{}) {
		t.Error(err)
	}
}
