// Package drive owns what drives runs: it connects to Temporal or starts it, runs steps in this
// process, starts, follows and finds runs, and reads their results. It must not know flags, or
// how any of it is shown on a terminal.
package drive

import (
	"time"

	"github.com/redsi/redsi/internal/host/compute"
	"github.com/redsi/redsi/internal/host/scratch"
	"github.com/redsi/redsi/internal/host/telemetry"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/session"
)

// Driver drives runs for a session: it connects to Temporal, runs steps in this process, and
// finds out how runs are.
type Driver struct {
	*session.Session
	// Patience is how long to wait in silence.
	Patience       func() time.Duration
	MetricsAddress string
	// Show begins to show a run that is followed, and what is said meanwhile, until over.
	Show func() (s Screen, said <-chan string, over func())

	Waits     Waits
	telemetry *telemetry.Telemetry // once something is shown
	Scratch   *scratch.Area        // once steps may run here
	second    *compute.Pool        // likewise
	meter     *usage.Meter         // likewise
	watched   watched              // runs that are followed
}

// Close ends what was started for runs.
func (dr *Driver) Close() {
	dr.second.Close()
	if dr.Scratch != nil {
		if left := dr.Scratch.Close(); left != nil {
			dr.Log.Warn("folders of steps", "err", left)
		}
	}
	dr.telemetry.Close()
}
