package realize

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/host/libraries"
	"github.com/redsi/redsi/internal/system"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/internal/system/words"
)

// Variable names the folder of a user's environments.
const Variable = "REDSI_ENVIRONMENTS"

// Root returns the folder of this user's environments: the value of Variable, else a folder in the cache folder.
func Root() (string, error) {
	if dir := os.Getenv(Variable); dir != "" {
		return filepath.Abs(dir)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("a folder for environments: %w; name one with %s", err, Variable)
	}
	return filepath.Join(cache, "redsi", "environments"), nil
}

// What lies beside an environment's folder, after its name.
const (
	recordSuffix = ".json" // the Record; the file's time is the time of the last use
	lockSuffix   = ".lock"
	workSuffix   = ".work" // of an installer
)

// Record describes a complete environment.
type Record struct {
	Name      string                `json:"name"` // of the block that it was built for
	Kind      string                `json:"kind"`
	Lock      string                `json:"lock"`
	Packages  artifacts.Digest      `json:"packages"` // of the manifest of the lock
	Platform  string                `json:"platform"`
	Program   string                `json:"program"`            // the installer, with its version
	Python    string                `json:"python,omitempty"`   // full version
	Installed artifacts.Digest      `json:"installed,omitzero"` // of what was found in it when it was built
	Nix       string                `json:"nix,omitempty"`      // PATH in an environment of nix
	Engine    string                `json:"engine,omitempty"`   // which runs an image
	Bytes     int64                 `json:"bytes"`
	List      []environment.Package `json:"list"`
}

// Wanted is an environment that is needed.
type Wanted struct {
	Name     string
	Recipe   environment.Recipe
	Packages *libraries.Environment

	say func(string) // takes progress
}

// Want returns the environment with the texts of a recipe and of a list of packages.
func Want(name string, recipe, packages []byte) (w Wanted, err error) {
	w.Name = name
	if w.Recipe, err = environment.Parse(recipe); err != nil {
		return w, fmt.Errorf("%s: %w", name, err)
	}
	m, err := libraries.Parse(packages)
	if err == nil {
		w.Packages, err = m.As(name)
	}
	return w, err
}

// Environments remembers what this process has seen of the environments of this machine.
type Environments struct {
	seen sync.Map // *watched by folder
}

// watched is what this process has seen of an environment.
type watched struct {
	mu     sync.Mutex
	memory libraries.Memory
	last   time.Time     // when it was last found as it was built; zero if it was not
	took   time.Duration // how long that look took
}

// Env is an environment that exists, and stays until Close.
type Env struct {
	Record
	Dir    string
	Recipe environment.Recipe

	lock  *flock.Flock
	place *watched
}

// Use builds the environment if it is missing, or changed since. Errors that may not recur are *Error with Passing.
func (p *Environments) Use(ctx context.Context, w Wanted, say func(string)) (*Env, error) {
	w.say = say
	if w.Recipe.Platform != environment.Here() {
		return nil, fail(w, false, "it is for %s, and this machine is %s: plan with platform = %q, or run it on another worker", w.Recipe.Platform, environment.Here(), environment.Here())
	}
	root, err := Root()
	if err != nil {
		return nil, err
	}
	base := filepath.Join(root, w.Packages.Digest.Hex()[:32])
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, failed(w, err)
	}
	seen, _ := p.seen.LoadOrStore(base, &watched{})
	h := &Env{Dir: base, Recipe: w.Recipe, lock: flock.New(base + lockSuffix), place: seen.(*watched)}
	if err := h.take(ctx, w); err != nil {
		return nil, errors.Join(err, h.lock.Close())
	}
	now := time.Now()
	return h, os.Chtimes(base+recordSuffix, now, now)
}

