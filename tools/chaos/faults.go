//go:build linux

package main

import (
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

type fault struct {
	name    string
	place   place
	itself  bool   // the run must go on without the next one
	moment  string // of the run; "": any
	second  bool   // may be the second of a round
	away    bool   // the store is away for 5 to 20 s
	small   string // the folder that is a small disk of its own
	rare    int    // once in that many cycles; 0: in each
	alone   bool   // none is second to it
	workers int    // of a cluster; 0: two
	do      func(r *round, c choice) error
	shape   *shape // of its pipeline; nil: any of shapes
}

const (
	momentFirst = "first" // start of what is hurt
	momentLast  = "last"  // seconds of the run
)

func theRun(r *round) *program    { return r.cli }
func theDev(r *round) *program    { return r.dev }
func theWorker(r *round) *program { return r.work[r.rng.IntN(len(r.work))] }
func theLord(r *round) *server    { return r.lord }
func theMinIO(r *round) *server   { return r.minio }

func megabytes(c choice) uint64 { return uint64(c.N) << 20 }

// faults are all faults, in the order of the report. A round's fault is chosen by its place here, so a new fault goes
// to the end of its group, and changes what seeds draw.
var faults = []fault{
	{name: "run: kill -9", place: embedded, second: true, do: byRun(syscall.SIGKILL, 1)},
	{name: "run: kill -9 at the first start", place: embedded, moment: momentFirst, do: byRun(syscall.SIGKILL, 1)},
	{name: "run: kill -9 in the last second", place: embedded, moment: momentLast, do: byRun(syscall.SIGKILL, 1)},
	{name: "run: stopped for a while", place: embedded, itself: true, second: true, do: pause(theRun)},
	{name: "run: SIGTERM", place: embedded, do: byRun(syscall.SIGTERM, 1)},
	{name: "run: Ctrl-C", place: embedded, second: true, do: byRun(syscall.SIGINT, 1)},
	{name: "run: Ctrl-C twice", place: embedded, do: byRun(syscall.SIGINT, 2)},

	{name: "server: kill -9", place: embedded, itself: true, second: true, do: byRole(roleServer, syscall.SIGKILL)},
	{name: "server: kill -9 at the first start", place: embedded, itself: true, moment: momentFirst, do: byRole(roleServer, syscall.SIGKILL)},
	{name: "server: kill -9 in the last second", place: embedded, itself: true, moment: momentLast, do: byRole(roleServer, syscall.SIGKILL)},
	{name: "server: kill -9 twenty times", place: embedded, itself: true, rare: 2, do: often, shape: &long},
	{name: "server: stopped for a while", place: embedded, itself: true, second: true, do: byRole(roleServer, syscall.SIGSTOP)},
	{name: "server: SIGTERM", place: embedded, itself: true, do: byRole(roleServer, syscall.SIGTERM)},
	{name: "server: SIGINT", place: embedded, itself: true, do: byRole(roleServer, syscall.SIGINT)},
	{name: "program of a step: kill -9", place: embedded, itself: true, second: true, do: byRole(roleStep, syscall.SIGKILL)},
	{name: "program of a step: stopped for a while", place: embedded, itself: true, do: byRole(roleStep, syscall.SIGSTOP)},
	{name: "helpers: kill -9", place: embedded, itself: true, do: byRole(roleOther, syscall.SIGKILL)},

	{name: "several runs in one folder, some hurt", place: embedded, itself: true, alone: true, do: crowd},
	{name: "dev's server: kill -9", place: developer, itself: true, do: byRole(roleServer, syscall.SIGKILL)},
	{name: "dev: kill -9", place: developer, itself: true, do: byDev(syscall.SIGKILL)},
	{name: "dev: Ctrl-C", place: developer, itself: true, do: byDev(syscall.SIGINT)},
	{name: "dev: stopped for a while", place: developer, itself: true, do: pause(theDev)},

	{name: "disk full", place: embedded, small: ".redsi", second: true, do: full},
	{name: "disk read-only", place: embedded, small: ".redsi", second: true, do: readOnly},
	{name: "few open files", place: embedded, do: few(roleServer, unix.RLIMIT_NOFILE, openFiles, func(c choice) uint64 { return uint64(c.N) })},
	{name: "little memory", place: embedded, do: few(roleServer, unix.RLIMIT_AS, addresses, megabytes)},

	{name: "clock: the times of all files jump by a year", place: embedded, itself: true, second: true, do: jump},

	{name: "worker: kill -9", place: cluster, itself: true, second: true, do: byWorker(syscall.SIGKILL)},
	{name: "worker: stopped for a while", place: cluster, itself: true, second: true, do: pause(theWorker)},
	{name: "worker: Ctrl-C", place: cluster, itself: true, do: byWorker(syscall.SIGINT)},
	{name: "run on a cluster: kill -9", place: cluster, do: byRun(syscall.SIGKILL, 1)},
	{name: "run on a cluster: Ctrl-C", place: cluster, do: byRun(syscall.SIGINT, 1)},
	{name: "cluster's Temporal: kill -9", place: cluster, itself: true, second: true, do: byServer(theLord, syscall.SIGKILL)},
	{name: "cluster's Temporal: stopped for a while", place: cluster, itself: true, do: byServer(theLord, syscall.SIGSTOP)},
	{name: "cluster's Temporal: SIGTERM", place: cluster, itself: true, do: byServer(theLord, syscall.SIGTERM)},
	{name: "cluster's MinIO: kill -9", place: cluster, itself: true, second: true, away: true, shape: &brief, do: byServer(theMinIO, syscall.SIGKILL)},
	{name: "cluster's MinIO: stopped for a while", place: cluster, itself: true, away: true, shape: &brief, do: byServer(theMinIO, syscall.SIGSTOP)},
	{name: "cluster's MinIO: disk full", place: cluster, away: true, shape: &brief, small: "minio", do: full},
	{name: "way to the store: cut", place: cluster, itself: true, second: true, do: byProxy(proxyCut)},
	{name: "way to the store: reset", place: cluster, itself: true, do: byProxy(proxyReset)},
	{name: "way to the store: a bit flips", place: cluster, itself: true, do: byProxy(proxyFlip)},

	{name: "MinIO: kill -9", place: bucket, itself: true, second: true, away: true, shape: &brief, do: byServer(theMinIO, syscall.SIGKILL)},
	{name: "MinIO: stopped for a while", place: bucket, itself: true, away: true, shape: &brief, do: byServer(theMinIO, syscall.SIGSTOP)},
	{name: "MinIO: disk full", place: bucket, away: true, shape: &brief, small: "minio", do: full},

	{name: "second program: kill -9", place: models, itself: true, second: true, do: byRole(roleModels, syscall.SIGKILL)},
	{name: "second program: stopped for too long", place: models, itself: true, do: byRole(roleModels, syscall.SIGSTOP)},
	{name: "second program: little memory", place: models, itself: true, second: true, do: few(roleModels, unix.RLIMIT_AS, addresses, func(choice) uint64 { return 0 })},
	{name: "second program: little memory at the start", place: models, itself: true, moment: momentFirst, do: few(roleModels, unix.RLIMIT_AS, addresses, megabytes)},
	{name: "run and second program: kill -9", place: models, do: byAll},
	{name: "run of a training: kill -9", place: models, second: true, do: byRun(syscall.SIGKILL, 1)},
	{name: "run of a training: Ctrl-C", place: models, second: true, do: byRun(syscall.SIGINT, 1)},
	{name: "run of a training: Ctrl-C twice", place: models, do: byRun(syscall.SIGINT, 2)},

	{name: "20 runs at once on a cluster", place: cluster, itself: true, rare: 3, alone: true, do: twenty, shape: &shared},
	{name: "2,000 steps, a worker killed every 10 s", place: cluster, itself: true, rare: 10, alone: true, workers: 3, do: workersOften, shape: &thousands},
}

func faultNamed(name string) *fault {
	if i := slices.IndexFunc(faults, func(f fault) bool { return f.name == name }); i >= 0 {
		return &faults[i]
	}
	return nil
}
