package devserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/redsi/redsi/internal/system/process"
)

// Info says how to reach the server of a folder.
type Info struct {
	Address string   `json:"address"` // host:port of the gRPC frontend
	UI      string   `json:"ui"`      // URL of the web UI
	Listen  string   `json:"listen"`  // IP address on which other machines reach it; "": they do not
	PID     int      `json:"pid"`
	Start   string   `json:"start"` // distinguishes its process from a later one with the same id
	Notes   []string `json:"notes"` // for people, about its start
}

// InfoFile is the file of a server that answers; the server removes it when it ends.
const InfoFile = "server.json"

// ProfileFile is a server's configuration file for Temporal's tools in its folder, with the profile ProfileName.
const (
	ProfileFile = "temporal.toml"
	ProfileName = "redsi"
)

// look says how to reach the server of a folder, if it answers; held is true if there is a server, answering, starting
// or ending. A server of another machine is an error, unless its claim has a number up to silent.
func look(dir string, silent int) (i Info, answers, held bool, err error) {
	if o, other := elsewhere(dir, silent); other {
		return i, false, true, o.error()
	}
	owner := lockOf(dir, ownerLock)
	defer owner.Close()
	free, err := take(owner, shared)
	if free || err != nil {
		return i, false, false, err
	}
	if i, err = announced(dir); err != nil || !i.alive() {
		return Info{}, false, true, nil // not yet, or not any more
	}
	return i, true, true, nil
}

// announced reads the InfoFile of the folder's last server.
func announced(dir string) (i Info, err error) {
	b, err := os.ReadFile(filepath.Join(dir, InfoFile))
	if err == nil {
		err = json.Unmarshal(b, &i)
	}
	if err == nil && i.Address == "" {
		err = errors.New(InfoFile + " has no address")
	}
	return i, err
}

// Running says how to reach the server of a folder; false if none answers.
func Running(dir string) (Info, bool) {
	i, answers, _ := running(dir)
	return i, answers
}

// running is Running with the reason for not knowing: the folder is another machine's, cannot be read, or has no locks.
func running(dir string) (i Info, answers bool, err error) {
	if _, err = os.Stat(filepath.Join(dir, ownerLock)); err == nil { // asking creates nothing
		i, answers, _, err = look(dir, 0)
	} else if !errors.Is(err, fs.ErrPermission) {
		err = nil
	}
	return i, answers, err
}

// awaitEnd waits until there is no server or, if pid is not 0, until it is not that process.
func awaitEnd(ctx context.Context, dir string, pid, silent int, p *patience) error {
	for {
		if _, err := os.Stat(filepath.Join(dir, ownerLock)); err != nil {
			return nil // there never was one
		}
		i, answers, held, err := look(dir, silent)
		if err != nil || !held || pid != 0 && answers && i.PID != pid {
			return err
		}
		if err := p.wait(ctx); err != nil {
			return err
		}
	}
}

// End ends the server of a folder at once if no process uses it, and waits until it has ended.
func End(ctx context.Context, dir string) error {
	clients := lockOf(dir, clientsLock)
	defer clients.Close()
	if i, ok := Running(dir); ok {
		if unused, err := take(clients, exclusiveLock); err != nil {
			return err
		} else if unused {
			_ = i.signal(syscall.SIGTERM) // it may have ended by itself
		}
	}
	return awaitEnd(ctx, dir, 0, 0, &patience{})
}

// alive reports whether the process that wrote the file is running.
func (i Info) alive() bool {
	if i.Start == "" { // not known on this system
		return i.signal(syscall.Signal(0)) == nil
	}
	id, err := process.Of(i.PID)
	return err == nil && id.Boot+"/"+id.Start == i.Start
}

func (i Info) signal(s os.Signal) error {
	p, err := os.FindProcess(i.PID)
	if err != nil {
		return err
	}
	defer p.Release()
	return p.Signal(s)
}

// Condition describes the state of the server of a folder, and what visibly keeps it from working.
func Condition(dir string) string {
	if full := shortage(dir, roomFull); full != "" {
		return condition(dir) + "; " + full + ", then it continues"
	}
	return condition(dir)
}

func condition(dir string) string {
	i, answers, held, err := look(dir, 0)
	switch {
	case err != nil:
		return err.Error()
	case !held:
		return "it has ended"
	case !answers:
		return "it is starting or ending"
	}
	switch state := process.State(i.PID); state {
	case "T", "t":
		return fmt.Sprintf("process %d is stopped (state %s); `kill -CONT %d` resumes it", i.PID, state, i.PID)
	case "D":
		return fmt.Sprintf("process %d is waiting for its disk (state D)", i.PID)
	case "":
		return fmt.Sprintf("process %d is running", i.PID)
	default:
		return fmt.Sprintf("process %d is running (state %s)", i.PID, state)
	}
}
