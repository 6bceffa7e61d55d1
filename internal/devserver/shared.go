package devserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Info is how a running server of a folder is reached.
type Info struct {
	Address string `json:"address"`
	UI      string `json:"ui"`
	PID     int    `json:"pid"` // of the process that owns the server
}

const (
	infoFile    = "server.json"
	ownerLock   = "owner.lock"   // held by the process that runs the server
	clientsLock = "clients.lock" // shared by the processes that use it
)

// Shared is a server that several processes of one folder use. The first one
// runs it and stays until the others have left.
type Shared struct {
	Info
	Server *Server // nil in all but the owner

	dir            string
	owner, clients *os.File
}

// Join uses the server of o.Dir, or starts it if no process of that folder runs
// one. Locks are the operating system's, so a killed process holds none.
func Join(ctx context.Context, o Options) (*Shared, error) {
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, err
	}
	for {
		s := &Shared{dir: o.Dir}
		mine, err := s.tryOwn()
		if err != nil {
			return nil, err
		}
		if mine {
			return s, s.start(ctx, o)
		}
		if err := s.attach(ctx); err == nil {
			return s, nil
		}
		select { // the owner is starting or ending: look again
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (s *Shared) tryOwn() (bool, error) {
	f, err := os.OpenFile(filepath.Join(s.dir, ownerLock), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return false, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		f.Close()
		return false, nil
	}
	if err != nil {
		f.Close()
		return false, fmt.Errorf("lock %s: %w", s.dir, err)
	}
	s.owner = f
	return true, nil
}

func (s *Shared) start(ctx context.Context, o Options) error {
	server, err := Start(ctx, o)
	if err != nil {
		s.owner.Close()
		return err
	}
	s.Server = server
	s.Info = Info{Address: server.Address, UI: server.UI, PID: os.Getpid()}
	b, err := json.Marshal(s.Info)
	if err == nil {
		err = os.WriteFile(filepath.Join(s.dir, infoFile), b, 0o644)
	}
	if err != nil {
		s.Close(ctx, nil)
	}
	return err
}

// attach registers as a user of another process's server.
func (s *Shared) attach(ctx context.Context) error {
	f, err := os.OpenFile(filepath.Join(s.dir, clientsLock), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	if err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err == nil {
		var b []byte
		if b, err = os.ReadFile(filepath.Join(s.dir, infoFile)); err == nil {
			err = json.Unmarshal(b, &s.Info)
		}
	}
	if err == nil {
		err = answers(ctx, s.Address)
	}
	if err != nil {
		f.Close()
		return err
	}
	s.clients = f
	return nil
}

// Close leaves the server. The owner waits until no other process uses it, told
// by waiting (which may be nil) once if it has to, or until ctx ends, and stops it.
func (s *Shared) Close(ctx context.Context, waiting func()) {
	if s.clients != nil {
		s.clients.Close() // and with it the lock
	}
	if s.Server == nil {
		return
	}
	s.awaitClients(ctx, waiting)
	_ = os.Remove(filepath.Join(s.dir, infoFile)) // a stale one is not answered, and ignored
	s.Server.Stop()
	s.owner.Close()
}

func (s *Shared) awaitClients(ctx context.Context, waiting func()) {
	f, err := os.OpenFile(filepath.Join(s.dir, clientsLock), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return
	}
	defer f.Close()
	for told := false; ctx.Err() == nil; told = true {
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			return
		}
		if !told && waiting != nil {
			waiting()
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
}
