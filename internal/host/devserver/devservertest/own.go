package devservertest

import (
	"context"
	"os"
	"syscall"

	"github.com/redsi/redsi/internal/host/devserver"
)

// OwnServer is a server for one process, in memory and in its own folder.
type OwnServer struct {
	*devserver.Server
	dir string
}

// Start runs a server for this process.
func Start(ctx context.Context, o devserver.Options) (*OwnServer, error) {
	dir, err := os.MkdirTemp("", "redsi-temporal-*")
	if err != nil {
		return nil, err
	}
	o.Dir, o.Memory = dir, true
	s, err := devserver.Join(ctx, o)
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return &OwnServer{s, dir}, nil
}

// Stop ends the server and removes its folder.
func (a *OwnServer) Stop() {
	if i, ok := devserver.Running(a.dir); ok {
		_ = syscall.Kill(i.PID, syscall.SIGKILL)
	}
	a.Close()
	os.RemoveAll(a.dir)
}
