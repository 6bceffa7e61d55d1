package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// info is what server.json says of a server that answers.
type info struct {
	Address string   `json:"address"`
	UI      string   `json:"ui"`
	Listen  string   `json:"listen,omitempty"` // IP address of a front end that other machines may reach
	PID     int      `json:"pid"`
	Start   string   `json:"start"` // identifies the process beside its number: boot and start time
	Notes   []string `json:"notes,omitempty"`
}

// folder is the state folder of a server, held by its owner.lock and its claim. The lock is the
// operating system's: it ends with the process however that dies.
type folder struct {
	dir   string
	owner *os.File
	claim *claim
}

var errOwned = errors.New("another process is the folder's server")

// own makes this process the server of dir, if need be over a claim of at most number silent.
func own(dir string, silent int) (*folder, error) {
	f, err := os.OpenFile(filepath.Join(dir, "owner.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errOwned
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	c, err := makeClaim(dir, silent)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &folder{dir, f, c}, nil
}

// leave removes what tells others that this process is the folder's server.
func (f *folder) leave() {
	_ = os.Remove(f.infoFile())
	f.claim.release()
}

func (f *folder) infoFile() string { return filepath.Join(f.dir, "server.json") }

// last returns where the last server answered, if it was killed.
func (f *folder) last() info {
	var i info
	if b, err := os.ReadFile(f.infoFile()); err == nil {
		_ = json.Unmarshal(b, &i) // a damaged file says nothing
	}
	return i
}

// announce says that this process answers.
func (f *folder) announce(i info) error {
	i.PID, i.Start = os.Getpid(), processStart()
	b, err := json.Marshal(i)
	if err != nil {
		return err
	}
	return replaceFile(f.infoFile(), b)
}

// watch returns when ctx ends, when the folder is gone, or when no process has held clients.lock for idle. No client can
// come after that: this process holds the lock then until it has ended.
func (f *folder) watch(ctx context.Context, idle time.Duration) {
	clients, err := os.OpenFile(filepath.Join(f.dir, "clients.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return
	}
	tick := time.NewTicker(min(idle/4, 250*time.Millisecond))
	defer tick.Stop()
	used := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if f.gone() {
			return
		}
		if syscall.Flock(int(clients.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
			used = time.Now()
			continue
		}
		if time.Since(used) >= idle {
			return
		}
		_ = syscall.Flock(int(clients.Fd()), syscall.LOCK_UN)
	}
}

// gone reports whether owner.lock is no longer the file that this process holds.
func (f *folder) gone() bool {
	held, err := f.owner.Stat()
	if err != nil {
		return true
	}
	now, err := os.Stat(f.owner.Name())
	return err != nil || !os.SameFile(held, now)
}

// writeProfile writes the configuration file by which Temporal's tools, and redsi elsewhere, reach this server.
func writeProfile(dir, address string) error {
	tls, err := filepath.Abs(filepath.Join(dir, "tls"))
	if err != nil {
		return err
	}
	text := fmt.Sprintf(`# Written by redsi for Temporal's tools: temporal --config-file FILE --profile redsi …
[profile.redsi]
address = %q
namespace = "default"

[profile.redsi.tls]
server_name = %q
server_ca_cert_path = %q
client_cert_path = %q
client_key_path = %q
`, address, serverName, filepath.Join(tls, caName+".pem"), filepath.Join(tls, clientName+".pem"), filepath.Join(tls, clientName+".key"))
	return replaceFile(filepath.Join(dir, "temporal.toml"), []byte(text))
}

// replaceFile gives the file its new content at once.
func replaceFile(path string, b []byte) error {
	next := path + ".new"
	if err := os.WriteFile(next, b, 0o600); err != nil {
		return err
	}
	return os.Rename(next, path)
}

// processStart says when this process began, so that a later process with its number is not taken for it; "" where the
// system does not say.
func processStart() string {
	boot := bootID()
	if boot == "" {
		return ""
	}
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 20 {
		return ""
	}
	return boot + "/" + fields[19]
}
