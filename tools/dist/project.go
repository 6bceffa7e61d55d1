package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// project is what python/pyproject.toml says of redsi.
type project struct {
	Name         string              `toml:"name"`
	Version      string              `toml:"-"` // of __init__.py
	Description  string              `toml:"description"`
	Python       string              `toml:"requires-python"`
	Classifiers  []string            `toml:"classifiers"`
	Dependencies []string            `toml:"dependencies"`
	Optional     map[string][]string `toml:"optional-dependencies"`
	Scripts      map[string]string   `toml:"scripts"`
}

var versionLine = regexp.MustCompile(`(?m)^__version__ = "([^"]+)"`)

func readProject(root string) (project, error) {
	path := filepath.Join(root, "python", "pyproject.toml")
	text, err := os.ReadFile(path)
	if err != nil {
		return project{}, err
	}
	var file struct{ Project project }
	if err := toml.Unmarshal(text, &file); err != nil {
		return project{}, fmt.Errorf("%s: %w", path, err)
	}
	path = filepath.Join(root, "python", "redsi", "__init__.py")
	if text, err = os.ReadFile(path); err != nil {
		return project{}, err
	}
	m := versionLine.FindSubmatch(text)
	if m == nil {
		return project{}, fmt.Errorf("%s has no line __version__ = \"…\"", path)
	}
	file.Project.Version = string(m[1])
	return file.Project, nil
}

// wheelProject is what the wheel says of itself.
func (r *release) wheelProject() project {
	p := r.python
	if r.product == modelsWheel {
		// torch's own Requires-Python is as much; said here too, so that an older Python is told which package it is.
		return project{Name: names[modelsWheel], Version: p.Version, Python: ">=3.10", Classifiers: p.Classifiers,
			Description:  "The program with which redsi trains and evaluates models, on the libtorch of the package torch",
			Dependencies: []string{"torch==" + r.libtorchVersion, p.Name + "==" + p.Version},
			Scripts:      map[string]string{names[modelsWheel]: "redsi_models:main"}}
	}
	p.Optional = maps.Clone(p.Optional)
	if p.Optional == nil {
		p.Optional = map[string][]string{}
	}
	p.Optional["models"] = []string{names[modelsWheel] + "==" + p.Version}
	return p
}

// home is where the tree is kept.
const home = "https://github.com/redsi/redsi"

var (
	relative = regexp.MustCompile(`(!?)\[([^\]]*)\]\(([^)]+)\)`)
	scheme   = regexp.MustCompile(`^([a-z]+:|#)`)
)

// absolute makes the links of a text that is shown elsewhere lead into the tree at a commit.
func absolute(text, at string) string {
	return relative.ReplaceAllStringFunc(text, func(link string) string {
		m := relative.FindStringSubmatch(link)
		if scheme.MatchString(m[3]) {
			return link
		}
		kind := map[string]string{"": "blob", "!": "raw"}[m[1]]
		return fmt.Sprintf("%s[%s](%s/%s/%s/%s)", m[1], m[2], home, kind, at, m[3])
	})
}

// metadata is the METADATA of a wheel: version 2.4, licences by PEP 639.
func (p project) metadata(licence string, licences []string, readme, at string) string {
	var b strings.Builder
	line := func(key, value string) { fmt.Fprintf(&b, "%s: %s\n", key, value) }
	line("Metadata-Version", "2.4")
	line("Name", p.Name)
	line("Version", p.Version)
	line("Summary", p.Description)
	line("Project-URL", "Source, "+home)
	line("Project-URL", "Documentation, "+home+"/blob/"+at+"/README.md")
	line("Project-URL", "Changelog, "+home+"/blob/"+at+"/CHANGELOG.md")
	line("License-Expression", licence)
	for _, name := range licences {
		line("License-File", name)
	}
	for _, c := range p.Classifiers {
		line("Classifier", c)
	}
	line("Requires-Python", p.Python)
	for _, d := range p.Dependencies {
		line("Requires-Dist", d)
	}
	for _, extra := range slices.Sorted(maps.Keys(p.Optional)) {
		line("Provides-Extra", extra)
		for _, d := range p.Optional[extra] {
			d, marker, has := strings.Cut(d, ";")
			if has {
				marker = "(" + strings.TrimSpace(marker) + ") and "
			}
			line("Requires-Dist", fmt.Sprintf("%s; %sextra == %q", strings.TrimSpace(d), marker, extra))
		}
	}
	line("Description-Content-Type", "text/markdown")
	return b.String() + "\n" + absolute(readme, at)
}
