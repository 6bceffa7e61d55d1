package realize

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deps.dev/util/pypi"

	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/host/libraries"
)

// licences lists what is installed with the licences that its metadata names.
func licences(dir string, m libraries.Manifest) ([]environment.Package, error) {
	of := map[string]string{}
	infos, err := filepath.Glob(filepath.Join(dir, "lib", "python*", "site-packages", "*.dist-info", "METADATA"))
	if err != nil {
		return nil, err
	}
	for _, at := range infos {
		name, licence, err := licenceIn(at)
		if err != nil {
			return nil, err
		}
		of[pypi.CanonPackageName(name)] = licence
	}
	metas, err := filepath.Glob(filepath.Join(dir, "conda-meta", "*.json"))
	if err != nil {
		return nil, err
	}
	for _, at := range metas {
		text, err := os.ReadFile(at)
		if err != nil {
			return nil, err
		}
		var p struct{ Name, License string }
		if json.Unmarshal(text, &p) == nil {
			of[p.Name] = p.License
		}
	}
	list := []environment.Package{}
	for _, d := range m.Distributions {
		list = append(list, environment.Package{Name: d.Name, Version: d.Version, Licence: of[d.Name]})
	}
	return list, nil
}

// classifier begins a licence among the classifiers of a distribution.
const classifier = "License :: "

// longest is how long the field License may be; it may have a licence's whole text.
const longest = 60

// licenceIn reads the head of a METADATA: its License-Expression, else its classifiers, else
// License.
func licenceIn(at string) (name, licence string, err error) {
	f, err := os.Open(at)
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	var expression, field string
	var classes []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() && lines.Text() != "" {
		key, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimSpace(value)
		switch key {
		case "Name":
			name = value
		case "License-Expression":
			expression = value
		case "License":
			field = value
		case "Classifier":
			if c, ok := strings.CutPrefix(value, classifier); ok {
				classes = append(classes, c[strings.LastIndex(c, ":")+1:])
			}
		}
	}
	if len(field) > longest || field == "UNKNOWN" {
		field = ""
	}
	for i, c := range classes {
		classes[i] = strings.TrimSpace(c)
	}
	slices.Sort(classes)
	for _, l := range []string{expression, strings.Join(slices.Compact(classes), ", "), field} {
		if l != "" {
			return name, l, lines.Err()
		}
	}
	return name, "", lines.Err()
}
