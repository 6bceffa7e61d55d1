package main

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/pelletier/go-toml/v2"
)

// project is a wheel's description of itself, from python/pyproject.toml and the release.
type project struct {
	Name         string              `toml:"name"`
	Description  string              `toml:"description"`
	Python       string              `toml:"requires-python"`
	Classifiers  []string            `toml:"classifiers"`
	Dependencies []string            `toml:"dependencies"`
	Extras       map[string][]string `toml:"optional-dependencies"` // without markers

	Version, Licence, Readme string
	LicenceFiles             []string
	script                   string // an entry point for the console
}

const home = "https://github.com/redsi/redsi"

// torchTried is what the programs of the wheel redsi-models run on: the launcher has the same table.
const torchTried = "torch>=2.11,!=2.13.*,<2.16"

// project describes the wheel redsi, with an extra for the other wheel, or that other wheel.
func (r *release) project() (project, error) {
	const path = "python/pyproject.toml"
	var file struct{ Project project }
	file.Project.Extras = map[string][]string{}
	text, err := os.ReadFile(path)
	if err == nil {
		err = toml.Unmarshal(text, &file)
	}
	if err != nil {
		return project{}, fmt.Errorf("%s: %w", path, err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		return project{}, err
	}
	p := file.Project
	p.Version, p.Readme = r.version, absolute(string(readme), "v"+r.version)
	p.Licence = r.licence()
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		if text, ok := strings.CutPrefix(name, about+"licenses/"); ok {
			p.LicenceFiles = append(p.LicenceFiles, text)
		}
	}
	if r.product == redsiWheel {
		p.Extras["models"] = []string{modelsWheel + "==" + r.version}
		return p, nil
	}
	p.Dependencies, p.Extras = []string{torchTried, p.Name + "==" + r.version}, nil
	p.Name, p.script = modelsWheel, modelsWheel+" = redsi_models:main"
	p.Description = "The program with which redsi trains and evaluates models, on the libtorch of the package torch"
	p.Python = ">=3.10" // as torch's; here, so that an older Python is told which package needs it
	return p, nil
}

// metadata is the METADATA of a wheel, with the licences of all its parts, as PEP 639 has it.
var metadata = template.Must(template.New("METADATA").Parse(`Metadata-Version: 2.4
Name: {{.Name}}
Version: {{.Version}}
Summary: {{.Description}}
Project-URL: Source, ` + home + `
Project-URL: Documentation, ` + home + `/blob/v{{.Version}}/README.md
Project-URL: Changelog, ` + home + `/blob/v{{.Version}}/CHANGELOG.md
License-Expression: {{.Licence}}
{{range .LicenceFiles}}License-File: {{.}}
{{end}}{{range .Classifiers}}Classifier: {{.}}
{{end}}Requires-Python: {{.Python}}
{{range .Dependencies}}Requires-Dist: {{.}}
{{end}}{{range $extra, $dependencies := .Extras}}Provides-Extra: {{$extra}}
{{range $dependencies}}Requires-Dist: {{.}}; extra == "{{$extra}}"
{{end}}{{end}}Description-Content-Type: text/markdown

{{.Readme}}`))

// Images and links that lead into the tree: the others have a colon, or begin with #.
var (
	image = regexp.MustCompile(`(!\[[^\]]*\]\()([^#):][^):]*\))`)
	link  = regexp.MustCompile(`(\]\()([^#):][^):]*\))`)
)

// absolute returns a text of the tree to be shown elsewhere: its links lead into the repository at a tag.
func absolute(text, at string) string {
	text = image.ReplaceAllString(text, "${1}"+home+"/raw/"+at+"/$2")
	return link.ReplaceAllString(text, "${1}"+home+"/blob/"+at+"/$2")
}
