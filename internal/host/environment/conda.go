package environment

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"deps.dev/util/pypi"
	"go.yaml.in/yaml/v3"

	"github.com/redsi/redsi/internal/host/libraries"
)

// Locked is a package of a conda environment: where it comes from and the hash of its file.
type Locked struct {
	URL    string
	Hash   string // such as "sha256:…" or "md5:…"
	Name   string
	Of     string // version and build, as conda records them
	Python bool   // whether pip installs it
}

var condaFile = regexp.MustCompile(`^(.+)-([^-]+)-([^-]+)\.(?:conda|tar\.bz2)$`)

func (r Recipe) conda(on platform) (m libraries.Manifest, err error) {
	list, err := r.Locked()
	if err != nil {
		return m, err
	}
	for _, p := range list {
		m.Distributions = append(m.Distributions, libraries.Distribution{Name: p.Name, Version: p.Of, Files: p.Hash})
		if version, _, _ := strings.Cut(p.Of, " "); p.Name == "python" && !p.Python {
			m.Python = version
		}
	}
	return m, nil
}

// Locked lists the packages of a lock of conda for the recipe's platform.
func (r Recipe) Locked() (list []Locked, err error) {
	text, err := r.file(r.Lock)
	if err != nil {
		return nil, err
	}
	folder := platforms[r.Platform].conda
	list, err = condaLock([]byte(text), folder)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("it has no packages for %s: add that platform to the lock, or choose a platform that it has by platform = \"…\"", folder)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Lock, err)
	}
	return list, nil
}

// named returns a conda package with what the name of its file says.
func named(at, hash string) (p Locked, err error) {
	u, err := url.Parse(at)
	if err != nil {
		return p, err
	}
	parts := condaFile.FindStringSubmatch(path.Base(u.Path))
	if parts == nil {
		return p, fmt.Errorf("%s is no package of conda, a .conda or .tar.bz2 file: make the lock by conda-lock or pixi lock", at)
	}
	return Locked{URL: at, Hash: hash, Name: parts[1], Of: parts[2] + " " + parts[3]}, nil
}

// condaPackage is a package in a conda-lock.yml or, with SHA256, in a pixi.lock.
type condaPackage struct {
	Name, Version, Manager, Platform, URL, Category string
	Optional                                        bool
	Hash                                            struct{ MD5, SHA256 string }

	Conda, Pypi string // address
	SHA256      string
}

func condaLock(text []byte, folder string) (list []Locked, err error) {
	var lock struct {
		Environments      map[string]struct{ Packages map[string][]condaPackage }
		Package, Packages []condaPackage
	}
	if err := yaml.Unmarshal(text, &lock); err != nil {
		return nil, err
	}
	add := func(p Locked) error {
		switch {
		case p.URL == "." || p.URL == "./":
			return nil // the project itself, as with uv
		case isHere(p.URL):
			return fmt.Errorf("%s is taken from %s, %w", cmp.Or(p.Name, "a package"), p.URL, errHere)
		case strings.HasSuffix(p.Hash, ":"):
			return fmt.Errorf("%s has no hash, so another file of that name would go unnoticed: take it from a channel or an index that gives one, and lock again", p.URL)
		}
		if !p.Python {
			if p, err = named(p.URL, p.Hash); err != nil {
				return err
			}
		}
		list = append(list, p)
		return nil
	}
	for _, p := range lock.Package {
		if lock.Environments != nil || p.Platform != folder || p.Optional || p.Category != "" && p.Category != "main" {
			continue
		}
		hash := "sha256:" + p.Hash.SHA256
		if p.Hash.SHA256 == "" {
			hash = "md5:" + p.Hash.MD5
		}
		if err := add(Locked{URL: p.URL, Hash: hash, Name: p.Name, Of: p.Version, Python: p.Manager == "pip"}); err != nil {
			return nil, err
		}
	}
	for _, p := range lock.Environments["default"].Packages[folder] {
		at := cmp.Or(p.Conda, p.Pypi)
		i := slices.IndexFunc(lock.Packages, func(x condaPackage) bool { return x.Conda == p.Conda && x.Pypi == p.Pypi })
		if i < 0 {
			return nil, fmt.Errorf("it does not say what %s is; make it anew: pixi lock", at)
		}
		is := lock.Packages[i]
		if err := add(Locked{URL: at, Hash: "sha256:" + is.SHA256, Name: pypi.CanonPackageName(is.Name), Of: is.Version, Python: p.Conda == ""}); err != nil {
			return nil, err
		}
	}
	return list, nil
}
