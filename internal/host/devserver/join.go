package devserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/redsi/redsi/internal/system/readers"
)

// Options describes the server that a process needs.
type Options struct {
	Program          string // path of the server program
	Dir              string // state folder: database, log, keys, locks
	Memory           bool   // keep the database in memory
	Port, UIPort     int    // wanted ports; 0: the last ones, or free ones
	Strict           bool   // a running server with other ports is an error
	Listen           string // name or IP address of this machine on which others are to reach the server; "": as it runs, or not at all
	SearchAttributes []string
	Idle             time.Duration // how long it stays without a client; 0: two seconds
	Long             int           // events after which a workflow is told that its history is long; 0: the default of clusters

	// First is called by the first process of a folder, before any other may join.
	First func(context.Context, *Server) error
	// Say tells the person what is being waited for; it may be called from any goroutine.
	Say func(string)
}

// Server is a server that this process uses, perhaps with others.
type Server struct {
	Info // as it was when this process joined

	o              Options
	clients, first *flock.Flock
	silent         int // number of the claim of another machine, gone since, which a server here may take over

	mu   sync.Mutex
	seen int // process of the server that was last reported
}

// ErrPort says that a requested port is not available.
var ErrPort = errors.New("cannot listen on it")

// ErrDir says that the path of a folder is too long.
var ErrDir = errors.New("the path is too long for the server's database")

// maxDir is the most bytes of a folder's path: SQLite accepts 512, including its files' names.
const maxDir = 440

// ErrOther says that the folder's server uses other ports, or another address, than requested.
var ErrOther = errors.New("the server of this state folder is already running on other ports or another address")

// Join uses the server of o.Dir, and starts it if there is none.
func Join(ctx context.Context, o Options) (*Server, error) {
	if o.Say == nil {
		o.Say = func(string) {}
	}
	if len(o.Dir) > maxDir {
		return nil, fmt.Errorf("%s: %w: it has %d bytes, at most %d are possible", o.Dir, ErrDir, len(o.Dir), maxDir)
	}
	if o.Listen != "" {
		var err error
		if o.Listen, err = addressOf(ctx, o.Listen); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, explainFull(o.Dir, err)
	}
	s := &Server{o: o, clients: lockOf(o.Dir, clientsLock), first: lockOf(o.Dir, firstLock)}
	if err := s.join(ctx); err != nil {
		s.Close()
		return nil, explainFull(o.Dir, err)
	}
	return s, nil
}

// Visit is for looking only: it starts no server. A server that answers stays until the visit is closed, unless it is
// another machine's. The result is nil without a server, the error ErrElsewhere or the like if one may be out of sight.
func Visit(ctx context.Context, dir string) (*Server, error) {
	s := &Server{o: Options{Dir: dir}, clients: lockOf(dir, clientsLock), first: lockOf(dir, firstLock)}
	if i, err := reach(dir); err == nil && i.Listen != "" {
		if _, other := elsewhere(dir, 0); other {
			s.Info, s.UI = i, "" // only its own machine reaches the UI
			return s, nil
		}
	}
	for {
		_, ok, err := running(dir)
		if ok {
			if ok, err = take(s.clients, shared); ok { // it can no longer end, if it has not already
				if s.Info, ok, err = running(dir); ok {
					return s, nil
				}
			} else if err == nil {
				if err = readers.Pause(ctx, lookEvery); err == nil { // it checks whether it is in use, or ends
					continue
				}
			}
		}
		s.Close()
		return nil, err
	}
}

func (s *Server) join(ctx context.Context) error {
	if err := s.settle(ctx); err != nil {
		return err
	}
	ending := &patience{say: s.o.Say, what: func() string {
		return "waiting for the previous Temporal server of this state folder to end: " + Condition(s.o.Dir)
	}}
	if err := await(ctx, s.clients, ending, shared); err != nil {
		return err
	}
	starting := &patience{say: s.o.Say, what: func() string {
		return "waiting for another redsi with this state folder, which is starting the Temporal server"
	}}
	if err := await(ctx, s.first, starting, exclusiveLock, shared); err != nil {
		return err
	}
	exclusive := s.first.Locked()
	if err := s.agree(ctx, exclusive); err != nil {
		return err
	}
	if !exclusive {
		return nil
	}
	if s.o.First != nil {
		if err := s.o.First(ctx, s); err != nil {
			return err
		}
	}
	return await(ctx, s.first, starting, shared)
}

// agree gets a server on the requested address and ports. A server on others is ended if nobody uses it.
func (s *Server) agree(ctx context.Context, exclusive bool) error {
	if i, answers, _, err := look(s.o.Dir, s.silent); err != nil {
		return err
	} else if answers && !s.wanted(i) {
		switch {
		case exclusive:
			_ = i.signal(syscall.SIGTERM)
			p := &patience{say: s.o.Say, what: func() string { return "waiting for the Temporal server to end: " + s.Condition() }}
			if err := awaitEnd(ctx, s.o.Dir, i.PID, s.silent, p); err != nil {
				return err
			}
		case s.o.Strict, !s.listens(i):
			return fmt.Errorf("%w: Temporal at %s, its UI at %s (process %d)", ErrOther, i.Address, i.UI, i.PID)
		}
	}
	var err error
	s.Info, err = s.ensure(ctx)
	return err
}

func (s *Server) wanted(i Info) bool {
	return s.listens(i) && (s.o.Port == 0 || s.o.Port == portOf(i.Address)) && (s.o.UIPort == 0 || s.o.UIPort == portOf(i.UI))
}

func (s *Server) listens(i Info) bool { return s.o.Listen == "" || s.o.Listen == i.Listen }

// portOf returns the port of HOST:PORT or http://HOST:PORT; 0 if there is none.
func portOf(address string) int {
	_, port, _ := strings.CutLast(address, ":")
	n, _ := strconv.Atoi(port)
	return n
}

// Close leaves the server, which ends once all have left.
func (s *Server) Close() {
	s.first.Close()
	s.clients.Close()
}

// Condition describes the present state of the server.
func (s *Server) Condition() string { return Condition(s.o.Dir) }

// Profile is the path of the configuration file for Temporal's tools.
func (s *Server) Profile() string { return filepath.Join(s.o.Dir, ProfileFile) }
