package capacity

import (
	"context"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/redsi/redsi/internal/host/allocation"
	"github.com/redsi/redsi/internal/system/testkit"
)

const g = "sys/fs/cgroup/"

// system is a machine's file system with these files.
func system(texts map[string]string) fs.FS {
	files := fstest.MapFS{}
	for path, text := range texts {
		files[path] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

// TestMemory: the least of the machine, a process's control group and those around it counts,
// of either version; what is no limit is none.
func TestMemory(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"no control groups":    {map[string]string{"proc/meminfo": "MemFree: 1 kB\nMemTotal:   1000 kB\n"}, 1000 << 10},
		"nothing known":        {nil, Unknown},
		"version 2, no limits": {map[string]string{"proc/meminfo": "MemTotal: 1000 kB\n", "proc/self/cgroup": "0::/\n", g + "memory.max": "max\n"}, 1000 << 10},
		"version 2, around it": {map[string]string{"proc/meminfo": "MemTotal: 1000 kB\n", "proc/self/cgroup": "0::/job/step\n", g + "job/memory.max": "4096\n",
			g + "job/step/memory.max": "8192\n"}, 4096},
		"version 1": {map[string]string{"proc/meminfo": "MemTotal: 1000 kB\n", "proc/self/cgroup": "4:cpu,cpuacct:/docker/x\n3:memory:/docker/x\n1:name=systemd:/x\n",
			g + "memory/memory.limit_in_bytes": "5000\n"}, 5000},
		"version 1, with others": {map[string]string{"proc/meminfo": "MemTotal: 1000 kB\n", "proc/self/cgroup": "3:hugetlb,memory:/job\n",
			g + "memory/job/memory.limit_in_bytes": "5000\n"}, 5000},
		"version 1, no limits": {map[string]string{"proc/meminfo": "MemTotal: 1000 kB\n", "proc/self/cgroup": "3:memory:/\n",
			g + "memory/memory.limit_in_bytes": "9223372036854771712\n"}, 1000 << 10},
	} {
		testkit.Is(t, memory(system(c.files), 0), c.want, name)
	}
	if here := Here(); here.CPUs < 1 || here.Memory < 1 {
		t.Errorf("here: %+v", here)
	}
}

// TestLeast: of affinity, control groups and the batch job the least counts, and one processor is one.
func TestLeast(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		of    allocation.Allocation
		want  Amount
	}{
		"nothing said":        {nil, allocation.Allocation{}, Amount{CPUs: 8, Memory: 1 << 30}},
		"a job of one":        {nil, allocation.Allocation{CPUs: 1, Memory: 1 << 20, GPUs: 2}, Amount{1, 1 << 20, 2}},
		"a job of more":       {nil, allocation.Allocation{CPUs: 64, Memory: 1 << 40}, Amount{CPUs: 8, Memory: 1 << 30}},
		"half of a processor": {map[string]string{"proc/self/cgroup": "0::/pod\n", g + "pod/cpu.max": "50000 100000\n", g + "cpu.max": "max 100000\n"}, allocation.Allocation{CPUs: 4}, Amount{CPUs: 1, Memory: 1 << 30}},
		"version 1":           {map[string]string{"proc/self/cgroup": "4:cpu,cpuacct:/x\n", g + "cpu/x/cpu.cfs_quota_us": "250000\n", g + "cpu/x/cpu.cfs_period_us": "100000\n", g + "cpu/cpu.cfs_quota_us": "-1\n", g + "cpu/cpu.cfs_period_us": "100000\n"}, allocation.Allocation{}, Amount{CPUs: 3, Memory: 1 << 30}},
	} {
		testkit.Is(t, least(system(c.files), Amount{CPUs: 8, Memory: 1 << 30}, c.of), c.want, name)
	}
}

// TestKills: a control group's own count of kills for want of memory, of either version,
// else the machine's.
func TestKills(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nobody":    {nil, 0},
		"machine":   {map[string]string{"proc/self/cgroup": "0::/\n", "proc/vmstat": "nr_free 5\noom_kill 3\n"}, 3},
		"version 2": {map[string]string{"proc/self/cgroup": "0::/job\n", "proc/vmstat": "oom_kill 3\n", g + "job/memory.events": "oom 9\noom_kill 2\noom_group_kill 0\n"}, 2},
		"version 1": {map[string]string{"proc/self/cgroup": "3:memory:/job\n", g + "memory/job/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n"}, 1},
	} {
		testkit.Is(t, kills(system(c.files)), c.want, name)
	}
}

// step is one that asks a pool, in a test that goes by its order alone.
type step struct {
	cards  []int
	give   func()
	begun  chan struct{}
	cancel func()
	err    error
	what   string
}

// ask begins a step, and returns when it has begun or waits.
func ask(t *testing.T, p *Pool, want Amount) *step { return askCards(t, p, want, 0) }

