package compute

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/redsi/redsi/internal/revision"
	"github.com/redsi/redsi/internal/usage"
	"github.com/redsi/redsi/step"
)

// process is one of the second program.
type process struct {
	o     Options
	card  int
	exact bool // results are the same bits for any number of threads
	cmd   *exec.Cmd
	w     *writer
	in    io.Closer
	idle  *time.Timer // while it is free
	last  *tail       // of its standard error

	ended chan struct{} // closed when it has ended

	mu    sync.Mutex
	heard int  // how often something was
	hears bool // it is listened to: what was heard last has been taken
	calls map[int64]chan message
	next  int64
	wrong error // why it is not asked any more
	ours  bool  // it was ended by us
}

// startTime bounds a process's first word: a cold disk has half a gigabyte to read.
const startTime = 2 * time.Minute

// lastWords is how long is listened to what a process that has ended had said: what it
// started may keep its pipes open. A variable for tests.
var lastWords = time.Second

// start starts a process and hears its first word.
func start(ctx context.Context, o Options, env []string, card int) (*process, error) {
	in, toIn, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, toOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, in.Close(), toIn.Close())
	}
	c := &process{o: o, card: card, w: &writer{w: toIn}, in: toIn, last: &tail{}, ended: make(chan struct{}), calls: map[int64]chan message{}}
	c.cmd = exec.Command(o.Program, o.Args...)
	c.cmd.Env = append(os.Environ(), env...)
	c.cmd.Stdout, c.cmd.Stderr = c.last, c.last // a library that prints is not heard as a frame
	c.cmd.ExtraFiles = []*os.File{in, toOut}
	c.cmd.SysProcAttr = attributes()
	c.cmd.WaitDelay = lastWords
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the system ends a child with the thread that started it
		defer runtime.UnlockOSThread()
		err := c.cmd.Start()
		in.Close()
		toOut.Close()
		started <- err
		if err == nil {
			_ = c.cmd.Wait() // ProcessState has it
			toIn.Close()
			_ = out.SetReadDeadline(time.Now().Add(lastWords))
			close(c.ended)
		}
	}()
	if err := <-started; err != nil {
		toIn.Close()
		out.Close()
		err = fmt.Errorf("start %s: %w", o.Program, err)
		if slices.ContainsFunc([]error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.ETXTBSY}, func(e error) bool { return errors.Is(err, e) }) {
			return nil, err // the machine is short of something, or the program is being written
		}
		return nil, &ProgramError{err}
	}
	first := make(chan message, 1)
	go c.listen(out, first)
	patience, done := context.WithTimeout(ctx, startTime)
	defer done()
	select {
	case m, ok := <-first:
		switch {
		case ok && m.Hello != nil:
			err, c.exact = c.check(m.Hello), m.Hello.Exact
		case ok:
			err = errGarbage
		default:
			<-c.ended
			switch _, killed := ended(c.cmd.ProcessState); {
			case c.unfit() != nil:
				err = &ProgramError{fmt.Errorf("%s is another program: %w", o.Program, c.unfit())}
			case killed || c.starved():
				err = c.lost()
			default:
				err = &ProgramError{fmt.Errorf("%s does not start: %s", o.Program, c.death())}
			}
		}
	case <-patience.Done():
		if err = ctx.Err(); err == nil {
			err = &ProgramError{fmt.Errorf("%s says nothing for %s", o.Program, startTime)}
		}
	}
	if err != nil {
		c.end()
		return nil, err
	}
	go c.watch()
	return c, nil
}

// check refuses a process of another build.
func (c *process) check(h *hello) error {
	unknown := h.Build == revision.Unknown || c.o.Build == revision.Unknown // kinds tell, then
	other := h.Protocol != protocol || h.Build != c.o.Build && !unknown
	var kinds []string
	if c.o.Registry != nil && !other {
		for _, k := range c.o.Registry.Kinds() {
			if have, ok := h.Kinds[k.Name]; ok && have != k.Fingerprint() {
				kinds = append(kinds, k.Name)
			}
		}
	}
	switch {
	case other:
		return &ProgramError{fmt.Errorf("%s is of build %s, and this redsi of build %s: %w", c.o.Program, h.Build, c.o.Build, errBuild)}
	case len(kinds) > 0:
		return &ProgramError{fmt.Errorf("%s knows other versions of %s than this redsi, both of build %s: %w", c.o.Program, strings.Join(kinds, ", "), c.o.Build, errBuild)}
	}
	return nil
}

