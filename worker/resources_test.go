package worker_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/worker"
	"github.com/redsi/redsi/workflows"
)

// little is the machine that these tests are about.
var little = worker.Options{Cores: 3, Memory: 100, Cards: []int{0, 1}}

// roomy is a bench whose worker has that, and does two steps at a time.
func roomy(t *testing.T, onlyWorker bool) *bench {
	t.Helper()
	b := idleBench(t, 2)
	b.waiting = make(chan string, 100)
	a := b.activities()
	a.OnlyWorker = onlyWorker
	b.startWorkerWith(a, little)
	return b
}

// TestNeverTogether: of two steps with 60 % of the memory one waits, in a slot that it keeps
// from nobody, also in a batch. Nothing of what they ask for is in a key.
func TestNeverTogether(t *testing.T) {
	b := roomy(t, true)
	src := `
step "text" "large" {
  text = "large"
  hold = true
  resources { memory = "60B" }
}
step "short" "other" {
  text = "other"
  hold = true
  resources {
    memory = "60B"
    cpus   = 2
  }
}
step "text" "small" {
  text = "small"
}
step "text" "cards" {
  text = "cards"
  resources {
    gpus  = 2
    queue = "cpu"
  }
}
`
	w := b.start(src, "1")
	first, second := b.next(), "other"
	if first == second {
		second = "large"
	}
	testkit.Is(t, <-b.waiting, t.Name(), "one waits of queue")
	b.awaitState(func(s workflows.State) bool { return s.Counts[runs.Ran] == 2 }, w)
	if n := b.count(second); n != 0 {
		t.Fatalf("%s and %s run together", first, second)
	}
	b.hold <- struct{}{}
	b.says(second)
	b.hold <- struct{}{}
	b.ends(w, 4)
	for text, want := range map[string]step.Granted{"large": {Memory: 60}, "other": {CPUs: 2, Memory: 60}, "small": {}, "cards": {Cards: "0,1"}} {
		if got, _ := b.gave.Load(text); got != want {
			t.Errorf("%s was given %+v, want %+v", text, got, want)
		}
	}
	testkit.Is(t, b.result(src, "step.short.other").Env[step.NotePrefix+"cpus"], "2", "its result says cpus")
	without := strings.NewReplacer("resources { memory", "retry { times = 3 }\n#", "cpus   = 2", "", "gpus  = 2", "time = \"1h\"").Replace(src)
	if hit, ran := b.run(without, "2"); hit != 4 || ran != 0 {
		t.Errorf("with other requests: %d hit, %d ran", hit, ran)
	}
}

// TestRetry: a program that fails is tried again as often as retry says, with more memory each
// time, as far as there is some; its results say so, and the last error says what to change. A
// step that runs longer than it may ends.
func TestRetry(t *testing.T) {
	t.Parallel()
	b := roomy(t, true)
	fails := func(text string) error {
		if text == "never" || text == "again" && b.count(text) == 1 {
			return step.Permanent(&command.ExitError{Argv: []string{"p"}, Code: -1, Signal: syscall.SIGKILL, Killed: true})
		}
		return nil
	}
	b.fail.Store(&fails)
	src := `
step "text" "again" {
  text = "again"
  resources { memory = "40B" }
  retry {
    times  = 1
    memory = 4
  }
}
step "text" "never" {
  text = "never"
  resources { memory = "20B" }
  retry {
    times  = 1
    memory = 2
  }
}
step "text" "long" {
  text = "long"
  hold = true
  resources { time = "1s" }
}
step "text" "longer" {
  text = "longer"
  hold = true
  resources { time = "1s" }
  retry {
    times = 1
    time  = 1.5
  }
}
`
	r, err := b.wait(b.start(src, "1"))
	for _, want := range []string{
		"step.text.never: p was ended by signal \"killed\" (by the system: no memory was left)", "Its peak is not known, and it asked for 40 B: raise memory in its resources (t.hcl:12)",
		"that was try 2 of 2: see retry (t.hcl:12)", "step.text.long: it ran longer than its time of 1.0 s: raise time in its resources (t.hcl:21)",
		"step.text.longer: it ran longer than its time of 1.5 s: raise time in its resources (t.hcl:26)",
	} {
		testkit.ErrSays(t, err, want)
	}
	if b.count("never") != 2 || b.count("again") != 2 || b.count("long") != 1 {
		t.Errorf("tries: %d, %d, %d; %+v", b.count("never"), b.count("again"), b.count("long"), r)
	}
	if got, _ := b.gave.Load("again"); got != (step.Granted{Memory: 100}) { // all that there is, of 160
		t.Errorf("at its second try it was given %+v", got)
	}
	if got := b.result(src, "step.text.again").Env[step.NotePrefix+"tries"]; got != "2, of at most 2" {
		t.Errorf("its result says of tries: %q", got)
	}
}

const tooLarge = `
step "text" "a" {
  text = "too large" # one server holds the steps of all tests: a key of its own
  resources {
    memory = "200B"
    cpus   = 2
  }
}
`

// TestUnfitAlone: what fits no worker fails, where there is one, and says what to change.
func TestUnfitAlone(t *testing.T) {
	b := roomy(t, true)
	_, err := b.wait(b.start(tooLarge, "1"))
	testkit.ErrSays(t, err, "step.text.a: it asks for 200 B of memory, and this worker has 100 B (t.hcl:4)")
}

// TestUnfitCluster: where there may be other workers it waits for one that has enough.
func TestUnfitCluster(t *testing.T) {
	t.Parallel()
	b := roomy(t, false)
	w := b.start(tooLarge, "1")
	b.awaitActivity(workflows.RestActivity, "another worker: it asks for 200 B of memory", w.GetID())
	b.queue.Stop()
	large := little
	large.Memory = 1000
	b.startWorkerWith(b.activities(), large)
	if r, err := b.wait(w); err != nil || r.Ran != 1 {
		t.Error(r, err)
	}
}

// TestLimits: no more steps have a name at a time than it says, and those that wait come in
// their turn.
func TestLimits(t *testing.T) {
	b := newBench(t)
	src := `
limits {
  downloads = 2
  licences  = 1
}
step "text" "a" {
  for_each = { a = ["downloads"], b = ["downloads", "licences"], c = ["downloads", "licences"], d = ["downloads"] }
  text     = each.key
  hold     = true
  resources { limits = each.value }
}
step "text" "free" { text = "free" }
`
	w := b.start(src, "limits")
	for ended := 1; ended <= 5; ended++ { // the first is free
		b.awaitState(func(s workflows.State) bool {
			running := map[string]bool{}
			for _, x := range s.Steps {
				running[x.Address] = x.Status == runs.Running
			}
			n := s.Counts[runs.Running]
			if running["step.text.free"] {
				n--
			}
			if n > 2 || running[`step.text.a["b"]`] && running[`step.text.a["c"]`] {
				t.Fatalf("running together: %v", running)
			}
			return s.Counts[runs.Ran] == ended && (ended > 1 || n == 2)
		}, w)
		if ended < 5 {
			b.hold <- struct{}{}
		}
	}
	b.ends(w, 5)
	b.keep("limits", w.GetID(), "")
}
