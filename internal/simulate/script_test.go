package simulate

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
)

// A script is a schedule before it happens: a value, so that one that fails can be made smaller and done again.
type script struct {
	Seed     draw
	Pipeline pipelineScript
	Servers  int  // Temporal servers, 1 or 2: runs of the second share only the store with the others
	Workers  int  // processes of each at the start
	Uneven   bool // all but the first have room for 1 CPU and 1 GB
	Acts     []act
	Faults   []fault
}

// An act is what somebody does at a time after the start.
type act struct {
	At, For              time.Duration // for: of freeze; of gc, its grace
	Do                   string        // run, cancel, gc, kill, stop, start, freeze
	Server, Number       int           // of a run, from 0, among the runs of the script; of a process, likewise
	Edition              int           // of the pipeline: the same steps with some others
	FailFast, SkipFailed bool          // the second: leave out what failed for good before
	Killed               bool          // a run of the same plan was killed for good before
}

// A fault is what happens to a store, or to answers of a server, for a while.
type fault struct {
	At, For time.Duration
	What    string  // outage, slow, throttle, lost-answer, stale-list (store); redeliver, lose-task, continue (server)
	Rate    float64 // of calls
}

// drawScript is the schedule of a seed. In a fifth of them nothing goes wrong, and nobody does anything but run a pipeline.
func drawScript(seed draw) script {
	d := seed.of("script")
	s := script{Seed: seed, Pipeline: drawPipeline(seed), Servers: 1, Workers: 1 + d.of("workers").n(3)}
	s.Acts = []act{{At: time.Second, Do: "run", Edition: 1}}
	if d.of("continues").chance(0.2) {
		s.Faults = append(s.Faults, fault{For: longest, What: "continue", Rate: float64(20 + d.of("events").n(80))})
	}
	if d.of("calm").chance(0.2) {
		return s
	}
	if d.of("servers").chance(0.25) {
		s.Servers, s.Workers = 2, 1+d.of("workers").n(2)
	}
	s.Uneven, s.Acts[0].FailFast, s.Acts[0].Killed = d.of("uneven").chance(0.2), d.of("fail fast").chance(0.15), d.of("killed").chance(0.1)
	ends := time.Second + s.Pipeline.outcome("b0", 0).Took // of the first step, but for some tenths
	// about is a time at which something goes on, most likely: soon, or as one step ends and others begin.
	about := func(d draw) time.Duration {
		if d.of("near").chance(0.25) {
			return ends + d.of("at").span(0, time.Second)
		}
		return time.Second + d.of("at").span(0, []time.Duration{2 * time.Second, 10 * time.Second, time.Minute, 5 * time.Minute, 20 * time.Minute}[d.of("about").n(5)])
	}
	for _, do := range []string{"run", "cancel", "gc", "kill", "stop", "freeze"} {
		most := map[string]int{"kill": 3, "stop": 3, "freeze": 1}[do]
		for i := range d.of("how many", do).n(cmp.Or(most, 2) + 1) {
			x := d.of(do, i)
			a := act{At: about(x), Do: do, Server: x.of("server").n(s.Servers), Number: x.of("number").n(s.Workers)}
			switch do {
			case "run":
				a.Edition, a.FailFast, a.SkipFailed, a.Number = 1+x.of("edition").n(2), x.of("fail fast").chance(0.15), x.of("skip").chance(0.3), 0
				if d.of("together").chance(0.3) {
					a.At = time.Second + x.of("together").span(0, time.Second)
				}
			case "cancel":
				a.Server, a.Number = 0, x.of("number").n(3)
			case "gc":
				a.For = []time.Duration{x.of("short").span(time.Second, time.Minute), x.of("grace").span(10*time.Minute, time.Hour), artifacts.DefaultGrace}[x.of("graces").n(3)]
			case "freeze":
				a.For = x.of("for").span(time.Second, 2*time.Minute)
			case "kill", "stop": // it comes again, some time
				s.Acts = append(s.Acts, act{At: a.At + x.of("again").span(0, 3*time.Minute), Do: "start", Server: a.Server, Number: a.Number})
			}
			s.Acts = append(s.Acts, a)
		}
	}
	for i := range d.of("faults").n(4) {
		x := d.of("fault", i)
		what := []string{"outage", "outage", "slow", "throttle", "lost-answer", "stale-list", "damage", "lose-blob", "redeliver", "lose-task", "evict", "continue"}
		f := fault{At: about(x), For: x.of("for").span(time.Second, 2*time.Minute), What: what[x.of("what").n(12)], Rate: []float64{0.05, 0.2, 0.5}[x.of("rate").n(3)]}
		if f.What == "continue" {
			f.Rate = float64(20 + x.of("events").n(200))
		} else if f.What == "outage" {
			if f.Rate = 1; x.of("short").chance(0.5) { // just as a step ends
				f.At, f.For = max(0, ends+x.of("end").span(-4*time.Second, time.Second)), x.of("for").span(5*time.Second, 20*time.Second)
			}
		}
		s.Faults = append(s.Faults, f)
	}
	return s
}

