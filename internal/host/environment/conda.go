package environment

import (
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
	Python bool   // it is installed by pip
}

var condaFile = regexp.MustCompile(`^(.+)-([^-]+)-([^-]+)\.(?:conda|tar\.bz2)$`)

// conda is the manifest of a lock of conda or pixi.
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
		err = fmt.Errorf("it has no packages for %s", folder)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Lock, err)
	}
	return list, nil
}

// named fills in what the name of a conda package's file says.
func named(at, hash string) (p Locked, err error) {
	u, err := url.Parse(at)
	if err != nil {
		return p, err
	}
	parts := condaFile.FindStringSubmatch(path.Base(u.Path))
	if parts == nil {
		return p, fmt.Errorf("%s is no package of conda", at)
	}
	return Locked{URL: at, Hash: hash, Name: parts[1], Of: parts[2] + " " + parts[3]}, nil
}

// condaLock reads a conda-lock.yml or a pixi.lock.
func condaLock(text []byte, folder string) (list []Locked, err error) {
	var lock struct {
		Version      int `yaml:"version"`
		Environments map[string]struct {
			Packages map[string][]map[string]any `yaml:"packages"`
		} `yaml:"environments"`
		Package  []condaPackage `yaml:"package"`
		Packages []pixiPackage  `yaml:"packages"`
	}
	if err := yaml.Unmarshal(text, &lock); err != nil {
		return nil, err
	}
	if lock.Environments == nil {
		for _, p := range lock.Package {
			if p.Platform != folder || p.Optional || p.Category != "" && p.Category != "main" {
				continue
			}
			one := Locked{URL: p.URL, Hash: "sha256:" + p.Hash.SHA256, Name: p.Name, Of: p.Version, Python: true}
			if p.Hash.SHA256 == "" {
				one.Hash = "md5:" + p.Hash.MD5
			}
			if p.Hash.SHA256+p.Hash.MD5 == "" {
				return nil, fmt.Errorf("%s has no hash", p.Name)
			}
			if p.Manager != "pip" {
				if one, err = named(p.URL, one.Hash); err != nil {
					return nil, err
				}
			}
			list = append(list, one)
		}
		return list, nil
	}
	for _, p := range lock.Environments["default"].Packages[folder] {
		for _, kind := range []string{"conda", "pypi"} {
			at, ok := p[kind].(string)
			if !ok {
				continue
			}
			i := slices.IndexFunc(lock.Packages, func(x pixiPackage) bool { return x.Conda == at && kind == "conda" || x.Pypi == at && kind == "pypi" })
			if i < 0 || lock.Packages[i].SHA256 == "" {
				return nil, fmt.Errorf("%s has no sha256", at)
			}
			one := Locked{URL: at, Hash: "sha256:" + lock.Packages[i].SHA256, Name: pypi.CanonPackageName(lock.Packages[i].Name), Of: lock.Packages[i].Version, Python: true}
			if kind == "conda" {
				if one, err = named(at, one.Hash); err != nil {
					return nil, err
				}
			}
			list = append(list, one)
		}
	}
	return list, nil
}

type condaPackage struct {
	Name     string `yaml:"name"`
	Version  string `yaml:"version"`
	Manager  string `yaml:"manager"`
	Platform string `yaml:"platform"`
	URL      string `yaml:"url"`
	Category string `yaml:"category"`
	Optional bool   `yaml:"optional"`
	Hash     struct {
		MD5    string `yaml:"md5"`
		SHA256 string `yaml:"sha256"`
	} `yaml:"hash"`
}

type pixiPackage struct {
	Conda   string `yaml:"conda"`
	Pypi    string `yaml:"pypi"`
	Name    string `yaml:"name"`
	Version string `yaml:"version"`
	SHA256  string `yaml:"sha256"`
}
