package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// product is what can be made.
type product int

const (
	archive product = iota
	redsiWheel
	modelsWheel
)

var names = [...]string{archive: "archive", redsiWheel: "redsi", modelsWheel: "redsi-models"}

// release is one product in the making.
type release struct {
	product product
	when    time.Time
	python  project
	// Where its parts lie, and what it is of.
	root, redsi, models, server, libtorch, graphs string
	platform, revision, libtorchVersion           string

	files map[string]file
	order []string // of a wheel's
	materials
}

// file is a file of a product.
type file struct {
	data []byte
	mode uint32
}

// in says where a part goes in each product that has it. A name that ends in a slash is a folder.
type in map[product]string

// part is a file, all that match a pattern, or all below a folder.
type part struct {
	from string // absolute, or in the tree; a folder ends in a slash
	to   in
	mode uint32
	// find gives its files by name, in place of from.
	find func(*release) (map[string]string, error)
	// read is a file's content, if not as it is.
	read func(path string) ([]byte, error)
	// of adds the licences and the lines of the bill of materials that come with it.
	of func(*release) error
}

// Where installers of wheels look for programs, and where what is said about a wheel lies.
const scripts, info = "{data}/scripts/", "{info}/"

// parts is the description of all products: the one place that says what goes where.
func (r *release) parts() []part {
	tree := func(from string, to in) part { return part{from: from, to: to, mode: 0o644} }
	models := func(runpath string, to in) part {
		return part{from: r.models, to: to, mode: 0o755, of: (*release).addModels, read: func(path string) ([]byte, error) { return relocated(path, runpath) }}
	}
	return []part{
		{from: r.redsi, to: in{archive: "bin/redsi", redsiWheel: scripts + "redsi"}, mode: 0o755, of: func(r *release) error { return r.addModules(r.redsi, ".") }},
		{from: r.server, to: in{archive: "bin/redsi-temporal-server", redsiWheel: scripts + "redsi-temporal-server"}, mode: 0o755,
			of: func(r *release) error { return r.addModules(r.server, "tools/temporal-server") }},
		// redsi looks for it there. Libraries lie beside it, or in the package torch beside its own.
		models("$ORIGIN", in{archive: "lib/redsi-models"}),
		models("$ORIGIN/../../torch/lib", in{modelsWheel: "redsi_models/bin/redsi-models"}),
		{find: (*release).libraries, to: in{archive: "lib/"}, mode: 0o755, of: (*release).addLibtorch},
		// redsi-models looks for it beside libtorch; the launcher in redsi_models says where it is.
		{from: filepath.Join(r.graphs, "libredsi_graphs.so"), to: in{archive: "lib/", modelsWheel: "redsi_models/bin/"}, mode: 0o755,
			of: func(r *release) error { return r.addTexts(r.graphs) }},
		tree("python/redsi/", in{redsiWheel: "redsi/"}),
		tree("python/redsi_models/", in{modelsWheel: "redsi_models/"}),
		tree("LICENSE", in{archive: "", redsiWheel: info + "licenses/", modelsWheel: info + "licenses/"}),
		// A wheel's README is its description, and redsi has the paper's pipeline inside.
		tree("README.md", in{archive: ""}),
		tree("CHANGELOG.md", in{archive: ""}),
		tree("SECURITY.md", in{archive: ""}),
		tree("CITATION.cff", in{archive: ""}),
		tree("[a-z]*.hcl", in{archive: ""}),
		tree("assets/", in{archive: "assets/"}),
		tree("docs/", in{archive: "docs/"}),
		tree("examples/", in{archive: "examples/"}),
	}
}

// collect reads all parts of the product.
func (r *release) collect() error {
	for _, p := range r.parts() {
		to, has := p.to[r.product]
		if !has {
			continue
		}
		found, err := r.find(p)
		if err != nil {
			return err
		}
		for name, path := range found {
			read := p.read
			if read == nil {
				read = os.ReadFile
			}
			data, err := read(path)
			if err != nil {
				return err
			}
			if to == "" || strings.HasSuffix(to, "/") {
				name = to + name
			} else {
				name = to
			}
			r.files[name] = file{data, p.mode}
		}
		if p.of != nil {
			if err := p.of(r); err != nil {
				return err
			}
		}
	}
	return r.addBill()
}

// local are files of a tree that are its user's or left by programs, never a part.
var local = []string{"redsi.local.hcl", "__pycache__"}

// find is a part's files by their names below its folder; there is one at least.
func (r *release) find(p part) (map[string]string, error) {
	if p.find != nil {
		return p.find(r)
	}
	from, found := p.from, map[string]string{}
	if !filepath.IsAbs(from) {
		from = filepath.Join(r.root, from)
	}
	matches, err := filepath.Glob(from)
	if err != nil {
		return nil, err
	}
	for _, top := range matches {
		err := filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case slices.Contains(local, e.Name()) && e.IsDir():
				return filepath.SkipDir
			case !e.Type().IsRegular() || slices.Contains(local, e.Name()):
				return nil
			}
			name := e.Name()
			if path != top {
				if name, err = filepath.Rel(top, path); err != nil {
					return err
				}
			}
			found[filepath.ToSlash(name)] = path
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("there is no %s, which %s is made of", from, names[r.product])
	}
	return found, nil
}

// libraries are those that redsi-models loads.
func (r *release) libraries() (map[string]string, error) {
	return needed(r.models, filepath.Join(r.libtorch, "lib"))
}
