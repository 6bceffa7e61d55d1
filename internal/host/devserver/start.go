package devserver

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/redsi/redsi/internal/system"
)

// logFile has the output of a folder's servers; it is emptied at logMost bytes.
const (
	logFile = "temporal.log"
	logMost = 1 << 20
)

// ensure returns how to reach the folder's server once it answers, and starts a server if there is none. The caller
// holds clientsLock, so that a server ends meanwhile only by a fault.
func (s *Server) ensure(ctx context.Context) (Info, error) {
	p := &patience{say: s.o.Say, what: func() string { return "waiting for the Temporal server to answer: " + s.Condition() }}
	for killed := 0; ; {
		i, answers, held, err := look(s.o.Dir, s.silent)
		if err != nil {
			return i, err
		}
		if answers {
			s.tell(i)
			return i, nil
		}
		if !held {
			err := s.start(ctx, p)
			if killed++; signalled(err) && killed < 5 { // by a person, or for want of memory
				s.o.Say("the Temporal server was killed while it started; it is started again")
				continue
			}
			if err != nil {
				return i, err
			}
		}
		if err := p.wait(ctx); err != nil {
			return i, err
		}
	}
}

func signalled(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && exit.Sys().(syscall.WaitStatus).Signaled()
}

// tell prints each server's notes once.
func (s *Server) tell(i Info) {
	s.mu.Lock()
	before := s.seen
	s.seen = i.PID
	s.mu.Unlock()
	if before == i.PID {
		return
	}
	for _, n := range i.Notes {
		s.o.Say(n)
	}
	if before != 0 {
		s.o.Say(fmt.Sprintf("the Temporal server (process %d) had ended; process %d was started in its place and the run continues", before, i.PID))
	}
}

// start starts a server, unless another process is doing so, and waits until it answers or has ended.
func (s *Server) start(ctx context.Context, p *patience) error {
	lock := lockOf(s.o.Dir, startLock)
	defer lock.Close()
	if ok, err := take(lock, exclusiveLock); !ok {
		return err
	}
	if _, _, held, err := look(s.o.Dir, s.silent); held || err != nil {
		return err
	}
	listen := cmp.Or(s.o.Listen, s.Info.Listen) // in another server's place it listens as that did
	if err := cmp.Or(claimable(cmp.Or(listen, loopback), s.o.Port), claimable(loopback, s.o.UIPort)); err != nil {
		return err
	}
	if full := shortage(s.o.Dir, roomNeeded); full != "" && !s.o.Memory {
		return fmt.Errorf("the Temporal server was not started: %s, %d kB at least, or use another folder with --state", full, roomNeeded>>10)
	}
	from, ended, err := s.spawn(listen)
	if err != nil {
		return err
	}
	for {
		if _, answers, _, err := look(s.o.Dir, s.silent); answers || err != nil {
			return err
		}
		select {
		case err := <-ended:
			if err != nil {
				return fmt.Errorf("the Temporal server did not start (%w):\n%s", err, s.printed(from))
			}
			return nil // it found a running one
		default:
		}
		if err := p.wait(ctx); err != nil {
			return errors.Join(err, errors.New("the Temporal server was still starting"))
		}
	}
}

// spawn starts the program in its own session, so that neither a terminal's signals nor the end of this process reach
// it. It returns where in the log the program's output begins.
func (s *Server) spawn(listen string) (from int64, ended <-chan error, err error) {
	path := filepath.Join(s.o.Dir, logFile)
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if st, err := os.Stat(path); err == nil && st.Size() > logMost {
		flags |= os.O_TRUNC
	}
	log, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return 0, nil, err
	}
	defer log.Close()
	// A full disk or quota shows here, where this process can say so.
	if _, err := fmt.Fprintf(log, "redsi, process %d, starts the server\n", os.Getpid()); err != nil {
		return 0, nil, err
	}
	if from, err = log.Seek(0, io.SeekEnd); err != nil {
		return 0, nil, err
	}
	args := []string{"--dir", s.o.Dir, "--port", strconv.Itoa(s.o.Port), "--ui-port", strconv.Itoa(s.o.UIPort),
		"--listen", listen, "--silent", strconv.Itoa(s.silent), fmt.Sprintf("--memory=%t", s.o.Memory)}
	if s.o.Idle > 0 {
		args = append(args, "--idle", s.o.Idle.String())
	}
	if s.o.Long > 0 {
		args = append(args, "--long", strconv.Itoa(s.o.Long))
	}
	for _, a := range s.o.SearchAttributes {
		args = append(args, "--attribute", a)
	}
	cmd := exec.Command(s.o.Program, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = system.Session()
	if err := cmd.Start(); err != nil {
		return 0, nil, fmt.Errorf("start %s: %w", s.o.Program, err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	return from, done, nil
}

// printed returns the end of the server's output since a place in the log.
func (s *Server) printed(from int64) string {
	b, err := os.ReadFile(filepath.Join(s.o.Dir, logFile))
	if err != nil {
		return err.Error()
	}
	if from <= int64(len(b)) {
		b = b[from:]
	}
	if b = bytes.TrimSpace(b); len(b) == 0 {
		return "it printed nothing"
	}
	return string(b[max(0, len(b)-2000):])
}

const loopback = "127.0.0.1"

// claimable fails if another program listens at the port of an address; 0 is always free.
func claimable(host string, port int) error {
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("port %d: %w: %w", port, ErrPort, err)
	}
	return l.Close()
}