// listen takes frames until there are no more.
func (c *process) listen(out io.ReadCloser, first chan<- message) {
	defer out.Close()
	r := bufio.NewReaderSize(&ear{c, out}, 1<<16)
	told := false
	defer func() {
		if !told {
			close(first)
		}
	}()
	for {
		m, err := receive(r)
		if err != nil {
			if errors.Is(err, errGarbage) {
				c.fault(err)
				c.kill()
			}
			break
		}
		if !told {
			told = true
			first <- m
			continue
		}
		c.mu.Lock()
		to := c.calls[m.ID]
		c.mu.Unlock()
		if to != nil {
			to <- m
		}
	}
	<-c.ended
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, to := range c.calls {
		close(to)
		delete(c.calls, id)
	}
	c.calls = nil
}

// ear notes when something is heard. While that is taken, which a slow disk may make long,
// nothing more is, and the process is not silent.
type ear struct {
	c *process
	r io.Reader
}

func (e *ear) Read(b []byte) (int, error) {
	e.c.mu.Lock()
	e.c.hears = true
	e.c.mu.Unlock()
	n, err := e.r.Read(b)
	e.c.mu.Lock()
	e.c.hears = false
	e.c.heard++
	e.c.mu.Unlock()
	return n, err
}

// watch ends a process that is silent for too long. It counts its own waking, not the
// clock: after a night of the machine nobody is late.
func (c *process) watch() {
	t := time.NewTicker(aliveEvery)
	defer t.Stop()
	heard, silent := 0, 0
	for {
		select {
		case <-c.ended:
			return
		case <-t.C:
		}
		c.mu.Lock()
		now, hears := c.heard, c.hears
		c.mu.Unlock()
		if silent++; now != heard || !hears {
			heard, silent = now, 0
		}
		if silent > int(silentFor/aliveEvery) {
			c.fault(fmt.Errorf("it was silent for %s, and was ended", silentFor))
			c.kill()
			return
		}
	}
}

// cancelTime is how long a process has to answer a call that nobody wants any more, and to
// end. A variable for tests.
var cancelTime = 8 * time.Second

func (c *process) call(ctx context.Context, what call, to *Client) (*reply, error) {
	answers := make(chan message, 16)
	c.mu.Lock()
	c.next++
	id := c.next
	gone := c.calls == nil
	if !gone {
		c.calls[id] = answers
	}
	c.mu.Unlock()
	if gone || c.w.send(message{ID: id, Call: &what}) != nil {
		return nil, c.lost()
	}
	done, late := ctx.Done(), (<-chan time.Time)(nil)
	for {
		select {
		case m, ok := <-answers:
			switch {
			case !ok && ctx.Err() != nil:
				return nil, ctx.Err()
			case !ok:
				return nil, c.lost()
			case m.Reply != nil:
				c.mu.Lock()
				delete(c.calls, id)
				c.mu.Unlock()
				return m.Reply, nil
			}
			to.take(ctx, m)
		case <-done:
			done, late = nil, time.After(cancelTime)
			_ = c.w.send(message{ID: id, Cancel: true}) // one that has ended closes answers
		case <-late:
			c.fault(errors.New("it did not end what was cancelled, and was ended"))
			c.kill()
		}
	}
}

// fault notes why the process is not to be asked any more.
func (c *process) fault(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wrong == nil {
		c.wrong = err
	}
}

func (c *process) unfit() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wrong
}

func (c *process) unusable() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wrong != nil || c.calls == nil
}

func (c *process) kill() { _ = c.cmd.Process.Kill() }

// end ends a process that nobody asks, or that did not notice.
func (c *process) end() {
	c.mu.Lock()
	c.ours = true
	c.mu.Unlock()
	c.in.Close()
	select {
	case <-c.ended:
	case <-time.After(cancelTime):
		c.kill()
		<-c.ended
	}
}

