package simulate

import (
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
	mutant  = flag.Bool("mutant", false, "with -half: play all seeds until one fails")
)

const (
	halves      = 2
	playing     = "playing seed "      // begins a line of a half
	breaks      = "breaks a promise: " // comes before what a schedule does not hold
	stillFor    = 2 * time.Minute      // that a play may take, by a real clock
	mostHeap    = 4 << 30              // bytes of this process
	shrinkPlays = 300                  // by which a script is made smaller, at most
)

// A kept script once failed. It stays as it is when draws change.
type kept struct {
	Story  string // what a user had of the fault
	Script script
}

func keptFile(name string) string { return filepath.Join("testdata", "kept", name+".json") }

// names are the seeds and kept scripts that this process plays: none where others do.
func names() (mine []string) {
	if *one != "" {
		return []string{*one}
	}
	var all []string
	for i := range *seeds {
		all = append(all, strconv.Itoa(*first+i))
	}
	if *mutant {
		return all
	}
	files, _ := filepath.Glob(keptFile("*"))
	for i, name := range append(all, files...) {
		if i/2%halves == *half { // a draw of even ones may be unlike that of odd ones
			mine = append(mine, strings.TrimSuffix(filepath.Base(name), ".json"))
		}
	}
	return mine
}

// TestSchedules plays schedules and judges them. The first that fails by a rule is made smaller, and told. Each half is played by a
// process of its own, with one thread: the SDK has one cache of workflows in a process, and one thread repeats best.
func TestSchedules(t *testing.T) {
	var all sync.WaitGroup
	for h := range halves {
		if *one == "" && *half < 0 {
			all.Go(func() {
				seed, said, err := elsewhere(os.Args[0], fmt.Sprintf("-half=%d", h), fmt.Sprintf("-seeds=%d", *seeds), fmt.Sprintf("-first=%d", *first))
				if err != nil {
					t.Errorf("%v: the last seed was %s\n%s", err, seed, said[:min(len(said), 100<<10)])
				}
			})
		}
	}
	all.Wait()
	found := map[string]int{}
	for _, name := range names() {
		k := kept{}
		if seed, err := strconv.ParseUint(name, 10, 64); err == nil {
			k.Script = drawScript(draw(seed))
		} else if b, err := os.ReadFile(keptFile(name)); err != nil || json.Unmarshal(b, &k) != nil {
			t.Fatalf("no script is kept as %s: %v", name, err)
		}
		said, tr := tried(t, name, k.Script)
		if *one != "" {
			t.Logf("%s\n%s\nhash %x", k.Script, strings.Join(tr.lines, "\n"), tr.hashOfAll())
		}
		if len(said) > 0 && (*mutant || *one != "" && *keep == "") {
			t.Fatal(breaks + strings.Join(said, "\n"))
		}
		for _, v := range said {
			rule := ruleOf(v)
			if found[rule]++; found[rule] > 1 {
				continue
			}
			less, plays := shrink(t, name, k.Script, rule)
			said, tr := tried(t, name, less)
			t.Errorf("seed %s %s %s%s\n\nmade smaller by %d plays:\n%s\n%s\n%s",
				name, k.Story, breaks, v, plays, less, strings.Join(tr.lines, "\n"), strings.Join(said, "\n"))
			if *keep != "" && len(found) == 1 { // without what is zero in it
				b, err := json.Marshal(kept{v, less})
				for _, change := range [][2]string{{`"\w+":(?:0|""|false|null)(?:,|(}))`, `$1`}, {`,}`, `}`}, {`"(Pipeline|Acts|Faults|Blocks|Script)"|{"(At|Name)"`, "\n$0"}} {
					b = regexp.MustCompile(change[0]).ReplaceAll(b, []byte(change[1]))
				}
				t.Log(errors.Join(err, os.WriteFile(keptFile(*keep), append(b, '\n'), 0o600)))
			}
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(found)) {
		t.Logf("%s: %d times", rule, found[rule])
	}
}

// elsewhere has a process of its own play: its last seed, and what it said after that.
func elsewhere(program string, args ...string) (seed, said string, err error) {
	cmd := exec.Command(program, append(args, "-test.run=^TestSchedules$", "-test.timeout=0")...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=400")
	out, err := cmd.CombinedOutput()
	text := playing + "none\n" + string(out)
	seed, said, _ = strings.Cut(text[strings.LastIndex(text, playing)+len(playing):], "\n")
	return seed, said, err
}

// tried plays a script and says what it breaks.
func tried(t *testing.T, name string, s script) ([]string, *trace) {
	fmt.Println(playing + name)
	over := make(chan struct{})
	defer close(over)
	go func() {
		var m runtime.MemStats
		for range int(stillFor / time.Second) {
			select {
			case <-over:
				return
			case <-time.After(time.Second):
			}
			if runtime.ReadMemStats(&m); m.HeapAlloc > mostHeap {
				panic(breaks + "growth: of this process")
			}
		}
		panic(breaks + "stands still: by a real clock")
	}()
	out, tr := play(t, s, *tracing)
	return judge(out), tr
}

// shrink makes a script smaller as long as it fails by a rule.
func shrink(t *testing.T, name string, s script, rule string) (_ script, plays int) {
	fails := func(less script) bool {
		if plays++; plays > shrinkPlays {
			return false
		}
		said, _ := tried(t, name, less)
		return slices.ContainsFunc(said, func(v string) bool { return ruleOf(v) == rule })
	}
	for all := s.smaller(); ; all = s.smaller() {
		i := slices.IndexFunc(all, fails)
		if i < 0 {
			return s, plays
		}
		s = all[i]
	}
}

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
		if a.hashOfAll() != b.hashOfAll() {
			for a.lines = append(a.lines, "the end"); len(b.lines) > 0 && a.lines[0] == b.lines[0]; {
				a.lines, b.lines = a.lines[1:], b.lines[1:]
			}
			t.Errorf("seed %d: two plays differ: %s, or %s", uint64(seed), a.lines[0], append(b.lines, "the end")[0])
		}
	}
}