// take shares the lock once the environment is complete. Whoever gets it exclusively before builds the environment.
func (h *Env) take(ctx context.Context, w Wanted) error {
	built, said := false, map[string]bool{}
	var bad os.FileInfo // the record of an environment found changed, which is looked at once
	say := func(line string) {
		if !said[line] {
			w.say(line)
		}
		said[line] = true
	}
	for {
		if bad == nil || h.recorded(bad) {
			shared, err := h.lock.TryRLock()
			if err != nil {
				return system.LockError(err, h.lock.Path(), "name a folder of another one with "+Variable)
			}
			var why error
			if shared {
				if why = h.intact(ctx); why == nil {
					return nil
				}
				bad, _ = os.Stat(h.Dir + recordSuffix)
				if err := h.lock.Unlock(); err != nil {
					return err
				}
			}
			if why != nil && built {
				return fail(w, false, "it changed a moment after it was built: %w", why)
			}
			if why != nil && !errors.Is(why, fs.ErrNotExist) {
				say(fmt.Sprintf("%s is rebuilt: %v", w.Name, why))
			}
		}
		locked, err := h.lock.TryLock()
		if err != nil {
			return err
		}
		if locked {
			if h.intact(ctx) != nil {
				built = true
				err = h.make(ctx, w)
			}
			if err = errors.Join(err, h.lock.Unlock()); err != nil {
				return err
			}
			bad = nil
			continue
		}
		say("waiting for another process that makes or uses " + w.Name)
		if err := readers.Pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// recorded reports whether the environment has a record other than was.
func (h *Env) recorded(was os.FileInfo) bool {
	is, err := os.Stat(h.Dir + recordSuffix)
	return err == nil && !(os.SameFile(is, was) && is.ModTime().Equal(was.ModTime()))
}

// intact returns nil if the environment is as it was built, else fs.ErrNotExist or what is wrong.
func (h *Env) intact(ctx context.Context) error {
	text, err := os.ReadFile(h.Dir + recordSuffix)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &h.Record); err != nil {
		return fmt.Errorf("its record is damaged: %w", err)
	}
	h.place.mu.Lock()
	defer h.place.mu.Unlock()
	if !h.place.last.IsZero() {
		return nil
	}
	return h.look(ctx)
}

// share: one part in so many of a process's time may be spent looking at an environment's files.
const share = 100

// Unchanged returns an error that names what changed in an environment since it was built. It looks at all files, unless
// the last look is so recent that another would take more than a hundredth of the time.
func (h *Env) Unchanged(ctx context.Context) error {
	if h == nil || h.place == nil {
		return nil
	}
	h.place.mu.Lock()
	defer h.place.mu.Unlock()
	if time.Since(h.place.last) < share*h.place.took {
		return nil
	}
	if err := h.look(ctx); err != nil {
		return fmt.Errorf("the environment %s in %s is not as its lock has it any more: %w; it is rebuilt when the next step needs it", h.Name, h.Dir, err)
	}
	return nil
}

// look compares the environment with what it was when it was built.
func (h *Env) look(ctx context.Context) (err error) {
	began := time.Now()
	defer func() {
		if h.place.last, h.place.took = time.Now(), time.Since(began); err != nil {
			h.place.last = time.Time{}
		}
	}()
	if h.Installed.IsZero() {
		if _, err = os.Stat(h.Dir); err == nil && h.Recipe.Path != "" {
			err = sameImage(ctx, h.Recipe)
		}
		return err
	}
	now, err := installed(ctx, &h.place.memory, h.Dir)
	if err != nil {
		return err
	}
	if now.Digest == h.Installed {
		return nil
	}
	was, err := os.ReadFile(filepath.Join(h.Dir, manifestFile))
	if err != nil {
		return err
	}
	old, err := libraries.Parse(was)
	if err != nil {
		return err
	}
	return errors.New(words.And(libraries.Differences(old, now.Manifest), 10))
}

// manifestFile is a file in an environment, with what was found there when it was built.
const manifestFile = "redsi-installed.json"

func installed(ctx context.Context, memory *libraries.Memory, dir string) (*libraries.Environment, error) {
	program := filepath.Join(dir, "bin", "python")
	if _, err := os.Stat(program); err != nil {
		list, cerr := condaPackages(dir)
		if cerr != nil || len(list) == 0 {
			return nil, errors.Join(err, cerr)
		}
		m := libraries.Manifest{Format: libraries.Format}
		for _, p := range list {
			m.Distributions = append(m.Distributions, libraries.Distribution{Name: p.Name, Version: p.Version + " " + p.Build, Files: p.Record.Hex()})
		}
		return m.As(dir)
	}
	e, err := memory.Of(ctx, program, func(name string) (string, error) { return name, nil })
	if err == nil && e == nil {
		err = fmt.Errorf("%s is no Python", program)
	}
	return e, err
}

// condaPackages returns what conda has installed in an environment; nothing if it is not conda's.
func condaPackages(dir string) (list []libraries.CondaPackage, err error) {
	meta := filepath.Join(dir, "conda-meta")
	records, _ := os.ReadDir(meta)
	for _, r := range records {
		p, err := libraries.CondaPackageAt(meta, r.Name(), "")
		if err != nil {
			return nil, err
		}
		if p.Name != "" {
			list = append(list, p)
		}
	}
	return list, nil
}

// List returns this machine's environments, the last used first.
func List() (list []Found, err error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	list = []Found{}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), lockSuffix)
		if raw, err := hex.DecodeString(id); !ok || err != nil || len(raw) != 16 {
			continue // it is not redsi's
		}
		f := Found{ID: id, Dir: filepath.Join(root, id)}
		text, err := os.ReadFile(f.Dir + recordSuffix)
		f.Complete = err == nil && json.Unmarshal(text, &f.Record) == nil
		for _, at := range []string{f.Dir + recordSuffix, f.Dir} {
			if info, err := os.Stat(at); err == nil {
				f.Used = info.ModTime()
				list = append(list, f)
				break
			}
		}
	}
	slices.SortFunc(list, func(a, b Found) int { return b.Used.Compare(a.Used) })
	return list, nil
}

// Found is an environment of this machine.
type Found struct {
	ID       string    `json:"id"`
	Dir      string    `json:"path"`
	Used     time.Time `json:"used"`
	Complete bool      `json:"complete"` // false: it is being built, or was left unfinished
	Record
}

// ErrInUse says that an environment is being built or used.
var ErrInUse = errors.New("it is in use")

// Remove removes an environment that nobody uses.
func (f Found) Remove() error {
	lock := flock.New(f.Dir + lockSuffix)
	ok, err := lock.TryLock()
	if err == nil && !ok {
		err = ErrInUse
	}
	if err == nil {
		err = remove(f.Dir) // the lock's file stays: waiting processes have it open
	}
	return errors.Join(err, lock.Close())
}

// remove removes an environment, its record first.
func remove(base string) error {
	err := os.Remove(base + recordSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, os.RemoveAll(base), os.RemoveAll(base+workSuffix))
}
