package cli

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/step"
)

// patience is how long to wait in silence: longer without a terminal.
func (a *app) patience() time.Duration {
	if terminal(a.Err) > 0 {
		return a.Waits.Silent
	}
	return a.Waits.Say
}

// Waiting says what it waits for, once that has taken a while, until over is called.
func (a *app) Waiting(what string) (over func()) {
	return a.waitingFor(func() string { return what })
}

// waitingFor is Waiting with a changing text, which a terminal shows every second.
func (a *app) waitingFor(what func() string) (over func()) {
	patience := a.patience()
	if patience == 0 { // in tests
		return func() {}
	}
	done := make(chan struct{})
	began := time.Now()
	var telling sync.WaitGroup
	telling.Go(func() {
		next := time.NewTimer(patience)
		defer next.Stop()
		screen, _ := a.Err.(*view.Screen)
		for {
			select {
			case <-done:
				if screen != nil {
					screen.Show(nil)
				}
				return
			case <-next.C:
			}
			if screen == nil {
				a.Say(what() + " …")
				next.Reset(patience)
				continue
			}
			screen.Show(view.Waiting(what(), time.Since(began), terminal(screen)))
			next.Reset(time.Second)
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		telling.Wait()
	})
}

// Reading makes a context in which reading files reports its progress.
func (a *app) Reading(ctx context.Context, what string) (_ context.Context, over func()) {
	var mu sync.Mutex
	var files int
	var last step.Progress
	ctx = step.WithReporter(ctx, func(p step.Progress) {
		mu.Lock()
		defer mu.Unlock()
		if p.Note != last.Note {
			files++
		}
		last = p
	})
	return ctx, a.waitingFor(func() string {
		mu.Lock()
		defer mu.Unlock()
		if files == 0 {
			return what
		}
		return fmt.Sprintf("%s: %s read, %s", what, view.Count(files-1, "file"), view.Progress(last, 0))
	})
}
