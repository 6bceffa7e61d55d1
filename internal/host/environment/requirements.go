package environment

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"deps.dev/util/pypi"

	"github.com/redsi/redsi/internal/host/libraries"
	"github.com/redsi/redsi/internal/system/lists"
)

var (
	pin        = regexp.MustCompile(`^===?\s*([^\s,*]+)$`)
	hashOption = regexp.MustCompile(`\s--hash[= ](\S+)`)
	address    = regexp.MustCompile(`^([^@;]+)@\s*(\S+)(.*)$`)
	versioned  = regexp.MustCompile(`-(\d[\w.!+]*)(?:-.*\.whl|\.tar\.gz|\.zip)$`) // the name of a file
	comment    = regexp.MustCompile(`(^|\s)#.*$`)
)

// errNoPins says how to make a file of requirements that is a lock.
var errNoPins = errors.New("it is not pinned, by == or by the address of a wheel or of NAME-VERSION.tar.gz: make the file by uv pip compile --generate-hashes, or pip-compile --generate-hashes")

// passed are options of a requirements file that say where files come from, not which.
var passed = []string{"--index-url", "-i", "--extra-index-url", "--find-links", "-f", "--trusted-host", "--no-index",
	"--only-binary", "--no-binary", "--prefer-binary", "--require-hashes", "--pre"}

// requirements returns the manifest of a requirements.txt whose packages have versions and hashes. All hashes of a
// package count, since the file does not say for which platform each is.
func (r Recipe) requirements(on platform) (m libraries.Manifest, err error) {
	text, err := r.file(r.Lock)
	if err != nil {
		return m, err
	}
	if strings.HasSuffix(r.Lock, ".toml") {
		return m, fmt.Errorf("%s is no file of requirements: write one by uv export --no-emit-project, or uv pip compile --generate-hashes", r.Lock)
	}
	python, full, err := r.pythonOf("")
	if err != nil {
		return m, err
	}
	m.Python = python
	values := on.values(full)
	requirement, first, n := "", 0, 0
	for line := range strings.Lines(text + "\n") {
		n++
		first = cmp.Or(first, n)
		line = comment.ReplaceAllString(strings.TrimRight(line, "\r\n"), "")
		if part, more := strings.CutSuffix(line, `\`); more {
			requirement += part + " "
			continue
		}
		if requirement = strings.TrimSpace(requirement + line); requirement != "" {
			d, here, err := pinned(requirement, values)
			if err != nil {
				return m, fmt.Errorf("%s:%d: %w", r.Lock, first, err)
			}
			if here {
				m.Distributions = append(m.Distributions, d)
			}
		}
		requirement, first = "", 0
	}
	if len(m.Distributions) == 0 {
		return m, fmt.Errorf("%s names no packages for this platform", r.Lock)
	}
	return m, nil
}

// pinned reads a line; here is false for options and for packages of other platforms.
func pinned(line string, values markers) (d libraries.Distribution, here bool, err error) {
	if strings.HasPrefix(line, "-") {
		option, _, _ := strings.Cut(strings.ReplaceAll(line, "=", " "), " ")
		if slices.Contains(passed, option) {
			return d, false, nil
		}
		return d, false, fmt.Errorf("%s is not for a lock: a file with all packages, versions and hashes is made by uv pip compile --generate-hashes, or uv export --no-emit-project", option)
	}
	hashes := lists.Map(hashOption.FindAllStringSubmatch(line, -1), func(found []string) string { return found[1] })
	line = hashOption.ReplaceAllString(line, "")
	at := address.FindStringSubmatch(line)
	need, err := pypi.ParseDependency(address.ReplaceAllString(line, "$1$3"))
	if err != nil {
		return d, false, err
	}
	version := pin.FindStringSubmatch(need.Constraint)
	if at != nil {
		version = versioned.FindStringSubmatch(lockFile{URL: at[2]}.name())
	}
	switch {
	case at != nil && isHere(at[2]):
		return d, false, fmt.Errorf("%s is taken from %s, %w", need.Name, at[2], errHere)
	case version == nil:
		return d, false, fmt.Errorf("%s: %w", line, errNoPins)
	case len(hashes) == 0:
		return d, false, fmt.Errorf("%s has no --hash: %w", need.Name, errNoPins)
	}
	here, err = values.holds(need.Environment)
	return libraries.Distribution{Name: need.Name, Version: version[1], Files: hashesOf(hashes)}, here, err
}

// errHere says what to do about a file or folder of this machine.
var errHere = errors.New("a file or folder that the lock says nothing about, and that no other machine has: build a wheel that an index serves, or give its code to steps in files")

// isHere reports whether a package's address is a file or folder of this machine.
func isHere(at string) bool { return !strings.Contains(at, "://") || strings.HasPrefix(at, "file:") }
