package environment

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"deps.dev/util/pypi"
	"github.com/pelletier/go-toml/v2"

	"github.com/redsi/redsi/internal/host/libraries"
)

var pylockName = regexp.MustCompile(`^pylock(\.[^.]+)?\.toml$`)

// pyLock is a lock of PEP 751.
type pyLock struct {
	Version      string   `toml:"lock-version"`
	Requires     string   `toml:"requires-python"`
	Environments []string `toml:"environments"` // markers, one of which has to hold
	Extras       []string `toml:"extras"`
	Groups       []string `toml:"dependency-groups"`
	Default      []string `toml:"default-groups"`
	Packages     []struct {
		Name      string         `toml:"name"`
		Version   string         `toml:"version"`
		Marker    string         `toml:"marker"`
		Requires  string         `toml:"requires-python"`
		VCS       map[string]any `toml:"vcs"`
		Directory map[string]any `toml:"directory"`
		Archive   *lockFile      `toml:"archive"`
		Sdist     *lockFile      `toml:"sdist"`
		Wheels    []lockFile     `toml:"wheels"`
	} `toml:"packages"`
}

// pylock returns the manifest of a pylock.toml, with the chosen extras and groups.
func (r Recipe) pylock(on platform) (m libraries.Manifest, err error) {
	lock, err := r.pyLock()
	if err != nil {
		return m, err
	}
	python, full, err := r.pythonOf(lock.Requires)
	if err != nil {
		return m, err
	}
	values := on.values(full)
	choose := func(what, variable string, names, from []string) error {
		for _, x := range names {
			x = pypi.CanonPackageName(x)
			if !slices.ContainsFunc(from, func(has string) bool { return pypi.CanonPackageName(has) == x }) {
				return fmt.Errorf("%s has no %s %q to choose: a lock of pdm has; locks of uv, pip and poetry have only what was named when they were written", r.Lock, what, x)
			}
			values[variable] += "|" + x + "|"
		}
		return nil
	}
	if err := cmp.Or(choose("extra", "extras", r.Extras, lock.Extras), choose("group", "dependency_groups", r.groups(lock), slices.Concat(lock.Groups, lock.Default))); err != nil {
		return m, err
	}
	if here, err := values.anyHolds(lock.Environments); err != nil {
		return m, fmt.Errorf("%s: %w", r.Lock, err)
	} else if !here {
		return m, fmt.Errorf("%s is for no other environment than %s", r.Lock, strings.Join(lock.Environments, " or "))
	}
	seen := map[string]bool{}
	for _, p := range lock.Packages {
		holds, err := values.holds(p.Marker)
		if err != nil {
			return m, fmt.Errorf("%s: %s: %w", r.Lock, p.Name, err)
		}
		if !holds {
			continue
		}
		d := libraries.Distribution{Name: pypi.CanonPackageName(p.Name), Version: p.Version}
		what := strings.TrimSpace(p.Name + " " + p.Version)
		admits, bad := constraint(p.Requires) // the installer refuses what cannot be read
		switch {
		case seen[d.Name]:
			err = fmt.Errorf("it has several packages %s for this platform and Python; make it anew", d.Name)
		case bad == nil && !admits.Match(full):
			err = fmt.Errorf("%s is for Python %s, which leaves out %s", what, p.Requires, python)
		case p.VCS != nil:
			err = fmt.Errorf("%s is taken from %v, of whose files the lock has no hash: lock a release, or give the uv.lock of the project by uv = \"uv.lock\"", what, p.VCS["url"])
		case p.Directory != nil && strings.Trim(fmt.Sprint(p.Directory["path"]), "./") == "":
			err = fmt.Errorf("%s is the project itself, which is not installed: leave it out by uv export --no-emit-project", what)
		case p.Directory != nil:
			err = fmt.Errorf("%s is taken from %v, %w", what, p.Directory["path"], errHere)
		case p.Archive != nil && (p.Sdist != nil || len(p.Wheels) > 0):
			err = fmt.Errorf("%s has both an archive and other files; make it anew", what)
		case p.Archive != nil:
			if version := versioned.FindStringSubmatch(p.Archive.name()); d.Version == "" && version != nil {
				d.Version = version[1]
			}
			d.Files, err = on.chosen(what, full, nil, p.Archive)
		default:
			d.Files, err = on.chosen(what, full, p.Wheels, p.Sdist)
		}
		if err == nil && d.Version == "" {
			err = fmt.Errorf("%s has no version, and its file is none named NAME-VERSION.tar.gz or NAME-VERSION-….whl", what)
		}
		if err != nil {
			return m, fmt.Errorf("%s: %w", r.Lock, err)
		}
		seen[d.Name] = true
		m.Distributions = append(m.Distributions, d)
	}
	m.Python = python
	return m, nil
}

func (r Recipe) pyLock() (lock pyLock, err error) {
	text, err := r.file(r.Lock)
	if err != nil {
		return lock, err
	}
	if err := toml.Unmarshal([]byte(text), &lock); err != nil {
		return lock, fmt.Errorf("%s is no pylock.toml: %w", r.Lock, err)
	}
	if lock.Version != "1.0" {
		return lock, fmt.Errorf("%s is no pylock.toml of lock-version 1.0: make one by uv export --format pylock.toml, pip lock or pdm lock", r.Lock)
	}
	if !pylockName.MatchString(r.Lock) {
		return lock, fmt.Errorf("%s: installers take a lock that is named pylock.toml, or pylock.NAME.toml without more dots", r.Lock)
	}
	return lock, nil
}

// groups returns the lock's default groups and the chosen ones.
func (r Recipe) groups(lock pyLock) []string { return slices.Concat(lock.Default, r.Groups) }

// Options returns the options --extra and --group that name to an installer what was chosen of a lock.
func (r Recipe) Options() (argv []string) {
	groups := r.Groups
	if r.Kind == Pylock && len(groups) > 0 {
		if lock, err := r.pyLock(); err == nil { // else it has no manifest
			groups = r.groups(lock) // options replace an installer's default
		}
	}
	for _, x := range r.Extras {
		argv = append(argv, "--extra", x)
	}
	for _, x := range groups {
		argv = append(argv, "--group", x)
	}
	return argv
}
