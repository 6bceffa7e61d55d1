//go:build linux

package main

import "syscall"

// brief has many steps that batches do, for as long as it takes to meet them.
var brief = shape{Name: "brief", Fast: 6, Slow: 14, Tenths: 7, Once: 1, Pieces: 6, Corpus: true}

func theRun(r *round) *process  { return r.cli }
func theDev(r *round) *process  { return r.dev }
func theLord(r *round) *server  { return r.lord }
func theMinIO(r *round) *server { return r.minio }

// faults is the whole list, in the order of the report. A round's fault is chosen
// by its place here, so a new one goes to the end of its group and moves seeds.
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
	{name: "server: kill -9 twenty times", place: embedded, itself: true, rare: 2, do: often, shape: &shape{Name: "long", Fast: 30, Slow: 8, Tenths: 60}},
	{name: "server: stopped for a while", place: embedded, itself: true, second: true, do: byRole(roleServer, syscall.SIGSTOP)},
	{name: "server: SIGTERM", place: embedded, itself: true, do: byRole(roleServer, syscall.SIGTERM)},
	{name: "server: SIGINT", place: embedded, itself: true, do: byRole(roleServer, syscall.SIGINT)},
	{name: "program of a step: kill -9", place: embedded, itself: true, second: true, do: byRole(roleStep, syscall.SIGKILL)},
	{name: "program of a step: stopped for a while", place: embedded, itself: true, do: byRole(roleStep, syscall.SIGSTOP)},
	{name: "helpers: kill -9", place: embedded, itself: true, do: byRole(roleOther, syscall.SIGKILL)},

	{name: "several runs in one folder, some hurt", place: embedded, many: true, special: crowd},
	{name: "dev's server: kill -9", place: developer, itself: true, do: byRole(roleServer, syscall.SIGKILL)},
	{name: "dev: kill -9", place: developer, itself: true, do: byDev(syscall.SIGKILL)},
	{name: "dev: Ctrl-C", place: developer, itself: true, do: byDev(syscall.SIGINT)},
	{name: "dev: stopped for a while", place: developer, itself: true, do: pause(theDev)},

	{name: "disk full", place: embedded, small: ".redsi", second: true, do: full},
	{name: "disk read-only", place: embedded, small: ".redsi", second: true, do: undone(func(r *round, _ choice) (func(), error) { return readOnly(r.path(".redsi")) })},
	{name: "few open files", place: embedded, do: undone(limited(roleServer, func(pid int, c choice) (func(), error) { return limitFiles(pid, c.N) }))},
	{name: "little memory", place: embedded, do: undone(limited(roleServer, func(pid int, c choice) (func(), error) { return limitMemory(pid, uint64(c.N)<<20) }))},

	{name: "clock: the times of all files jump by a year", place: embedded, itself: true, second: true, do: jump},

	{name: "worker: kill -9", place: cluster, itself: true, second: true, do: byWorker(syscall.SIGKILL)},
	{name: "worker: stopped for a while", place: cluster, itself: true, second: true, do: byWorker(syscall.SIGSTOP)},
	{name: "worker: SIGTERM", place: cluster, itself: true, do: byWorker(syscall.SIGTERM)},
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
	{name: "way to the store: 503", place: cluster, itself: true, do: byProxy(proxy503)},
	{name: "way to the store: delay", place: cluster, itself: true, do: byProxy(proxyDelay)},
	{name: "way to the store: slow", place: cluster, itself: true, do: byProxy(proxyRate)},
	{name: "way to the store: a bit flips", place: cluster, itself: true, do: byProxy(proxyFlip)},

	{name: "MinIO: kill -9", place: bucket, itself: true, second: true, away: true, shape: &brief, do: byServer(theMinIO, syscall.SIGKILL)},
	{name: "MinIO: stopped for a while", place: bucket, itself: true, away: true, shape: &brief, do: byServer(theMinIO, syscall.SIGSTOP)},
	{name: "MinIO: disk full", place: bucket, away: true, shape: &brief, small: "minio", do: full},

	{name: "second program: kill -9", place: models, itself: true, second: true, do: byRole(roleModels, syscall.SIGKILL)},
	{name: "second program: stopped for too long", place: models, itself: true, do: byRole(roleModels, syscall.SIGSTOP)},
	{name: "second program: little memory", place: models, itself: true, second: true, do: undone(limited(roleModels, func(pid int, _ choice) (func(), error) { return limitMemory(pid, 0) }))},
	{name: "second program: little memory at the start", place: models, itself: true, moment: momentFirst, do: undone(limited(roleModels, func(pid int, c choice) (func(), error) { return limitMemory(pid, uint64(c.N)<<20) }))},
	{name: "run and second program: kill -9", place: models, do: byAll},
	{name: "run of a training: kill -9", place: models, second: true, do: byRun(syscall.SIGKILL, 1)},
	{name: "run of a training: Ctrl-C", place: models, second: true, do: byRun(syscall.SIGINT, 1)},
	{name: "run of a training: Ctrl-C twice", place: models, do: byRun(syscall.SIGINT, 2)},

	{name: "two runs publish over what cannot be used", place: cluster, many: true, odd: true, special: rivals},
	{name: "20 runs at once on a cluster", place: cluster, rare: 3, many: true, workers: 2, special: twenty,
		shape: &shape{Name: "shared", Fast: 6, Slow: 2, Tenths: 20, Once: 1, Private: true}},
	{name: "2,000 steps, a worker killed every 10 s", place: cluster, rare: 10, many: true, workers: 3, special: thousands,
		shape: &shape{Name: "thousands", Fast: 660, Slow: 8, Tenths: 50, Once: 10, Pieces: 980}},
}

func byDev(s syscall.Signal) func(*round, choice) error {
	return func(r *round, _ choice) error {
		r.dev.signal(s)
		r.leaves(r.dev, s)
		if s == syscall.SIGKILL {
			return r.setupDev() // as somebody would
		}
		return nil
	}
}
