package simulate

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	seeds   = flag.Int("seeds", 300, "how many schedules to play")
	first   = flag.Int("first", 0, "the first seed")
	one     = flag.String("seed", "", "play this schedule alone, a seed or the name of a kept script, and print its history")
	keep    = flag.String("keep", "", "with -seed: the name by which the script is kept, made smaller, if it fails")
	tracing = flag.Bool("trace", false, "print all of its events")
	half    = flag.Int("half", -1, "of the seeds, that this process plays")
)

const (
	halves   = 2
	playing  = "playing seed " // begins a line of a half
	stillFor = 2 * time.Minute // that a half may take for a seed, by a real clock
)

// A kept script once failed. It stays as it is when draws change.
type kept struct {
	Story  string // what a user had of the fault
	Script script
}

func keptFile(name string) string { return filepath.Join("testdata", "kept", name+".json") }

// scheduled is the script of a seed, or the one that is kept by a name.
func scheduled(t *testing.T, name string) (k kept) {
	if seed, err := strconv.ParseUint(name, 10, 64); err == nil {
		return kept{Script: drawScript(draw(seed))}
	}
	b, err := os.ReadFile(keptFile(name))
	if err == nil {
		err = json.Unmarshal(b, &k)
	}
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// write keeps a script, without what is zero in it.
func (k kept) write(name string) error {
	b, err := json.Marshal(k)
	if err != nil {
		return err
	}
	for _, change := range [][2]string{{`"\w+":(?:0|""|false|null)(?:,|(}))`, `$1`}, {`,}`, `}`}, {`"(Pipeline|Acts|Faults|Blocks|Script)"|{"(At|Name)"`, "\n$0"}} {
		b = regexp.MustCompile(change[0]).ReplaceAll(b, []byte(change[1]))
	}
	return os.WriteFile(keptFile(name), append(b, '\n'), 0o600)
}

// TestSchedules plays schedules and judges them. Each half is played by a process of its own, with
// one thread: the SDK has one cache of workflows in a process, and one thread repeats best.
func TestSchedules(t *testing.T) {
	switch {
	case *one != "":
		s := scheduled(t, *one).Script
		out, tr := play(t, s, *tracing)
		said := judge(out)
		t.Logf("%s\n%s\nhash %x", s, strings.Join(tr.lines, "\n"), tr.whole())
		if len(said) == 0 {
			return
		}
		t.Error(strings.Join(said, "\n"))
		if *keep != "" {
			less, _ := shrink(t, *one, s, ruleOf(said[0]))
			if err := (kept{said[0], less}).write(*keep); err != nil {
				t.Error(err)
			}
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
	cmd.Env = oneThread()
	said, err := cmd.StdoutPipe()
	cmd.Stderr = cmd.Stdout
	if err = errors.Join(err, cmd.Start()); err != nil {
		t.Error(err)
		return
	}
	clock := time.AfterFunc(stillFor, stop)
	defer clock.Stop()
	why := regexp.MustCompile(`^goroutine .*\[(running|sync\.Mutex|sync\.RWMutex)`)
	at, words, matters := "", []string{}, true
	for lines := bufio.NewScanner(said); lines.Scan(); {
		line := lines.Text()
		if seed, ok := strings.CutPrefix(line, playing); ok {
			at = seed
			clock.Reset(stillFor)
			continue
		}
		if strings.HasPrefix(line, "goroutine ") { // of one that died: who panics, or waits for a mutex, tells why
			matters = why.MatchString(line)
		}
		if matters && len(words) < 1000 {
			words = append(words, line)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the last seed was %s\n%s", at, strings.Join(words, "\n"))
	}
}

// playHalf plays every other seed and kept script. The first that fails by a rule is made smaller, and told.
func playHalf(t *testing.T) {
	var names []string
	for i := range *seeds {
		names = append(names, strconv.Itoa(*first+i))
	}
	files, _ := filepath.Glob(keptFile("*"))
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".json"))
	}
	found := map[string]int{}
	for i := *half; i < len(names); i += halves {
		fmt.Println(playing + names[i])
		k := scheduled(t, names[i])
		out, _ := play(t, k.Script, false)
		for _, v := range judge(out) {
			rule := ruleOf(v)
			if found[rule]++; found[rule] > 1 {
				continue
			}
			less, plays := shrink(t, names[i], k.Script, rule)
			out, tr := play(t, less, false)
			t.Errorf("seed %s %s %s%s\n\nmade smaller by %d plays:\n%s\n%s\n%s", names[i], k.Story, breaks, v, plays, less, strings.Join(tr.lines, "\n"), strings.Join(judge(out), "\n"))
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(found)) {
		t.Logf("%s: %d times", rule, found[rule])
	}
}

// oneThread is the environment of a process that plays.
func oneThread() []string { return append(os.Environ(), "GOMAXPROCS=1", "GOGC=400") }

// ruleOf is the rule that a verdict is of.
func ruleOf(verdict string) string {
	rule, _, _ := strings.Cut(verdict, ":")
	return rule
}

// TestRepeats: a seed draws a schedule to the letter.
func TestRepeats(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for seed := range draw(20) {
		s := drawScript(seed)
		_, a := play(t, s, true)
		_, b := play(t, s, true)
		if a.whole() != b.whole() {
			i := 0
			for i < min(len(a.lines), len(b.lines))-1 && a.lines[i] == b.lines[i] {
				i++
			}
			t.Errorf("seed %d: two plays differ:\n%s\nor\n%s", uint64(seed), strings.Join(a.lines[max(0, i-3):i+1], "\n"), b.lines[i])
		}
	}
}
