package environment

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"deps.dev/util/pypi"
	"deps.dev/util/semver"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/libraries"
	"github.com/redsi/redsi/internal/system/values"
)

// Format is the format of a recipe's text.
const Format = "redsi-environment/1"

// The ways in which an environment is given.
const (
	UV           = "uv"           // a uv.lock, or the lock of a script
	Pylock       = "pylock"       // a pylock.toml
	Requirements = "requirements" // a requirements.txt with hashes
	Conda        = "conda"        // a conda-lock.yml or a pixi.lock
	Image        = "image"        // NAME@sha256:DIGEST, or a SIF file
	Nix          = "nix"          // a flake.lock
)

// Kinds are all ways in which an environment is given.
var Kinds = []string{UV, Pylock, Requirements, Conda, Image, Nix}

// kindOf returns the kind that the name of a lock file belongs to; "" if it may belong to any.
func kindOf(lock string) string {
	if pylockName.MatchString(lock) {
		return Pylock
	}
	if ScriptOf(lock) != "" {
		return UV
	}
	return map[string]string{"uv.lock": UV, "conda-lock.yml": Conda, "pixi.lock": Conda, "flake.lock": Nix}[lock]
}

// Beside returns the names of the files with which a kind's lock file is read. A lock of another kind is an error.
func Beside(kind, lock string) ([]string, error) {
	if is := kindOf(lock); is != "" && is != kind {
		return nil, fmt.Errorf("%s is no lock of %s: give it by %s = %q", lock, kind, is, lock)
	}
	if script := ScriptOf(lock); script != "" {
		return []string{script}, nil
	}
	return map[string][]string{UV: {project}, Nix: {"flake.nix"}}[kind], nil
}

// Recipe says how to build an environment.
type Recipe struct {
	Format   string            `json:"format"`
	Kind     string            `json:"kind"`
	Lock     string            `json:"lock"`             // name of the lock file without folders, or the reference of an image
	Path     string            `json:"path,omitempty"`   // of a SIF file
	Python   string            `json:"python,omitempty"` // such as "3.11" or "3.11.7", where it was given
	Extras   []string          `json:"extras,omitempty"` // chosen of a uv.lock's project or a pylock.toml
	Groups   []string          `json:"groups,omitempty"` // likewise, of dependencies
	Platform string            `json:"platform"`
	Sizes    map[string]int    `json:"sizes,omitempty"` // of Files, in bytes, in a text
	Files    map[string]string `json:"-"`               // texts of the lock and of the files beside it
}

// Text returns the recipe as it is stored: a line of JSON, and its files as they are.
func (r Recipe) Text() ([]byte, error) {
	r.Sizes = map[string]int{}
	for name, text := range r.Files {
		r.Sizes[name] = len(text)
	}
	b, err := json.Marshal(r)
	b = append(b, '\n')
	for _, name := range slices.Sorted(maps.Keys(r.Files)) {
		b = append(b, r.Files[name]...)
	}
	return b, err
}

// Parse reads a recipe's text.
func Parse(text []byte) (r Recipe, err error) {
	head, rest, _ := bytes.Cut(text, []byte("\n"))
	if err = values.Written(head, &r); err == nil && r.Format != Format {
		err = fmt.Errorf("its format is %q, not %s", r.Format, Format)
	}
	r.Files = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(r.Sizes)) {
		n := r.Sizes[name]
		if n < 0 || n > len(rest) || name != filepath.Base(name) {
			return r, errors.New("it is damaged")
		}
		r.Files[name], rest = string(rest[:n]), rest[n:]
	}
	r.Sizes = nil
	return r, err
}

// Manifest returns what the environment has on its platform.
func (r Recipe) Manifest() (m libraries.Manifest, err error) {
	on, ok := platforms[r.Platform]
	if !ok {
		return m, fmt.Errorf("there is no platform %q: %s are known", r.Platform, strings.Join(slices.Sorted(maps.Keys(platforms)), ", "))
	}
	chooses := r.Kind == UV || r.Kind == Pylock
	if r.Python != "" && !pythonVersion.MatchString(r.Python) {
		return m, fmt.Errorf("%q is not a version of Python such as 3.11 or 3.11.7", r.Python)
	}
	if r.Python != "" && r.Kind != Requirements && !chooses {
		return m, fmt.Errorf("the lock of %s has its own Python: leave out python", r.Kind)
	}
	if len(r.Extras)+len(r.Groups) > 0 && !chooses {
		return m, fmt.Errorf("extras and groups are of a uv.lock or a pylock.toml; the lock of %s is installed completely: leave them out", r.Kind)
	}
	read, ok := map[string]func(platform) (libraries.Manifest, error){UV: r.uv, Pylock: r.pylock, Requirements: r.requirements, Conda: r.conda, Image: r.image, Nix: r.nix}[r.Kind]
	if !ok {
		return m, fmt.Errorf("this redsi knows no environments of %q", r.Kind)
	}
	if m, err = read(on); err != nil {
		return m, err
	}
	m.Format, m.Platform = libraries.Format, r.Platform
	slices.SortFunc(m.Distributions, func(a, b libraries.Distribution) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Version, b.Version))
	})
	return m, nil
}

type platform struct {
	markers map[string]string // of PEP 508
	conda   string            // folder of a channel
	wheels  []string          // beginnings of its wheels' tags and, after "_", ends
}

