package realize

import (
	"bufio"
	"cmp"
	"io/fs"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deps.dev/util/pypi"

	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/host/libraries"
)

// licences lists what is installed, with the licences that the metadata name.
func licences(dir string, m libraries.Manifest) ([]environment.Package, error) {
	of := map[string]string{}
	infos, _ := fs.Glob(os.DirFS(dir), "lib/python*/site-packages/*.dist-info/METADATA") // the pattern is valid
	for _, at := range infos {
		name, licence, err := licenceIn(filepath.Join(dir, at))
		if err != nil {
			return nil, err
		}
		of[pypi.CanonPackageName(name)] = licence
	}
	packages, err := condaPackages(dir)
	if err != nil {
		return nil, err
	}
	for _, p := range packages {
		of[p.Name] = p.License
	}
	list := []environment.Package{}
	for _, d := range m.Distributions {
		list = append(list, environment.Package{Name: d.Name, Version: d.Version, Licence: of[d.Name]})
	}
	return list, nil
}

// licenceIn reads the head of a METADATA: its License-Expression, else its classifiers, else License.
func licenceIn(at string) (name, licence string, err error) {
	f, err := os.Open(at)
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	head, _ := textproto.NewReader(bufio.NewReader(f)).ReadMIMEHeader() // it returns what comes before a malformed line
	var classes []string
	for _, c := range head["Classifier"] {
		if c, ok := strings.CutPrefix(c, "License :: "); ok {
			classes = append(classes, strings.TrimSpace(c[strings.LastIndex(c, ":")+1:]))
		}
	}
	slices.Sort(classes)
	field := head.Get("License")
	if len(field) > 60 || field == "UNKNOWN" { // it may be a licence's full text
		field = ""
	}
	return head.Get("Name"), cmp.Or(head.Get("License-Expression"), strings.Join(slices.Compact(classes), ", "), field), nil
}
