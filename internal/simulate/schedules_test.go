package simulate

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	seeds   = flag.Int("seeds", 300, "how many schedules to play")
	first   = flag.Int("first", 0, "the first seed")
	one     = flag.Int("seed", -1, "play this schedule alone, and print its history")
	tracing = flag.Bool("trace", false, "print all of its events")
	half    = flag.Int("half", -1, "of the seeds, that this process plays")
)

// kept are seeds that once failed, each with what it showed.
var kept = map[int]string{}

const (
	halves   = 2
	playing  = "playing seed " // begins a line of a half
	stillFor = 2 * time.Minute // that a half may take for a seed, by a real clock
)

// TestSchedules plays schedules and judges them. Each half is played by a process of its own, with
// one thread: the SDK has one cache of workflows in a process, and one thread repeats best.
func TestSchedules(t *testing.T) {
	switch {
	case *one >= 0:
		s := drawScript(draw(*one))
		out, tr := play(t, s, *tracing)
		t.Logf("%s\n%s\nhash %x", s, strings.Join(tr.lines, "\n"), tr.whole())
		for _, v := range judge(out) {
			t.Error(v)
		}
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

// supervise has a half played by another process. One that dies, or stands still outside of virtual
// time, is told by its last seed.
func supervise(t *testing.T, h int) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestSchedules$", "-test.timeout=0", fmt.Sprintf("-half=%d", h), fmt.Sprintf("-seeds=%d", *seeds), fmt.Sprintf("-first=%d", *first))
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=400")
	said, err := cmd.StdoutPipe()
	cmd.Stderr = cmd.Stdout
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	clock := time.AfterFunc(stillFor, stop)
	defer clock.Stop()
	at, words, matters := "", []string{}, true
	for lines := bufio.NewScanner(said); lines.Scan(); {
		if seed, ok := strings.CutPrefix(lines.Text(), playing); ok {
			at = seed
			clock.Reset(stillFor)
			continue
		}
		if strings.HasPrefix(lines.Text(), "goroutine ") { // of one that died: who panics, or waits for a mutex, tells why
			matters = strings.Contains(lines.Text(), "[running") || strings.Contains(lines.Text(), "[sync.Mutex") || strings.Contains(lines.Text(), "[sync.RWMutex")
		}
		if matters && len(words) < 1000 {
			words = append(words, lines.Text())
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the last seed was %s\n%s", at, strings.Join(words, "\n"))
	}
}

// playHalf plays every other seed. The first that fails by a rule is made smaller, and told.
func playHalf(t *testing.T) {
	found := map[string]int{}
	try := func(seed int) {
		fmt.Println(playing, seed)
		out, _ := play(t, drawScript(draw(seed)), false)
		for _, v := range judge(out) {
			rule := ruleOf(v)
			if found[rule]++; found[rule] > 1 {
				continue
			}
			less, plays := shrink(t, out.script, rule)
			out, tr := play(t, less, false)
			t.Errorf("seed %d %s breaks a promise: %s\n\nmade smaller by %d plays:\n%s\n%s\n%s", seed, kept[seed], v, plays, less, strings.Join(tr.lines, "\n"), strings.Join(judge(out), "\n"))
		}
	}
	for i := *half; i < *seeds; i += halves {
		try(*first + i)
	}
	for seed := range kept {
		if seed%halves == *half {
			try(seed)
		}
	}
	for rule, n := range found {
		t.Logf("%s: %d times", rule, n)
	}
}

// ruleOf is the rule that a verdict is of.
func ruleOf(verdict string) string {
	rule, _, _ := strings.Cut(verdict, ":")
	return rule
}

// TestRepeats: a seed draws a schedule to the letter.
func TestRepeats(t *testing.T) {
	for seed := range draw(20) {
		s := drawScript(seed)
		_, a := play(t, s, true)
		_, b := play(t, s, true)
		if a.whole() != b.whole() {
			t.Errorf("seed %d: two plays differ: %s", uint64(seed), difference(a.lines, b.lines))
		}
	}
}

// difference is where two traces part.
func difference(a, b []string) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return strings.Join(a[max(0, i-3):i+1], "\n") + "\nor\n" + b[i]
		}
	}
	return "one is longer"
}
