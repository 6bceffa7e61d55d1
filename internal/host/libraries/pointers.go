package libraries

import (
	"encoding/json"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
)

// isPointer reports whether an entry of a site folder is a file by which Python, or code of setuptools, imports from
// elsewhere. In folders below, a .pth file is data, such as weights.
func isPointer(e entry) bool {
	if e.Link || strings.Contains(e.Name, "/") {
		return false
	}
	ext := path.Ext(e.Name)
	return ext == ".pth" || ext == ".egg-link" || ext == ".py" && strings.HasPrefix(e.Name, "__editable__")
}

// editable reads where a distribution was installed from, and reports whether it is its project's folder of sources.
func (r *reading) editable(file string) (bool, error) {
	text, err := readBounded(file, maxHead)
	if err != nil {
		return false, err
	}
	var from struct {
		URL string `json:"url"`
		Dir struct {
			Editable bool `json:"editable"`
		} `json:"dir_info"`
	}
	if json.Unmarshal(text, &from) != nil || !from.Dir.Editable {
		return false, nil
	}
	if u, err := url.Parse(from.URL); err == nil && u.Scheme == "file" {
		r.projects = append(r.projects, root{Path: u.Path, Code: true})
	}
	return true, nil
}

// pointer reads a file by which Python imports from elsewhere. Lines that begin with import, which Python runs at its
// start, count as they stand; paths count as what they lead to.
func (r *reading) pointer(at string, e entry, listed bool) error {
	text, err := readBounded(filepath.Join(at, e.Name), maxJSON)
	if err != nil {
		return err
	}
	if path.Ext(e.Name) == ".py" {
		line, _, _ := strings.Cut(mapping.FindString(string(text)), "\n")
		for _, m := range mapped.FindAllStringSubmatch(line, -1) {
			r.source(root{Path: m[2], Name: m[1], Code: true})
			r.source(root{Path: m[2] + ".py", Name: m[1], Code: true})
		}
		return nil
	}
	code := ""
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case strings.HasPrefix(line, "import ") || strings.HasPrefix(line, "import\t"):
			code += line + "\n"
		case filepath.IsAbs(line):
			r.source(root{Path: line, Code: true})
		default:
			r.source(root{Path: filepath.Join(at, line), Code: true})
		}
	}
	if code != "" && !listed {
		r.out.Files = append(r.out.Files, File{Name: e.Name, Is: "run at the start", Digest: artifacts.Sum([]byte(code))})
	}
	return nil
}

var (
	mapping = regexp.MustCompile(`(?m)^MAPPING\b.*$`)
	mapped  = regexp.MustCompile(`'([^']+)': '([^']+)'`)
)

// source adds a folder or file of sources, if it exists and is in no site folder.
func (r *reading) source(s root) {
	real, err := filepath.EvalSymlinks(s.Path)
	if err != nil {
		return
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return
	}
	s.Path = real
	if slices.ContainsFunc(r.at.Sites, func(site string) bool { return within(real, site) }) {
		return
	}
	if !slices.ContainsFunc(r.sources, func(o root) bool { return o.Path == real }) {
		r.sources = append(r.sources, s)
	}
}

// within reports whether a path is a folder or below it.
func within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}
