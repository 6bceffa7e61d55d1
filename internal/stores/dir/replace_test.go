package dir_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/system/testkit"
)

const contested = "results/k"

// stopAt has the renames of records that begin with by stop until the function that it returns is
// called; stopped is closed when one has come so far.
func stopAt(t *testing.T, by string) (stopped chan struct{}, goOn func()) {
	stopped, on := make(chan struct{}), make(chan struct{})
	var once sync.Once
	dir.OnRename(func(from, to string) error {
		if b, err := os.ReadFile(from); err == nil && strings.HasPrefix(string(b), by) {
			first := false
			once.Do(func() { first = true })
			if first { // whoever helps goes on
				close(stopped)
				<-on
			}
		}
		return os.Rename(from, to)
	})
	t.Cleanup(func() { dir.OnRename(os.Rename) })
	return stopped, func() { close(on) }
}

// TestReplaceStopped: a writer that stops with its claim is helped by the next one, and clobbers
// nothing when it goes on, also if what it has replaced is there anew.
func TestReplaceStopped(t *testing.T) {
	s := open(t)
	replace := func(old, data string, want error) {
		t.Helper()
		if err := s.Records.Replace(t.Context(), contested, []byte(old), []byte(data)); !errors.Is(err, want) {
			t.Fatalf("Replace %s by %s: %v, want %v", old, data, err, want)
		}
	}
	testkit.None(t, s.Records.Create(t.Context(), contested, []byte("old")))
	stopped, goOn := stopAt(t, "stopped")
	done := make(chan error)
	go func() { done <- s.Records.Replace(t.Context(), contested, []byte("old"), []byte("stopped")) }()
	<-stopped
	replace("other", "x", artifacts.ErrExist)
	testkit.Is(t, there(t, s), "old", "helped by one with another old")
	replace("old", "late", artifacts.ErrExist)
	testkit.Is(t, there(t, s), "stopped")
	for range 3 {
		replace("stopped", "second", nil)
		replace("second", "old", nil)
		replace("old", "stopped", nil)
	}
	replace("stopped", "last", nil)
	goOn()
	if err, got := <-done, there(t, s); err != nil || got != "last" {
		t.Errorf("the stopped one: %v; %s is there, want last", err, got)
	}
}

// TestReplaceKilled: the record of a writer that was killed with its claim is put into place by the
// next; what stays in tmp/ goes a day later, and if nobody came until then, so does that record. What was created
// anew meanwhile, with other bytes, is not replaced by that of the dead.
func TestReplaceKilled(t *testing.T) {
	for how, want := range map[string]string{"helped": "1 killed", "left": "0", "deleted": "new"} {
		root := t.TempDir()
		s := openAt(t, root)
		testkit.None(t, s.Records.Create(t.Context(), contested, []byte("0")))
		child(t, root, "killed").wait()
		if how == "deleted" {
			testkit.None(t, errors.Join(s.Records.Delete(t.Context(), contested), s.Records.Create(t.Context(), contested, []byte("new"))))
		}
		if how != "left" {
			testkit.ErrIs(t, s.Records.Replace(t.Context(), contested, []byte("0"), []byte("x")), artifacts.ErrExist, how)
		}
		old := time.Now().Add(-25 * time.Hour)
		for _, f := range files(t, filepath.Join(root, "tmp")) {
			testkit.None(t, os.Chtimes(f, old, old))
		}
		s = openAt(t, root)
		testkit.Is(t, len(files(t, filepath.Join(root, "tmp"))), 0)
		got := there(t, s)
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s is there, want %s", how, got, want)
		}
		testkit.None(t, s.Records.Replace(t.Context(), contested, []byte(got), []byte("y")))
	}
}

func there(t *testing.T, s artifacts.Store) string {
	t.Helper()
	b, err := s.Records.Get(t.Context(), contested)
	testkit.None(t, err)
	return string(b)
}

