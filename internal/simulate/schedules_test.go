package simulate

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	seeds   = flag.Int("seeds", 300, "how many schedules to play")
	first   = flag.Uint64("first", 0, "the first seed")
	one     = flag.Int64("seed", -1, "play this schedule alone, and print its history")
	half    = flag.Int("half", -1, "of the seeds, that this process plays")
	from    = flag.Int("from", 0, "the first of them")
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

// kept are seeds that once failed, each with what it showed.
var kept = []struct {
	seed  draw
	story string
}{}

// TestSchedules plays schedules and judges them. Each half is played by a process of its own, with
// one thread: the SDK's clients keep one cache of workflows in a process, and one thread repeats best.
// A half that dies, or stands still outside of virtual time, is told by its last seed.
func TestSchedules(t *testing.T) {
	switch {
	case *one >= 0:
		tell(t, drawScript(draw(*one)))
	case *half >= 0:
		playHalf(t)
	default:
		var all sync.WaitGroup
		for h := range halves {
			all.Go(func() { supervise(t, h) })
		}
		all.Wait()
	}
}

// tell plays a script, and prints its history.
func tell(t *testing.T, s script) {
	out, tr := play(t, s, *tracing)
	t.Logf("%s\n%s\n%d events, hash %x", s, tr.text(), tr.n, tr.whole())
	for _, v := range judge(out) {
		t.Error(v)
	}
}

const (
	halves   = 2
	playing  = "playing seed " // begins a line of a half
	stillFor = 2 * time.Minute // of one seed, by a real clock
)

// supervise has a half played by another process, and again from where it died.
func supervise(t *testing.T, h int) {
	for from := 0; from < *seeds; {
		ctx, stop := context.WithCancel(context.Background())
		cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestSchedules$", "-test.timeout=0", fmt.Sprintf("-half=%d", h), fmt.Sprintf("-from=%d", from),
			fmt.Sprintf("-seeds=%d", *seeds), fmt.Sprintf("-first=%d", *first))
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=400")
		said, err := cmd.StdoutPipe()
		cmd.Stderr = cmd.Stdout
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Error(err)
			stop()
			return
		}
		clock := time.AfterFunc(stillFor, stop)
		at, failed, words, report := 0, false, []string{}, []string{}
		for lines := bufio.NewScanner(said); lines.Scan(); {
			line := lines.Text()
			if n, ok := strings.CutPrefix(line, playing); ok {
				at, _ = strconv.Atoi(n)
				clock.Reset(stillFor)
				words = words[:0]
				continue
			}
			failed = failed || strings.HasPrefix(line, "--- FAIL")
			if len(words) < 500 {
				words = append(words, line)
			}
			if told, is := strings.CutPrefix(line, "\t"); is {
				report = append(report, told)
			}
		}
		if len(report) > 0 {
			t.Log(strings.Join(report, "\n"))
		}
		err = cmd.Wait()
		clock.Stop()
		stop()
		if err == nil {
			return
		}
		t.Fail()
		if failed { // it has said by what
			return
		}
		t.Errorf("the process that played seed %d ended with %v:\n%s", *first+uint64(at), err, strings.Join(words, "\n"))
		from = at + 1
	}
}

// playHalf plays every other seed. The first that fails by a rule is made smaller, and told.
func playHalf(t *testing.T) {
	found := map[string]int{}
	try := func(i int, seed draw, story string) {
		fmt.Println(playing + strconv.Itoa(i))
		s := drawScript(seed)
		out, _ := play(t, s, false)
		for _, v := range judge(out) {
			rule := ruleOf(v)
			if found[rule]++; found[rule] > 1 {
				continue
			}
			less, plays := shrink(t, s, rule)
			out, tr := play(t, less, false)
			report := fmt.Sprintf("seed %d %s breaks a promise: %s\n\nafter %d plays:\n%s\n%s\n%s", uint64(seed), story, v, plays, less, tr.text(), strings.Join(judge(out), "\n"))
			fmt.Println("\t" + strings.ReplaceAll(report, "\n", "\n\t"))
			t.Fail()
		}
	}
	for i := *from; i < *seeds; i++ {
		if i%halves == *half {
			try(i, draw(*first)+draw(i), "")
		}
	}
	if *half == 0 {
		for _, k := range kept {
			try(*seeds-1, k.seed, "("+k.story+")")
		}
	}
	for rule, n := range found {
		fmt.Printf("\t%s: %d times\n", rule, n)
	}
}

// ruleOf is the rule that a verdict is of.
func ruleOf(verdict string) string {
	rule, _, _ := strings.Cut(verdict, ":")
	return rule
}

// TestRepeats: a seed draws a schedule to the letter.
func TestRepeats(t *testing.T) {
	for i := range draw(20) {
		s := drawScript(i)
		_, first := play(t, s, true)
		_, second := play(t, s, true)
		if first.whole() != second.whole() {
			t.Errorf("seed %d: two plays differ: %s", uint64(i), difference(first, second))
		}
	}
}

// difference is where two traces part.
func difference(a, b *trace) string {
	for i, line := range a.lines {
		if i >= len(b.lines) || b.lines[i] != line {
			return strings.Join(a.lines[max(0, i-3):i+1], "\n") + "\nor\n" + strings.Join(b.lines[i:min(i+1, len(b.lines))], "\n")
		}
	}
	return "only what has no order"
}