// askCards is ask for an amount and some cards.
func askCards(t *testing.T, p *Pool, want Amount, many int, of ...int) *step {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &step{begun: make(chan struct{}), cancel: cancel}
	waits := make(chan struct{})
	go func() {
		s.cards, s.give, s.err = p.Take(ctx, Want{want, many, of}, func(what string) {
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

// TestPool: steps run as long as they fit, and what one that waits lacks is kept for it, but
// nothing else.
func TestPool(t *testing.T) {
	p := NewPool(Amount{CPUs: 4, Memory: 100}, Cards{})
	first := ask(t, p, Amount{CPUs: 1, Memory: 60})
	second := ask(t, p, Amount{CPUs: 1, Memory: 60})
	if !first.runs() || second.runs() || second.what != "60 B of memory, and beside the steps that run this worker has 40 B" {
		t.Fatalf("two of 60 %%: %v, %v, %q", first.runs(), second.runs(), second.what)
	}
	third := ask(t, p, Amount{CPUs: 1, Memory: 40})
	if third.runs() || third.what != "its turn: steps that came before it wait for the same" {
		t.Errorf("one of 40 %%: %v, %q", third.runs(), third.what)
	}
	one := ask(t, p, Amount{CPUs: 3})
	if !one.runs() {
		t.Error("a step without memory waits for those that lack only that")
	}
	fourth := ask(t, p, Amount{CPUs: 4})
	if other := ask(t, p, Amount{CPUs: 1}); other.runs() {
		t.Error("it passes one that waits for cpus")
	} else {
		other.cancel()
		<-other.begun
	}
	one.give()
	first.give()
	<-second.begun
	<-third.begun
	third.give()
	second.give()
	<-fourth.begun
	fourth.give()
	testkit.Is(t, p.free, p.has)
	testkit.Is(t, len(p.queue), 0)
}

// TestPoolCancelled: one that is cancelled while it waits keeps nothing, and whoever waited
// behind it begins.
func TestPoolCancelled(t *testing.T) {
	p := NewPool(Amount{CPUs: 2}, Cards{})
	runs := ask(t, p, Amount{CPUs: 1})
	large := ask(t, p, Amount{CPUs: 2})
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
	testkit.Is(t, p.free, p.has, "left")
}

// TestCards: each step has a card of its own; who finds none free waits its turn, and who waits for a
// certain one keeps nobody from the others. With more slots than cards steps share them, the least
// used one first.
func TestCards(t *testing.T) {
	p, no := NewPool(Amount{}, Cards{}), Amount{}
	first, second := askCards(t, p, no, 1, 0, 2), askCards(t, p, no, 1, 0, 2)
	if !slices.Equal(first.cards, []int{0}) || !slices.Equal(second.cards, []int{2}) {
		t.Fatal(first.cards, second.cards)
	}
	named, third := askCards(t, p, no, 1, 2), askCards(t, p, no, 1, 0, 2)
	testkit.Is(t, named.what, "1 card, and steps that came before it have them")
	first.give()
	if <-third.begun; !slices.Equal(third.cards, []int{0}) {
		t.Error(third.cards)
	}
	second.give()
	if <-named.begun; !slices.Equal(named.cards, []int{2}) || p.busy[0] != 1 || p.busy[2] != 1 {
		t.Error(named.cards, p.busy)
	}
	two := NewPool(no, Cards{Each: 2})
	var got []int
	for range 4 {
		got = append(got, askCards(t, two, no, 1, 4, 5).cards...)
	}
	testkit.That(t, slices.Equal(got, []int{4, 5, 4, 5}) && !askCards(t, two, no, 1, 4, 5).runs(), got)
}

// TestSeveralCards: a program gets all its cards at once, beside the amount; a stream of steps that
// need one does not keep it from them, and one that waits for an amount keeps no card.
func TestSeveralCards(t *testing.T) {
	p, no := NewPool(Amount{CPUs: 1}, Cards{}), Amount{}
	one := askCards(t, p, no, 1, 0, 1)
	both := askCards(t, p, no, 2, 0, 1)
	next := askCards(t, p, no, 1, 0, 1)
	if both.runs() || next.runs() {
		t.Fatal("it takes the card that a program of two waits for")
	}
	one.give()
	<-both.begun
	if len(both.cards) != 2 || next.runs() {
		t.Fatal(both.cards)
	}
	both.give()
	<-next.begun
	cpu := ask(t, p, Amount{CPUs: 1})
	program := askCards(t, p, Amount{CPUs: 1}, 2, 0, 1)
	if step := askCards(t, p, no, 1, 0, 1); !step.runs() { // as cpu may ask for one before it ends
		t.Error("a program that waits for a cpu keeps a card")
	} else {
		step.give()
	}
	cpu.give()
	next.give()
	<-program.begun
	cancelled := askCards(t, p, no, 2, 0, 1)
	cancelled.cancel()
	<-cancelled.begun
	program.give()
	if p.free != p.has || p.busy[0] != 0 || p.busy[1] != 0 || len(p.queue) != 0 {
		t.Errorf("left: %+v, cards %v, %d wait", p.free, p.busy, len(p.queue))
	}
	if _, _, err := p.Take(t.Context(), Want{Many: 3, Of: []int{0, 1}}, nil); err == nil {
		t.Error("it has three cards of two")
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
		testkit.Is(t, has.Lacks(want, "it"), text, want)
	}
	var none *Pool
	_, give, err := none.Take(t.Context(), Want{Amount: has}, nil)
	give()
	testkit.None(t, err)
	testkit.Is(t, none.Has().Lacks(Amount{1 << 20, 1 << 60, 8}, ""), "")
}
