package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// exitOnInterrupt ends the process, and the programs of its steps, at the next
// interrupt.
func (a *app) exitOnInterrupt(ctx context.Context) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	select {
	case <-c:
		if a.scratch != nil {
			a.scratch.EndPrograms()
		}
		os.Exit(exitFailed)
	case <-ctx.Done():
		signal.Stop(c)
	}
}