// lost is the error of who asked a process that has ended.
func (c *process) lost() error {
	select {
	case <-c.ended:
	case <-time.After(cancelTime):
		c.fault(errors.New("it closed its pipe, and was ended"))
		c.kill()
		<-c.ended
	}
	c.mu.Lock()
	wrong, ours := c.wrong, c.ours
	c.mu.Unlock()
	if ours && wrong == nil {
		return errEnding
	}
	return step.Poisoned(&DiedError{Program: c.o.Program, How: c.death(), Why: wrong})
}

// death says how the process ended, what it had, and its last words.
func (c *process) death() string {
	state := c.cmd.ProcessState
	how, killed := ended(state)
	words, signal := c.last.words(state.ExitCode() == goCrash)
	if signal != "" { // Go's runtime takes signals of C code, and exits with a code
		how = fmt.Sprintf("signal %q ended it", signal)
	}
	if peak := peakOf(state); peak > 0 {
		how += fmt.Sprintf("; it had %s of memory at most", humanize.IBytes(uint64(peak)))
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
	return how + "; it said nothing"
}

// starved reports a process whose last words say that it got no memory, as those of C++, Go
// and the loader of libraries do: the next one may get it.
func (c *process) starved() bool {
	words, _ := c.last.words(c.cmd.ProcessState.ExitCode() == goCrash)
	return noMemory.MatchString(words)
}

var noMemory = regexp.MustCompile(`std::bad_alloc|[Cc]annot allocate memory|out of memory`)

// memoryAdvice is for what got no memory, and for what the system has killed: nothing else on
// a machine does that.
const memoryAdvice = ". The system kills for memory what takes too much of it: give the machine or its container more, or have fewer steps at a time (--gpu-slots, --slots); " +
	"for a training checkpoint_activations = true (the result stays), accumulate = 2 or more (the result stays, but for rounding) or a smaller batch, for a search or an embedding a smaller batch"

// DiedError says how a process of the second program ended in the middle of a step.
type DiedError struct {
	Program string
	How     string
	Why     error // it was ended by redsi; nil: it was not
}

func (e *DiedError) Error() string {
	if e.Why != nil {
		return fmt.Sprintf("the process that computed this, of %s, was lost: %v (%s)", e.Program, e.Why, e.How)
	}
	return fmt.Sprintf("the process that computed this, of %s, was lost: %s", e.Program, e.How)
}

func (e *DiedError) Unwrap() error { return e.Why }

// ProgramError says that the second program is not there, or not to be used. What is to be
// done is the user's.
type ProgramError struct{ err error }

func (e *ProgramError) Error() string { return e.err.Error() + "; " + advice(e.err) }
func (e *ProgramError) Unwrap() error { return e.err }

func advice(err error) string {
	switch {
	case errors.Is(err, errBuild):
		return "install both of one build: an archive has both, make build makes both"
	case errors.Is(err, os.ErrNotExist):
		return "install it beside redsi (make build, or the archive of a release), or name it by " + Variable
	case errors.Is(err, os.ErrPermission):
		return "make it executable: chmod +x"
	}
	return "make build, or the archive of a release, has one that runs here"
}

var (
	errBuild     = errors.New("they are of different builds")
	errEnding    = errors.New("this program is ending")
	errNoProgram = &ProgramError{fmt.Errorf("%s is not there: %w", Name, os.ErrNotExist)}
)

// tailBytes is what is kept of what a process says outside of its frames, and wordsBytes
// what is shown.
const (
	tailBytes  = 256 << 10
	wordsBytes = 4 << 10
)

// goCrash is the code with which Go's runtime exits after one.
const goCrash = 2

// crash is how Go's runtime begins its last words, which end in pages of goroutines.
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

// words are the last ones: the end, or how a crash began and what was said before that, with
// the signal that Go's runtime names.
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

// peakOf is the most memory that a process had, in bytes; 0 if that is not known.
func peakOf(s *os.ProcessState) int64 {
	if r, ok := s.SysUsage().(*syscall.Rusage); ok {
		return usage.MaxMemory(r)
	}
	return 0
}

// ended says how a process ended, and whether the system killed it.
func ended(s *os.ProcessState) (how string, killed bool) {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return fmt.Sprintf("signal %q ended it", w.Signal()), w.Signal() == syscall.SIGKILL
	}
	return fmt.Sprintf("it exited with code %d", s.ExitCode()), false
}
