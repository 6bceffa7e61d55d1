//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/redsi/redsi/internal/host/devserver"
)

// place is what a round's runs are part of.
type place string

const (
	embedded  place = "folder"  // a folder with a server of its own
	developer place = "dev"     // the same, and `redsi dev`
	cluster   place = "cluster" // a Temporal server, MinIO behind a proxy, two workers
	bucket    place = "bucket"  // as folder, with MinIO behind a proxy
	models    place = "models"  // as folder, with a training, which the second program computes
)

// diskBytes is the size of a small disk.
const diskBytes = 512 << 20

func (r *round) setup() error {
	for _, d := range []string{"marks", "home", "tmp", ".redsi"} {
		if err := os.MkdirAll(r.path(d), 0o755); err != nil {
			return err
		}
	}
	if err := r.shape.write(r.dir); err != nil {
		return err
	}
	if small := r.plan.fault.small; small != "" {
		undo, err := smallDisk(r.path(small), diskBytes)
		if err != nil {
			return err
		}
		r.closer = append(r.closer, undo)
	}
	switch r.plan.fault.place {
	case cluster:
		return r.setupCluster()
	case bucket:
		return r.setupBucket()
	case developer:
		return r.setupDev()
	}
	return nil
}

func (r *round) setupBucket() (err error) {
	if r.minio, err = minioServer(r.dir, r.env()); err != nil {
		return err
	}
	if r.proxy, err = newProxy(r.minio.address, r.rng.Uint64()); err != nil {
		return err
	}
	r.closer = append(r.closer, func() { r.proxy.server.Close() })
	return r.minio.up(r.slack(time.Minute))
}

func (r *round) setupCluster() (err error) {
	if r.lord, err = temporalServer(r.dir, r.env()); err != nil {
		return err
	}
	if err := errors.Join(r.lord.up(r.slack(time.Minute)), r.setupBucket()); err != nil {
		return err
	}
	for i := range max(2, r.plan.fault.workers) {
		p, err := r.worker(i, "")
		if err != nil {
			return err
		}
		r.work = append(r.work, p)
	}
	return nil
}

// worker starts the worker of a number.
func (r *round) worker(i int, suffix string) (*process, error) {
	args := []string{"worker", "--queue", "redsi", "--temporal-profile", devserver.ProfileName, "--slots", "4", "--state", fmt.Sprintf("worker-%d", i)}
	return r.redsi(fmt.Sprintf("worker %d%s", i, suffix), append(args, r.storeArgs(false)...)...)
}

// attended waits for something while a supervisor looks after the workers: one that
// found no server or store at its start has ended.
func (r *round) attended(most time.Duration, ready func() bool) {
	eventually(most, func() bool {
		if r.lord != nil && time.Since(r.looked) > time.Second {
			r.looked = time.Now()
			if err := r.employ(); err != nil {
				r.violate("%v", err)
			}
		}
		return ready()
	})
}

// employ starts workers for those that have ended, as a supervisor would.
func (r *round) employ() error {
	for i, p := range r.work {
		if p.running() {
			continue
		}
		n, err := r.worker(i, " again")
		if err != nil {
			return err
		}
		r.work[i] = n
	}
	return nil
}

func (r *round) setupDev() error {
	var err error
	if r.dev, err = r.redsi("dev", "dev", "--port", "0", "--ui-port", "0"); err != nil {
		return err
	}
	if !eventually(r.slack(recovery), func() bool { return strings.Contains(r.dev.out.String(), "Temporal:") || !r.dev.running() }) || !r.dev.running() {
		return fmt.Errorf("redsi dev did not start: %s", r.dev.out.tail(5))
	}
	return nil
}

// dismiss asks what serves for ever to end, before left-overs are looked for.
func (r *round) dismiss() {
	asked := append([]*process{r.dev}, r.work...)
	for _, p := range asked {
		if p != nil {
			p.signal(syscall.SIGINT)
		}
	}
	for _, p := range asked {
		if p != nil {
			r.leaves(p, syscall.SIGINT)
		}
	}
	r.lord.down()
	r.minio.down()
}

// within lists what a folder has of a pattern.
func within(dir, pattern string) []string {
	found, _ := filepath.Glob(filepath.Join(dir, pattern))
	return found
}
