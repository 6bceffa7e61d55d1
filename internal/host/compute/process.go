package compute

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/system"
	"github.com/redsi/redsi/step"
)

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
	heard int  // how often anything came from it
	hears bool // a read of its pipe is waiting: what came before has been handled
	calls map[int64]chan message
	next  int64
	wrong error // why it is not asked any more
	ours  bool  // this program ended it
}

// startTime bounds the wait for a process's first message: a cold disk has half a gigabyte to read.
const startTime = 2 * time.Minute

// lastWords bounds the reading of what an ended process had written: programs that it started may keep its pipes open.
// A variable for tests.
var lastWords = time.Second

// spin bounds how long a thread of libgomp spins at the end of its share of an operation. The default, milliseconds,
// takes cores from another process's training: two at once took twice as long as one after the other. A process that
// has the machine to itself is as fast with a thousandth of the default.
const spin = "GOMP_SPINCOUNT=1000"

// start starts a process and waits for its first message.
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
	c.cmd = exec.Command(o.Program)
	c.cmd.Env = slices.Concat([]string{spin}, os.Environ(), env)
	c.cmd.Stdout, c.cmd.Stderr = c.last, c.last // what a library prints is not taken for a frame
	c.cmd.ExtraFiles = []*os.File{in, toOut}
	c.cmd.SysProcAttr = system.Tied(&syscall.SysProcAttr{})
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
			return nil, err // it may pass: the machine is short of something, or the program is being written
		}
		if _, missing := os.Stat(o.Program); errors.Is(err, os.ErrNotExist) && missing == nil {
			err = fmt.Errorf("start %s: its loader or interpreter is not there: this system has no glibc (Alpine, for example), or an environment was moved", o.Program)
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
			words, _ := c.last.words(false)
			switch _, killed := ended(c.cmd.ProcessState); {
			case c.unfit() != nil:
				err = &ProgramError{fmt.Errorf("%s is another program: %w", o.Program, c.unfit())}
			case killed || c.starved():
				err = c.lost()
			case c.cmd.ProcessState.ExitCode() == 2 && strings.HasPrefix(words, Name+": "): // the launcher's, python/redsi_models
				err = &ProgramError{refused(words)}
			default:
				err = &ProgramError{fmt.Errorf("%s does not start: %s", o.Program, c.death())}
			}
		}
	case <-patience.Done():
		if err = ctx.Err(); err == nil {
			err = &ProgramError{fmt.Errorf("%s has written nothing for %s", o.Program, startTime)}
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
	unknown := h.Build == revision.Unknown || c.o.Build == revision.Unknown // then the kinds decide
	if h.Protocol != protocol || h.Build != c.o.Build && !unknown {
		return &ProgramError{fmt.Errorf("%s is build %s, but this redsi is build %s: %w", c.o.Program, h.Build, c.o.Build, errBuild)}
	}
	var kinds []string
	if c.o.Registry != nil {
		for _, k := range c.o.Registry.Kinds() {
			if have, ok := h.Kinds[k.Name]; ok && have != k.Fingerprint() {
				kinds = append(kinds, k.Name)
			}
		}
	}
	if len(kinds) > 0 {
		return &ProgramError{fmt.Errorf("%s knows other versions of %s than this redsi, both of build %s: %w", c.o.Program, strings.Join(kinds, ", "), c.o.Build, errBuild)}
	}
	return nil
}

// listen takes frames until there are no more. first gets the first, or is closed when the process has ended without one.
func (c *process) listen(out io.ReadCloser, first chan<- message) {
	defer out.Close()
	r := bufio.NewReaderSize(&ear{c, out}, 1<<16)
	for {
		m, err := receive(r)
		if err != nil {
			if errors.Is(err, errGarbage) {
				c.fault(err)
				c.kill()
			}
			break
		}
		if first != nil {
			first <- m
			first = nil
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
	if first != nil {
		close(first)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, to := range c.calls {
		close(to)
	}
	c.calls = nil
}

// ear notes when something comes. While this program handles it, perhaps on a slow disk, the process is not silent.
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

// watch ends a process that is silent for too long. It counts its own rounds, not the clock: nobody is late after the
// machine was suspended for a night.
func (c *process) watch() {
	heard, silent := 0, 0
	for {
		select {
		case <-c.ended:
			return
		case <-time.After(aliveEvery):
		}
		c.mu.Lock()
		now, hears := c.heard, c.hears
		c.mu.Unlock()
		if silent++; now != heard || !hears {
			heard, silent = now, 0
		}
		if silent > int(silentFor/aliveEvery) {
			c.fault(fmt.Errorf("it was silent for %s and was killed", silentFor))
			c.kill()
			return
		}
	}
}

// cancelTime is how long a process has to answer a cancelled call, and to end. A variable for tests.
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
			_ = c.w.send(message{ID: id, Cancel: true}) // if the process has ended, answers is closed
		case <-late:
			c.fault(errors.New("it did not stop what was cancelled and was killed"))
			c.kill()
		}
	}
}

// fault notes why the process is not to be asked any more.
func (c *process) fault(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrong = cmp.Or(c.wrong, err)
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

// end ends a process that nobody asks.
func (c *process) end() {
	c.mu.Lock()
	c.ours = true
	c.mu.Unlock()
	c.in.Close()
	c.awaitEnd(nil)
}

// awaitEnd waits until the process has ended. If it does not in time, it is killed, with a fault if that is given.
func (c *process) awaitEnd(fault error) {
	select {
	case <-c.ended:
	case <-time.After(cancelTime):
		c.fault(fault)
		c.kill()
		<-c.ended
	}
}

// lost is the error of asking a process that has ended.
func (c *process) lost() error {
	c.awaitEnd(errors.New("it closed its pipe and was killed"))
	c.mu.Lock()
	wrong, ours := c.wrong, c.ours
	c.mu.Unlock()
	if ours && wrong == nil {
		return errEnding
	}
	return step.Poisoned(&DiedError{Program: c.o.Program, How: c.death(), Why: wrong})
}