// String is the script in words, without what is zero in it.
func (s script) String() string {
	words := fmt.Sprintf("seed %d: %d servers with %d workers each, of %d slots\n  %+v\n  %+v\n", uint64(s.Seed), s.Servers, s.Workers, slots, s.Acts, s.Faults)
	words = strings.ReplaceAll(regexp.MustCompile(` \w+:(0s|0|false)\b`).ReplaceAllString(words, ""), "} {", "}\n   {")
	for e := range slices.MaxFunc(s.Acts, func(a, b act) int { return a.Edition - b.Edition }).Edition {
		words += fmt.Sprintf("edition %d:\n%s", e+1, s.Pipeline.hcl(e+1))
	}
	return words
}

// smaller are scripts with one thing less, the largest things first.
func (s script) smaller() (all []script) {
	with := func(change func(*script)) {
		less := s
		less.Acts, less.Faults = slices.Clone(s.Acts), slices.Clone(s.Faults)
		if change(&less); !reflect.DeepEqual(less, s) {
			all = append(all, less)
		}
	}
	with(func(less *script) {
		less.Servers = 1
		for i := range less.Acts {
			less.Acts[i].Server = 0
		}
	})
	for i, a := range s.Acts {
		if a.Do != "start" || !slices.ContainsFunc(s.Acts, func(b act) bool { // else a process is gone for good
			return (b.Do == "kill" || b.Do == "stop") && b.Server == a.Server && b.Number == a.Number
		}) {
			with(func(less *script) { less.drop(i) })
		}
	}
	for i := range s.Faults {
		with(func(less *script) { less.Faults = slices.Delete(less.Faults, i, i+1) })
	}
	with(func(less *script) { less.Uneven = false })
	with(func(less *script) { less.Workers = max(1, s.Workers-1) })
	for _, p := range s.Pipeline.smaller() {
		with(func(less *script) { less.Pipeline = p })
	}
	for i := range s.Acts {
		with(func(less *script) { less.Acts[i].FailFast = false })
		with(func(less *script) { less.Acts[i].SkipFailed = false })
		with(func(less *script) { less.Acts[i].Killed = false })
		with(func(less *script) { less.Acts[i].Edition = min(s.Acts[i].Edition, 1) })
	}
	return slices.DeleteFunc(all, func(less script) bool {
		return !slices.ContainsFunc(less.Acts, func(a act) bool { return a.Do == "run" })
	})
}

// drop takes an act out; of a run, also what is done to it.
func (s *script) drop(i int) {
	number, run := 0, s.Acts[i].Do == "run"
	for _, a := range s.Acts[:i] {
		if a.Do == "run" {
			number++
		}
	}
	s.Acts = slices.DeleteFunc(slices.Delete(s.Acts, i, i+1), func(a act) bool { return run && a.Do == "cancel" && a.Number == number })
	for j := range s.Acts {
		if a := &s.Acts[j]; run && a.Do == "cancel" && a.Number > number {
			a.Number--
		}
	}
}

// A draw is where all chance comes from. What is drawn for a name depends on the seed and the
// name alone: not on what was drawn before, nor on which goroutine asks first, so a schedule
// from which a step or a fault was removed has the rest as it was.
type draw uint64

// of is the draw of a name, such as "latency", "results/ab12", 3.
func (d draw) of(names ...any) draw {
	h := fnv.New64a()
	fmt.Fprint(h, uint64(d))
	for _, n := range names {
		fmt.Fprint(h, "\x00", n)
	}
	x := h.Sum64() // mixed as splitmix64 does
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return draw(x ^ x>>31)
}

// n is one of 0 … most-1.
func (d draw) n(most int) int { return int(uint64(d) >> 1 % uint64(most)) }

// chance is true in so many of 1.
func (d draw) chance(of float64) bool { return float64(uint64(d)>>11)/(1<<53) < of }

// span is a time from least on, below most, to the nanosecond: no two events fall together.
func (d draw) span(least, most time.Duration) time.Duration {
	return least + time.Duration(d.n(int(most-least)))
}
