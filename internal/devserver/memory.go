package devserver

import (
	"context"
	"os"
	"syscall"
)

// Alone is a server for one process, in memory and in a folder of its own.
type Alone struct{ *Server }

// Start runs a server of this process's own, for tests.
func Start(ctx context.Context, o Options) (*Alone, error) {
	dir, err := os.MkdirTemp("", "redsi-temporal-*")
	if err != nil {
		return nil, err
	}
	o.Dir, o.Memory = dir, true
	s, err := Join(ctx, o)
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return &Alone{s}, nil
}

// Stop ends the server and removes its folder.
func (a *Alone) Stop() {
	if i, ok := Running(a.o.Dir); ok {
		_ = syscall.Kill(i.PID, syscall.SIGKILL)
	}
	a.Close()
	os.RemoveAll(a.o.Dir)
}