// fast returns a folder where syncing costs nothing, if there is one.
func fast(t *testing.T) string {
	root, err := os.MkdirTemp("/dev/shm", "redsi-test-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	return root
}

// rounds is how often the record of TestReplaceProcesses is replaced.
const rounds = 300

// TestReplaceProcesses has processes replace one record, round after round, while others are
// killed with their claims, and one stops with its claim: each round has one winner.
func TestReplaceProcesses(t *testing.T) {
	root := fast(t)
	s := openAt(t, root)
	testkit.None(t, s.Records.Create(t.Context(), contested, []byte("0")))
	stopped := child(t, root, "stopped")
	first := stopped.line(t) // it has its claim and stands still
	var writers, killed []*process
	for going := true; going; {
		killed = append(killed, child(t, root, "killed"))
		killed[len(killed)-1].wait()
		for len(writers) < 3 {
			writers = append(writers, child(t, root, "writer"))
		}
		round, _ := parse(there(t, s))
		if going = round < rounds; round > 2 && first != "" {
			testkit.None(t, stopped.cmd.Process.Signal(syscall.SIGCONT))
			stopped.lines = append(stopped.lines, first)
			first = ""
		}
	}
	winners := map[int][]string{}
	for _, p := range slices.Concat(writers, killed, []*process{stopped}) {
		for _, line := range p.wait() {
			round, by := parse(line)
			winners[round] = append(winners[round], by)
		}
	}
	for round := 1; round <= rounds; round++ {
		testkit.Is(t, len(winners[round]), 1, round, winners[round])
	}
	by := map[string]int{}
	for _, w := range slices.Sorted(maps.Keys(winners)) {
		role, _, _ := strings.Cut(winners[w][0], " ")
		by[role]++
	}
	t.Logf("%d rounds, %d processes killed: %v", rounds, len(killed), by)
	testkit.That(t, by["writer"] != 0 && by["killed"] != 0 && by["stopped"] != 0, "won", by)
}

// TestReplaceSameBytes has many replace a record whose bytes come back again and again: of the
// replacements of each, one follows another.
func TestReplaceSameBytes(t *testing.T) {
	s := openAt(t, fast(t))
	all := []string{"a", "b", "c"}
	testkit.None(t, s.Records.Create(t.Context(), contested, []byte(all[0])))
	var won [3]atomic.Int32 // by what was replaced
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for won[0].Load() < 30 {
				for i, old := range all {
					switch err := s.Records.Replace(t.Context(), contested, []byte(old), []byte(all[(i+1)%3])); {
					case err == nil:
						won[i].Add(1)
					case !errors.Is(err, artifacts.ErrExist):
						t.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	a, b, c := won[0].Load(), won[1].Load(), won[2].Load()
	want := map[[2]int32]string{{0, 0}: "a", {1, 0}: "b", {1, 1}: "c"}[[2]int32{a - c, b - c}]
	if got := there(t, s); got != want || want == "" {
		t.Errorf("%d, %d and %d replacements, and %s is there", a, b, c, got)
	}
}

// process is a child that replaces records; lines are what it has said.
type process struct {
	cmd   *exec.Cmd
	out   *bufio.Reader
	lines []string
}

// child starts this binary as one that replaces records in a store: see replaceAs.
func child(t *testing.T, root, role string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), childRoot+"="+root, childRole+"="+role)
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	testkit.None(t, err)
	testkit.None(t, p.cmd.Start())
	t.Cleanup(func() { p.cmd.Process.Kill(); p.cmd.Wait() })
	p.out = bufio.NewReader(out)
	return p
}

func (p *process) line(t *testing.T) string {
	line, err := p.out.ReadString('\n')
	testkit.None(t, err)
	return strings.TrimSpace(line)
}

// wait returns all lines when the process has ended.
func (p *process) wait() []string {
	b, _ := io.ReadAll(p.out)
	p.cmd.Wait() // killed, some
	p.lines = append(p.lines, strings.FieldsFunc(string(b), func(r rune) bool { return r == '\n' })...)
	return p.lines
}

// parse splits a record, "ROUND ROLE PID".
func parse(record string) (round int, by string) {
	number, by, _ := strings.Cut(record, " ")
	round, _ = strconv.Atoi(number)
	return round, by
}

// childRole says what a child does: "writer" replaces the record until the last round, "killed"
// dies when it has claimed it, and "stopped" stops there and then ends.
const childRole = "REDSI_TEST_ROLE"

// replaceAs replaces the record of the next round, and says each that it has won.
func replaceAs(root, role string) {
	s, err := dir.Open(root)
	me := fmt.Sprint(role, " ", os.Getpid())
	if role != "writer" {
		dir.OnRename(func(from, to string) error {
			b, err := os.ReadFile(from)
			if _, by := parse(string(b)); err == nil && by == me {
				fmt.Println(string(b))
				signal := map[string]syscall.Signal{"killed": syscall.SIGKILL, "stopped": syscall.SIGSTOP}[role]
				syscall.Kill(os.Getpid(), signal)
			}
			return os.Rename(from, to)
		})
	}
	for err == nil {
		var old []byte
		if old, err = s.Records.Get(context.Background(), contested); err != nil {
			break
		}
		round, _ := parse(string(old))
		if round >= rounds {
			return
		}
		won := fmt.Sprint(round+1, " ", me)
		switch err = s.Records.Replace(context.Background(), contested, old, []byte(won)); {
		case err == nil && role == "stopped":
			return
		case err == nil: // also one that was helped before it could be killed
			fmt.Println(won)
		case errors.Is(err, artifacts.ErrExist):
			err = nil
		}
	}
	fmt.Fprintln(os.Stderr, role, err)
	os.Exit(1)
}