var platforms = map[string]platform{
	"linux-x86_64":  {markersOf("linux", "Linux", "x86_64"), "linux-64", []string{"linux", "manylinux", "_x86_64"}},
	"linux-aarch64": {markersOf("linux", "Linux", "aarch64"), "linux-aarch64", []string{"linux", "manylinux", "_aarch64"}},
	"macos-x86_64":  {markersOf("darwin", "Darwin", "x86_64"), "osx-64", []string{"macosx", "_x86_64", "_intel", "_universal", "_universal2", "_fat64"}},
	"macos-arm64":   {markersOf("darwin", "Darwin", "arm64"), "osx-arm64", []string{"macosx", "_arm64", "_universal2"}},
}

func markersOf(sys, system, machine string) map[string]string {
	return map[string]string{"os_name": "posix", "sys_platform": sys, "platform_system": system, "platform_machine": machine,
		"platform_python_implementation": "CPython", "implementation_name": "cpython"}
}

// Here returns this machine's platform; Manifest refuses it if redsi builds no environments there.
func Here() string {
	if runtime.GOOS == "darwin" {
		return "macos-" + strings.Replace(runtime.GOARCH, "amd64", "x86_64", 1)
	}
	return runtime.GOOS + "-" + strings.NewReplacer("amd64", "x86_64", "arm64", "aarch64").Replace(runtime.GOARCH)
}

var pythonVersion = regexp.MustCompile(`^3\.[0-9]+(\.[0-9]+)?$`)

// newest is the patch release that stands for the last one, where only the minor version of a Python is known.
const newest = ".99"

// pythonOf returns the Python for a lock with a requires-python, and its full version for markers. Without a choice it
// is the oldest that the lock allows, so that every machine has the same.
func (r Recipe) pythonOf(requires string) (python, full string, err error) {
	if r.Python+requires == "" {
		return "", "", errors.New(`it does not say for which Python it is: give python = "3.11", or another version`)
	}
	admits, err := constraint(requires)
	if err != nil {
		return "", "", fmt.Errorf("its requires-python is %q: %w", requires, err)
	}
	for _, full := range pythons {
		if (r.Python == "" || full == r.Python || strings.HasPrefix(full, r.Python+".")) && admits.Match(full) {
			return strings.TrimSuffix(full, newest), full, nil
		}
	}
	return "", "", fmt.Errorf("the lock is for Python %s, which leaves out %s", cmp.Or(requires, ">=3.6"), cmp.Or(r.Python, "each that redsi knows"))
}

// pythons are the releases of Python that a lock may be for, newest patches first, of these the oldest minor version.
var pythons = func() (list []string) {
	for patch := 99; patch >= 0; patch-- {
		for minor := 6; minor < 40; minor++ {
			list = append(list, fmt.Sprintf("3.%d.%d", minor, patch))
		}
	}
	return list
}()

// constraint reads versions as PEP 440 writes them.
func constraint(text string) (*semver.Constraint, error) {
	return semver.PyPI.ParseConstraint(strings.ReplaceAll(text, "===", "=="))
}

// minor returns the minor version of a Python: 11.
func minor(full string) (n int) {
	_, _ = fmt.Sscanf(full, "3.%d", &n)
	return n
}

// hashesOf returns a digest of several hashes, in whatever order.
func hashesOf(hashes []string) string {
	slices.Sort(hashes)
	return artifacts.Sum([]byte(strings.Join(slices.Compact(hashes), "\n"))).Hex()
}

// runs reports whether a wheel's platform tag fits the platform.
func (on platform) runs(tag string) bool {
	return tag == "any" || slices.ContainsFunc(on.wheels, func(w string) bool { return w[0] != '_' && strings.HasPrefix(tag, w) }) &&
		slices.ContainsFunc(on.wheels, func(w string) bool { return w[0] == '_' && strings.HasSuffix(tag, w) })
}

// takes reports whether a Python on the platform installs a wheel.
func (on platform) takes(wheel, full string) bool {
	tags := strings.TrimSuffix(wheel[strings.LastIndexByte(wheel, '-')+1:], ".whl")
	if !slices.ContainsFunc(strings.Split(tags, "."), on.runs) {
		return false // most are of another platform
	}
	info, err := pypi.ParseWheelName(wheel)
	if err != nil {
		return false
	}
	n := minor(full)
	python := fmt.Sprintf("cp3%d", n)
	return slices.ContainsFunc(info.Platforms, func(t pypi.PEP425Tag) bool {
		if !on.runs(t.Platform) {
			return false
		}
		if t.Python == python {
			return t.ABI == "none" || t.ABI == "abi3" || strings.TrimSuffix(t.ABI, "m") == python
		}
		release, pure := strings.CutPrefix(t.Python, "py3")
		if !pure {
			release, pure = strings.CutPrefix(t.Python, "cp3")
			pure = pure && t.ABI == "abi3"
		}
		of, err := strconv.Atoi(cmp.Or(release, "0"))
		return pure && err == nil && of <= n
	})
}

func (r Recipe) file(name string) (string, error) {
	text := r.Files[name]
	if strings.TrimSpace(text) == "" {
		return "", fmt.Errorf("%s: it has no text", name)
	}
	return text, nil
}
