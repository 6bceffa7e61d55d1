//go:build linux

package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/system/loopback"
)

// server is a Temporal or MinIO server of a round, which can be restarted at its address with its data.
type server struct {
	address string
	start   func() (*program, error)
	answers func() error
	p       *program
}

// up starts the server and waits until it answers.
func (s *server) up(limit time.Duration) (err error) {
	if s.p, err = s.start(); err != nil {
		return err
	}
	if !eventually(limit, func() bool { return !s.p.running() || s.answers() == nil }) || !s.p.running() {
		return fmt.Errorf("%s at %s does not answer: %w\n%s", s.p.name, s.address, s.answers(), s.p.said())
	}
	return nil
}

func (s *server) down() {
	if s != nil && s.p != nil {
		s.p.signal(syscall.SIGCONT)
		s.p.kill()
	}
}

// newServer returns a server of the round that runs the program in an environment variable.
func (r *round) newServer(variable string, args func(address string) []string, answers func(address string) error, env ...string) (*server, error) {
	path := os.Getenv(variable)
	if path == "" {
		return nil, fmt.Errorf("%s does not name a program: run with `make chaos`, which sets it", variable)
	}
	address, err := loopback.FreeAddress()
	return &server{address: address, answers: func() error { return answers(address) }, start: func() (*program, error) {
		return start(filepath.Base(path), r.dir, append(r.env(), env...), path, args(address)...)
	}}, err
}

// temporalServer is a cluster of one node: the server of a state folder of its own, reached by clusterProfile.
func (r *round) temporalServer() (*server, error) {
	return r.newServer("REDSI_TEMPORAL_SERVER", func(address string) []string {
		_, port, _ := net.SplitHostPort(address)
		return []string{"--dir", r.path("cluster"), "--port", port, "--idle", "24h"}
	}, func(address string) error {
		_, err := os.Stat(r.clusterProfile())
		c, derr := net.DialTimeout("tcp", address, time.Second)
		if derr == nil {
			c.Close()
		}
		return errors.Join(err, derr)
	})
}

func (r *round) clusterProfile() string { return r.path("cluster", devserver.ProfileFile) }

// minioServer is an object store with the bucket "redsi", a folder of its disk.
func (r *round) minioServer() (*server, error) {
	console, err := loopback.FreeAddress()
	if err != nil {
		return nil, err
	}
	return r.newServer("REDSI_MINIO", func(address string) []string {
		return []string{"server", "--quiet", "--address", address, "--console-address", console, r.path("minio")}
	}, func(address string) error {
		resp, err := (&http.Client{Timeout: 2 * time.Second}).Get("http://" + address + "/minio/health/ready")
		if err == nil {
			if resp.Body.Close(); resp.StatusCode != http.StatusOK {
				err = errors.New(resp.Status)
			}
		}
		return err
	}, "MINIO_ROOT_USER="+accessKey, "MINIO_ROOT_PASSWORD="+secretKey, "MINIO_BROWSER=off", "MINIO_UPDATE=off")
}

// The keys of the rounds' own servers, which are not secret.
const accessKey, secretKey = "redsi-chaos", "redsi-chaos-secret"

// place is where a round's runs take place.
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
	err := r.shape.write(r.dir)
	for _, d := range []string{"marks", "home", "tmp", ".redsi", "cluster"} {
		err = errors.Join(err, os.MkdirAll(r.path(d), 0o755))
	}
	if small := r.fault.small; small != "" && err == nil {
		var undo func()
		if undo, err = smallDisk(r.path(small), diskBytes); err == nil {
			r.closer = append(r.closer, undo)
		}
	}
	if err != nil {
		return err
	}
	switch r.fault.place {
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
	if err := os.MkdirAll(r.path("minio", "redsi"), 0o755); err != nil {
		return err
	}
	if r.minio, err = r.minioServer(); err != nil {
		return err
	}
	if r.proxy, err = newProxy(r.minio.address, r.rng.Uint64()); err != nil {
		return err
	}
	r.closer = append(r.closer, func() { r.proxy.server.Close() })
	return r.minio.up(r.slack(time.Minute))
}

func (r *round) setupCluster() (err error) {
	if r.lord, err = r.temporalServer(); err != nil {
		return err
	}
	if err := errors.Join(r.lord.up(r.slack(time.Minute)), r.setupBucket()); err != nil {
		return err
	}
	r.work = make([]*program, max(2, r.fault.workers))
	return r.employ()
}

// employ starts the workers, and replaces workers that have ended, as a supervisor would.
func (r *round) employ() (err error) {
	for i, p := range r.work {
		if err == nil && (p == nil || !p.running()) {
			args := []string{"worker", "--queue", "redsi", "--temporal-profile", devserver.ProfileName, "--slots", "4", "--state", fmt.Sprintf("worker-%d", i)}
			r.work[i], err = r.redsi(fmt.Sprintf("worker %d", i), append(args, r.storeArgs(false)...)...)
		}
	}
	return err
}

// attended waits until ready, and looks after the workers as a supervisor would.
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

func (r *round) setupDev() (err error) {
	if r.dev, err = r.redsi("dev", "dev", "--port", "0", "--ui-port", "0"); err != nil {
		return err
	}
	if !eventually(r.slack(recovery), func() bool { return strings.Contains(r.dev.said(), "Temporal:") || !r.dev.running() }) || !r.dev.running() {
		return fmt.Errorf("redsi dev did not start: %s", r.dev.tail(5))
	}
	return nil
}

// dismiss ends workers, dev and servers, before left-overs are looked for.
func (r *round) dismiss() {
	asked := r.work
	if r.dev != nil {
		asked = append(asked, r.dev)
	}
	for _, p := range asked {
		p.signal(syscall.SIGINT)
	}
	for _, p := range asked {
		r.leaves(p, syscall.SIGINT)
	}
	r.lord.down()
	r.minio.down()
}
