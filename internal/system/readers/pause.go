package readers

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"
)

// Pause returns after d, or with ctx's cause when ctx is over.
func Pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Unreachable reports whether an error of an HTTP request says that there was no way to the server, as without a
// network. A server that refuses the connection, or ends it, was reached.
func Unreachable(err error) bool {
	dial, ok := errors.AsType[*net.OpError](err)
	return ok && (dial.Op == "dial" || dial.Op == "proxyconnect") && !errors.Is(err, syscall.ECONNREFUSED)
}
