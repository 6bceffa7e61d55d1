//go:build linux

package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/system/loopback"
)

// server is a Temporal or MinIO server of a round's cluster, which can be ended
// and started again at the same address with the same data.
type server struct {
	name    string
	address string
	start   func() (*process, error)
	answers func() error
	p       *process
}

// up starts the server and waits until it answers.
func (s *server) up(limit time.Duration) error {
	p, err := s.start()
	if err != nil {
		return err
	}
	s.p = p
	if !eventually(limit, func() bool { return !p.running() || s.answers() == nil }) {
		return fmt.Errorf("%s at %s does not answer: %w\n%s", s.name, s.address, s.answers(), p.out)
	}
	if !p.running() {
		return fmt.Errorf("%s ended at its start:\n%s", s.name, p.out)
	}
	return nil
}

func (s *server) down() {
	if s != nil && s.p != nil {
		s.p.signal(syscall.SIGCONT)
		s.p.kill()
	}
}

// temporalServer is a cluster of one node that keeps its history in a file: the server of a state folder that no redsi
// has as its own. clusterProfile is how it is reached.
func temporalServer(dir string, env []string) (*server, error) {
	program := os.Getenv("REDSI_TEMPORAL_SERVER")
	if program == "" {
		return nil, errors.New("REDSI_TEMPORAL_SERVER does not name a program: run with `make chaos`, which sets it")
	}
	address, err := loopback.FreeAddress()
	if err != nil {
		return nil, err
	}
	state := filepath.Join(dir, "cluster")
	if err := os.MkdirAll(state, 0o755); err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(address)
	return &server{name: "temporal", address: address,
		start: func() (*process, error) {
			return start("temporal", dir, env, program, "--dir", state, "--port", port, "--idle", "24h")
		},
		answers: func() error {
			_, err := os.Stat(clusterProfile(dir))
			return errors.Join(err, listens(address))
		}}, nil
}

func clusterProfile(dir string) string { return filepath.Join(dir, "cluster", devserver.ProfileFile) }

// minioServer is an object store with the bucket "redsi".
func minioServer(dir string, env []string) (*server, error) {
	program := os.Getenv("REDSI_MINIO")
	if program == "" {
		return nil, errors.New("REDSI_MINIO does not name a minio program: run with `make chaos`, which sets it")
	}
	address, err := loopback.FreeAddress()
	if err != nil {
		return nil, err
	}
	console, err := loopback.FreeAddress()
	if err != nil {
		return nil, err
	}
	disk := filepath.Join(dir, "minio")
	if err := os.MkdirAll(filepath.Join(disk, "redsi"), 0o755); err != nil { // a folder of the disk is a bucket
		return nil, err
	}
	env = append(env, "MINIO_ROOT_USER="+accessKey, "MINIO_ROOT_PASSWORD="+secretKey, "MINIO_BROWSER=off", "MINIO_UPDATE=off")
	return &server{name: "minio", address: address,
		start: func() (*process, error) {
			return start("minio", dir, env, program, "server", "--quiet", "--address", address, "--console-address", console, disk)
		},
		answers: func() error { return ready("http://" + address + "/minio/health/ready") }}, nil
}

// The keys of the rounds' own servers, which are not secret.
const accessKey, secretKey = "redsi-chaos", "redsi-chaos-secret"

func listens(address string) error {
	c, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return err
	}
	return c.Close()
}

func ready(url string) error {
	resp, err := (&http.Client{Timeout: 2 * time.Second}).Get(url)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	return nil
}
