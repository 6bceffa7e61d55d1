package scratch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/redsi/redsi/internal/system/process"
)

// Swept counts what was left behind by dead processes.
type Swept struct {
	Folders  int // removed
	Programs int // processes that were ended
}

// lastWord is how long a killed process may take to end: it may be waiting for a disk.
const lastWord = 10 * time.Second

// Sweep ends the programs and removes the folders of dead processes, all that it can; the error is about what is left.
func (a *Area) Sweep() (Swept, error) {
	var s Swept
	if _, err := os.Lstat(a.root); errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	root, err := openRoot(a.root)
	if err != nil {
		return s, err
	}
	dead, err := claim(root)
	problems := []error{err}
	for _, d := range dead {
		problems = append(problems, d.sweep(&s), d.owner.Close())
	}
	return s, errors.Join(problems...)
}

// deadPlace is the place of a dead process, locked by this one.
type deadPlace struct {
	path  string
	owner *flock.Flock
}

// claim locks the places whose owners are dead. Nobody creates places meanwhile.
func claim(root string) ([]deadPlace, error) {
	unlock, err := lock(root)
	if err != nil {
		return nil, err
	}
	defer unlock()
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	here, err := process.Here()
	if err != nil {
		return nil, err
	}
	var dead []deadPlace
	var problems []error
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		path := filepath.Join(root, e.Name())
		owner := flock.New(filepath.Join(path, ownerFile))
		free, err := owner.TryLock()
		switch {
		case err != nil:
			problems = append(problems, err)
		case !free || elsewhere(owner.Path(), here): // it lives
			problems = append(problems, owner.Close())
		default:
			dead = append(dead, deadPlace{path, owner})
		}
	}
	return dead, errors.Join(problems...)
}

// elsewhere reports whether a place may be another machine's that shares this folder, whose locks may not be seen here.
func elsewhere(owner string, here process.Host) bool {
	var id process.Identity
	if b, err := os.ReadFile(owner); err != nil || json.Unmarshal(b, &id) != nil {
		return false // the owner was killed before it wrote who it is
	}
	return id.Machine != here.Machine && id.Boot != here.Boot
}

// sweep ends what still runs in the folders, and removes them.
func (d deadPlace) sweep(s *Swept) error {
	left, err := folders(d.path)
	for _, f := range left {
		var id process.Identity
		if b, rerr := os.ReadFile(f + programSuffix); rerr == nil {
			_ = json.Unmarshal(b, &id) // half a record: its writer was killed
		}
		n, eerr := endProgram(f, id)
		s.Programs += n
		if engine, rerr := os.ReadFile(f + ContainerSuffix); rerr == nil {
			eerr = errors.Join(eerr, EndContainer(string(engine), f))
		}
		if eerr = errors.Join(eerr, removeAll(f)); eerr == nil {
			s.Folders++
		}
		err = errors.Join(err, eerr)
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(d.path)
}

// folders lists the folders in a place, without the files beside them.
func folders(place string) (list []string, err error) {
	entries, err := os.ReadDir(place)
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), "step-") {
			list = append(list, filepath.Join(place, e.Name()))
		}
	}
	return list, err
}

// endProgram ends the group of leader, if it runs, and what else has HOME or TMPDIR in the folder, and counts them.
func endProgram(dir string, leader process.Identity) (int, error) {
	ended := map[process.Identity]bool{}
	if leader.Running() {
		ended[leader] = true
		if err := leader.EndGroup(); err != nil {
			return 0, err
		}
	}
	// A killed process may have started another a moment before: look until there is none.
	for range 100 {
		left, err := process.Given(dir, leader)
		if err != nil || len(left) == 0 {
			break
		}
		for _, id := range left {
			ended[id] = true
			if err := id.End(); err != nil {
				return len(ended), fmt.Errorf("end process %d, which works in %s: %w", id.PID, dir, err)
			}
		}
		if err := awaitEnds(dir, left...); err != nil {
			return len(ended), err
		}
	}
	if leader.PID == 0 {
		return len(ended), nil
	}
	return len(ended), awaitEnds(dir, leader)
}

func awaitEnds(dir string, killed ...process.Identity) error {
	for _, id := range killed {
		if !id.AwaitEnd(lastWord) {
			return fmt.Errorf("process %d, which works in %s, was killed but does not end", id.PID, dir)
		}
	}
	return nil
}

// ContainerSuffix ends the name of a file beside a folder, with the name of the engine whose container works there. The
// container may outlive the engine's client; whoever sweeps the folder ends it.
const ContainerSuffix = ".container"

// Container returns the name of the container that works in a folder of New.
func Container(dir string) string {
	return "redsi-" + filepath.Base(filepath.Dir(dir)) + "-" + filepath.Base(dir)
}

var ended = regexp.MustCompile(`(?i)no such container|not running|no container with`)

// EndContainer ends the container of a folder, if it runs.
func EndContainer(engine, dir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), lastWord)
	defer cancel()
	out, err := exec.CommandContext(ctx, engine, "kill", Container(dir)).CombinedOutput()
	if err != nil && !ended.Match(out) {
		return fmt.Errorf("%s kill %s: %w: %s", engine, Container(dir), err, out)
	}
	return nil
}
