package compute

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/dustin/go-humanize"

	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/host/usage"
)

// death says how the process ended, how much memory it had, and its last words.
func (c *process) death() string {
	state := c.cmd.ProcessState
	how, killed := ended(state)
	words, signal := c.last.words(state.ExitCode() == goCrash)
	if signal != "" { // Go's runtime catches signals of C code, and exits with a code
		how = fmt.Sprintf("signal %q ended it", signal)
	}
	if r, ok := state.SysUsage().(*syscall.Rusage); ok && usage.MaxMemory(r) > 0 {
		how += fmt.Sprintf("; it had %s of memory at most", humanize.IBytes(uint64(usage.MaxMemory(r))))
	}
	c.mu.Lock()
	ours := c.wrong != nil || c.ours
	c.mu.Unlock()
	if (killed || c.starved()) && !ours {
		how += memoryAdvice
	}
	if words != "" {
		return how + "; its last words:\n" + words
	}
	return how + "; it wrote nothing"
}

// starved reports that C++, Go or the loader got no memory, by their last words: the next process may get it.
func (c *process) starved() bool {
	words, _ := c.last.words(c.cmd.ProcessState.ExitCode() == goCrash)
	return noMemory.MatchString(words)
}

var noMemory = regexp.MustCompile(`std::bad_alloc|[Cc]annot allocate memory|out of memory`)

// memoryAdvice is for a process that got no memory, or that the system has killed (SIGKILL): it kills for nothing else.
const memoryAdvice = ". The system kills processes that take too much memory: give the machine or its container more, or have fewer steps at a time (--gpu-slots, --slots); " +
	"for training, checkpoint_activations = true (the result stays), accumulate = 2 or more (the result stays, but for rounding) or a smaller batch, for a search or an embedding a smaller batch"

// DiedError says how a process of the second program ended in the middle of a step.
type DiedError struct {
	Program string
	How     string
	Why     error // why redsi ended it; nil: redsi did not
}

func (e *DiedError) Error() string {
	if e.Why != nil {
		return fmt.Sprintf("the process that computed this, of %s, was lost: %v (%s)", e.Program, e.Why, e.How)
	}
	return fmt.Sprintf("the process that computed this, of %s, was lost: %s", e.Program, e.How)
}

func (e *DiedError) Unwrap() error { return e.Why }

// ProgramError says that the second program is missing or cannot be used, and what the user can do.
type ProgramError struct{ err error }

func (e *ProgramError) Error() string {
	if do := advice(e.err); do != "" {
		return e.err.Error() + "; " + do
	}
	return e.err.Error()
}
func (e *ProgramError) Unwrap() error { return e.err }

// refused is the launcher's reason (python/redsi_models) not to start the second program, with what to do.
type refused string

func (r refused) Error() string { return string(r) }

func advice(err error) string {
	get, both := "make build, or the archive of a release", "an archive has both, make build makes both"
	if pip := revision.Pip("redsi_models"); pip != "" {
		get, both = pip, pip
	}
	switch {
	case strings.Contains(err.Error(), "version `GLIBC"): // what the loader says, also of libstdc++
		return "use a machine or an image with a newer system; redsi itself runs here"
	case errors.As(err, new(refused)):
		return ""
	case errors.Is(err, errBuild):
		return "install both from one build: " + both
	case errors.Is(err, os.ErrNotExist):
		return fmt.Sprintf("install it beside redsi (%s), or name it with %s", get, Variable)
	case errors.Is(err, os.ErrPermission):
		return "make it executable: chmod +x"
	}
	return "install one that runs here: " + get
}

var (
	errBuild     = errors.New("they come from different builds")
	errEnding    = errors.New("this program is ending")
	errNoProgram = &ProgramError{fmt.Errorf("%s is not there: %w", Name, os.ErrNotExist)}
)

// tailBytes of a process's output outside of frames are kept, and wordsBytes are shown.
const (
	tailBytes  = 256 << 10
	wordsBytes = 4 << 10
)

// goCrash is the exit code of Go's runtime after a crash.
const goCrash = 2

// crash is the beginning of the last words of Go's runtime, which end in pages of goroutines.
var crash = regexp.MustCompile(`(?m)^(?:SIG[A-Z]+: (.*)|(?:fatal error|panic): .*(?:\n\[signal SIG[A-Z]+: ([a-z ]+?) code=.*)?)$`)

// tail keeps the end of what is written.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if len(t.text) > 2*tailBytes {
		t.text = bytes.Clone(t.text[len(t.text)-tailBytes:])
	}
	return len(b), nil
}

// words returns the end of the output or, after a crash, its beginning, what came before that, and the signal Go names.
func (t *tail) words(crashed bool) (words, signal string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	from, to := max(0, len(t.text)-wordsBytes), len(t.text)
	if all := crash.FindAllSubmatchIndex(t.text, -1); crashed && all != nil {
		at := all[len(all)-1]
		from = max(0, at[0]-wordsBytes/2)
		to = min(to, from+wordsBytes)
		if i := slices.IndexFunc([]int{2, 4}, func(i int) bool { return at[i] >= 0 }); i >= 0 {
			signal = string(t.text[at[2+2*i]:at[3+2*i]])
		}
	}
	return strings.ToValidUTF8(strings.TrimSpace(string(t.text[from:to])), "\uFFFD"), signal
}

// ended says how a process ended, and whether the system killed it.
func ended(s *os.ProcessState) (how string, killed bool) {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return fmt.Sprintf("signal %q ended it", w.Signal()), w.Signal() == syscall.SIGKILL
	}
	return fmt.Sprintf("it exited with code %d", s.ExitCode()), false
}
