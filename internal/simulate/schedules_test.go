package simulate

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"
)

var (
	seeds   = flag.Int("seeds", 300, "how many schedules to play")
	first   = flag.Uint64("first", 0, "the first seed")
	one     = flag.Int64("seed", -1, "play this schedule alone, and print its history")
	tracing = flag.Bool("trace", false, "print all events of the schedule of -seed")
)

// drawScript is the schedule of a seed.
func drawScript(seed draw) script {
	d := seed.of("script")
	s := script{Seed: seed, Pipeline: drawPipeline(seed), Servers: 1, Workers: 1 + d.of("workers").n(3)}
	run := act{At: time.Second, Do: "run", Edition: 1}
	s.Acts = []act{run}
	if d.of("calm").chance(0.2) {
		return s
	}
	if d.of("servers").chance(0.25) {
		s.Servers, s.Workers = 2, 1+d.of("workers").n(2)
	}
	s.Acts[0].FailFast = d.of("fail fast").chance(0.15)
	// when is a time at which something goes on, most likely.
	when := func(what string, i int) time.Duration {
		x := d.of("at", what, i)
		return x.of("at").span(0, []time.Duration{10 * time.Second, time.Minute, 5 * time.Minute, 20 * time.Minute}[x.of("about").n(4)])
	}
	for i := range d.of("runs").n(3) {
		x := d.of("run", i)
		s.Acts = append(s.Acts, act{At: time.Second + when("run", i), Do: "run", Server: x.of("server").n(s.Servers), Edition: 1 + x.of("edition").n(2),
			FailFast: x.of("fail fast").chance(0.15), SkipFailed: x.of("skip").chance(0.3)})
	}
	for _, a := range []struct {
		do   string
		most int
	}{{"cancel", 2}, {"gc", 2}, {"kill", 3}, {"stop", 3}} {
		for i := range d.of("how many", a.do).n(a.most + 1) {
			x := d.of(a.do, i)
			at := when(a.do, i)
			y := act{At: at, Do: a.do, Server: x.of("server").n(s.Servers), Number: x.of("number").n(max(s.Workers, len(s.Acts)))}
			if a.do == "kill" || a.do == "stop" { // it comes again, some time
				y.Number %= s.Workers
				s.Acts = append(s.Acts, act{At: at + x.of("again").span(0, 3*time.Minute), Do: "start", Server: y.Server, Number: y.Number})
			}
			s.Acts = append(s.Acts, y)
		}
	}
	for i := range d.of("faults").n(4) {
		x := d.of("fault", i)
		s.Faults = append(s.Faults, drawFault(x, when("fault", i)))
	}
	return s
}

func drawFault(d draw, at time.Duration) fault {
	f := fault{At: at, For: d.of("for").span(time.Second, 2*time.Minute), Rate: []float64{0.05, 0.2, 0.5}[d.of("rate").n(3)],
		What: []string{"outage", "outage", "slow", "throttle", "lost-answer", "stale-list", "damage", "lose-blob", "redeliver", "lose-task", "evict", "continue"}[d.of("what").n(12)]}
	switch f.What {
	case "outage":
		if f.Rate = 1; d.of("ten").chance(0.3) {
			f.For = 10 * time.Second
		}
	case "continue":
		f.Rate = float64(20 + d.of("events").n(200))
	}
	return f
}

// String is the script in words.
func (s script) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %d servers with %d workers each, of %d slots\n", uint64(s.Seed), s.Servers, s.Workers, slots)
	for _, a := range s.Acts {
		fmt.Fprintf(&b, "  after %s: %s", a.At, a.Do)
		switch a.Do {
		case "run":
			fmt.Fprintf(&b, " edition %d on server %d", a.Edition, a.Server)
			if a.FailFast {
				b.WriteString(" --fail-fast")
			}
			if a.SkipFailed {
				b.WriteString(" --skip-failed")
			}
		case "cancel":
			fmt.Fprintf(&b, " run %d", a.Number)
		case "kill", "stop", "start":
			fmt.Fprintf(&b, " worker %d.%d", a.Server, a.Number)
		}
		b.WriteString("\n")
	}
	for _, f := range s.Faults {
		fmt.Fprintf(&b, "  after %s, for %s: %s (%g)\n", f.At, f.For, f.What, f.Rate)
	}
	editions := 1
	for _, a := range s.Acts {
		editions = max(editions, a.Edition)
	}
	for e := range editions {
		fmt.Fprintf(&b, "edition %d:\n%s\n", e+1, s.Pipeline.hcl(e+1))
	}
	return b.String()
}

func TestOne(t *testing.T) {
	if *one < 0 {
		t.Skip("for -seed")
	}
	s := drawScript(draw(*one))
	began := time.Now()
	out, tr := play(t, s, *tracing)
	t.Logf("%s\n%s\n%d events, hash %x, %s", s, tr.text(), tr.n, tr.whole(), time.Since(began))
	t.Log(out.stuck, out.leases, out.open, out.troubles, out.longest)
}
