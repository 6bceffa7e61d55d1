package simulate

import (
	"fmt"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
)

// drawScript is the schedule of a seed. In a fifth of them nothing goes wrong, and nobody does anything
// but run a pipeline.
func drawScript(seed draw) script {
	d := seed.of("script")
	s := script{Seed: seed, Pipeline: drawPipeline(seed), Servers: 1, Workers: 1 + d.of("workers").n(3)}
	s.Acts = []act{{At: time.Second, Do: "run", Edition: 1}}
	if d.of("calm").chance(0.2) {
		return s
	}
	if d.of("servers").chance(0.25) {
		s.Servers, s.Workers = 2, 1+d.of("workers").n(2)
	}
	s.Uneven = d.of("uneven").chance(0.2)
	s.Acts[0].FailFast, s.Acts[0].Killed = d.of("fail fast").chance(0.15), d.of("killed").chance(0.1)
	ends := time.Second + s.Pipeline.outcome("b0", 0).Took // of the first step, but for some tenths
	// about is a time at which something goes on, most likely: soon, or as one step ends and others begin.
	about := func(d draw) time.Duration {
		if d.of("near").chance(0.25) {
			return ends + d.of("at").span(0, time.Second)
		}
		return time.Second + d.of("at").span(0, []time.Duration{2 * time.Second, 10 * time.Second, time.Minute, 5 * time.Minute, 20 * time.Minute}[d.of("about").n(5)])
	}
	for _, what := range []struct {
		do   string
		most int
	}{{"run", 2}, {"cancel", 2}, {"gc", 2}, {"kill", 3}, {"stop", 3}, {"freeze", 1}} {
		for i := range d.of("how many", what.do).n(what.most + 1) {
			x := d.of(what.do, i)
			a := act{At: about(x), Do: what.do, Server: x.of("server").n(s.Servers), Number: x.of("number").n(s.Workers)}
			switch a.Do {
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
		f := fault{At: about(x), For: x.of("for").span(time.Second, 2*time.Minute), Rate: []float64{0.05, 0.2, 0.5}[x.of("rate").n(3)],
			What: []string{"outage", "outage", "slow", "throttle", "lost-answer", "stale-list", "damage", "lose-blob", "redeliver", "lose-task", "evict", "continue"}[x.of("what").n(12)]}
		switch f.What {
		case "outage": // in half of the cases, just as a step ends
			if f.Rate = 1; x.of("short").chance(0.5) {
				f.At, f.For = max(0, ends+x.of("end").span(-4*time.Second, time.Second)), x.of("for").span(5*time.Second, 20*time.Second)
			}
		case "continue":
			f.Rate = float64(20 + x.of("events").n(200))
		}
		s.Faults = append(s.Faults, f)
	}
	if d.of("continues").chance(0.2) {
		s.Faults = append(s.Faults, fault{For: longest, What: "continue", Rate: float64(20 + d.of("events").n(80))})
	}
	return s
}

// String is the script in words.
func (s script) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %d servers with %d workers each, of %d slots\n", uint64(s.Seed), s.Servers, s.Workers, slots)
	editions := 1
	for _, a := range s.Acts {
		fmt.Fprintf(&b, "  after %s: %s", a.At, a.Do)
		switch a.Do {
		case "run":
			editions = max(editions, a.Edition)
			fmt.Fprintf(&b, " edition %d on server %d, fail-fast %v, skip-failed %v", a.Edition, a.Server, a.FailFast, a.SkipFailed)
		case "cancel":
			fmt.Fprintf(&b, " run %d", a.Number)
		case "kill", "stop", "start", "freeze":
			fmt.Fprintf(&b, " worker %d.%d %s", a.Server, a.Number, strings.TrimPrefix(a.For.String(), "0s"))
		}
		b.WriteString("\n")
	}
	for _, f := range s.Faults {
		fmt.Fprintf(&b, "  after %s, for %s: %s (%g)\n", f.At, f.For, f.What, f.Rate)
	}
	for e := range editions {
		fmt.Fprintf(&b, "edition %d:\n%s", e+1, s.Pipeline.hcl(e+1))
	}
	return b.String()
}
