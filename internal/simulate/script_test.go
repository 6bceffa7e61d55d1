package simulate

import (
	"time"

	"go.temporal.io/api/history/v1"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/workflows"
)

// A script is a schedule before it happens: a value, so that one that fails can be made smaller
// and done again.
type script struct {
	Seed     draw
	Pipeline pipelineScript
	Servers  int  // Temporal servers, 1 or 2: runs of the second share only the store with the others
	Workers  int  // processes of each at the start
	Uneven   bool // all but the first have room for 1 CPU and 1 GB
	Acts     []act
	Faults   []fault
}

// An act is what somebody does at a time after the start.
type act struct {
	At     time.Duration
	For    time.Duration // of freeze; of gc, its grace
	Do     string        // run, cancel, gc, kill, stop, start, freeze
	Server int
	Number int // of a run, from 0, among the runs of the script; of a process, likewise

	Edition    int // of the pipeline: the same steps with some others
	FailFast   bool
	SkipFailed bool // leave out what failed for good before
	Killed     bool // a run of the same plan was killed for good before
}

// A fault is what happens to a store, or to answers of a server, for a while.
type fault struct {
	At, For time.Duration
	What    string  // outage, slow, throttle, lost-answer, stale-list (store); redeliver, lose-task, continue (server)
	Rate    float64 // of calls
}

// observed is what came of a script.
type observed struct {
	script    script
	runs      []ran
	work      []work
	store     artifacts.Store // as it was left, without its faults
	leases    []string        // that are left
	open      []string        // workflows that have not ended, "server 0: step/ab…"
	histories []*history.History
	longest   int      // events of a history
	largest   int      // bytes of a payload
	troubles  []string // panics, workflow tasks that failed, goroutines left over
	stuck     bool     // the schedule did not end in its virtual time

	stored  []stored                  // what changed in the store, in order
	harmed  map[artifacts.Digest]bool // blobs that faults damaged or took
	unhandy []unhandy
}

// ran is what came of a run.
type ran struct {
	act
	id                      string
	plan                    artifacts.Digest // that it began with
	began, ended, cancelled time.Duration    // after the start; zero: it has not
	result                  *workflows.ReproduceResult
	err                     error
	record                  *workflows.RunRecord // nil: there is none
}

// work is one try of a step or part by a process.
type work struct {
	run, address    string
	key             artifacts.Digest
	part            bool
	server, process int
	began, ended    time.Duration
	how             string // done, failed, cancelled, lost (its process was killed), "" if it goes on
}

// stored is a change of the store, for which work may be done again.
type stored struct {
	at    time.Duration
	what  string // result: there is one now; result gone; gone: a blob was deleted, damaged or taken; back: it was put again; opened, closed: a run
	run   string
	key   artifacts.Digest // of a result
	blobs []artifacts.Digest
}

// unhandy is a time in which no process of a server lived; to is zero if none came back.
type unhandy struct {
	server   int
	from, to time.Duration
}
