package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// claim is this machine's right to run the server of a folder that other machines may see too: where locks are each
// machine's own (GPFS, Lustre's localflock, NFS's local_lock), owner.lock keeps out only processes of the same machine.
// Claims are files owner.1, owner.2, …, each created once, by link; the highest is in force. Its process writes to it
// each beat, by which redsi tells whether the process lives, and starts a server over a claim that is silent.
type claim struct {
	dir    string
	number int
}

// beat is how often the holder of a claim writes to it.
const beat = 2 * time.Second

// claimant identifies a claim's machine. internal/host/devserver reads it.
type claimant struct {
	Host  string    `json:"host"`
	Boot  string    `json:"boot"` // "" where the system does not say
	Since time.Time `json:"since"`
}

// here reports whether the claimant is this machine, since its last boot.
func (c claimant) here() bool {
	host, _ := os.Hostname()
	if boot := bootID(); boot != "" && c.Boot != "" {
		return c.Boot == boot
	}
	return c.Host == host
}

// newestClaim returns the number of the claim in force, 0 if there is none, and its claimant.
func newestClaim(dir string) (number int, by claimant, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, by, err
	}
	for _, e := range entries {
		if n, ok := strings.CutPrefix(e.Name(), "owner."); ok {
			i, _ := strconv.Atoi(n) // 0: another file
			number = max(number, i)
		}
	}
	if number == 0 {
		return 0, by, nil
	}
	b, err := os.ReadFile(claimFile(dir, number))
	if err == nil {
		_ = json.Unmarshal(b, &by) // a damaged claim counts as another machine's
	}
	return number, by, err
}

func claimFile(dir string, number int) string {
	return filepath.Join(dir, "owner."+strconv.Itoa(number))
}

// makeClaim claims the folder for this process, which holds owner.lock: over a claim of this machine, whose process has
// ended, or over another machine's claim of at most number silent. Else it fails with errOwned.
func makeClaim(dir string, silent int) (*claim, error) {
	last, by, err := newestClaim(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errOwned // the owner ends or changes at this moment
	}
	if err != nil {
		return nil, err
	}
	if last > silent && !by.here() {
		return nil, errOwned
	}
	c := &claim{dir, last + 1}
	host, _ := os.Hostname()
	b, err := json.Marshal(claimant{Host: host, Boot: bootID(), Since: time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return nil, err
	}
	next := filepath.Join(dir, fmt.Sprintf("owner.new-%s-%d", host, os.Getpid()))
	if err := os.WriteFile(next, append(b, '\n'), 0o600); err != nil {
		return nil, err
	}
	defer os.Remove(next)
	if err := os.Link(next, claimFile(dir, c.number)); errors.Is(err, fs.ErrExist) {
		return nil, errOwned
	} else if err != nil {
		return nil, err
	}
	for n := last; n > 0 && os.Remove(claimFile(dir, n)) == nil; n-- {
	}
	if last > 0 && !by.here() {
		time.Sleep(2 * beat) // a process that was only stopped notices at its next beat, before the database is opened here
	}
	go c.keep()
	return c, nil
}

// keep writes to the claim each beat, as long as the process lives. It ends the process when the claim is gone: the
// folder is another machine's then.
func (c *claim) keep() {
	for range time.Tick(beat) {
		// In place: the time is then the file server's, and other machines see it when they open the file.
		f, err := os.OpenFile(claimFile(c.dir, c.number), os.O_WRONLY, 0)
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintln(os.Stderr, "temporal-server: the folder is gone, or another machine has taken it over, since this process was silent for a minute")
			os.Exit(0)
		}
		if err == nil {
			_, _ = f.WriteAt([]byte("{"), 0) // a full disk has room for it
			_ = f.Close()
		}
	}
}

// release frees the folder for the next server.
func (c *claim) release() { _ = os.Remove(claimFile(c.dir, c.number)) }

// bootID identifies this machine's present boot; "" where the system does not say.
func bootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b))
}
