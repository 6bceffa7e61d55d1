package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// The products.
const archive, redsiWheel, modelsWheel = "archive", "redsi", "redsi-models"

var products = []string{archive, redsiWheel, modelsWheel}

// release is one product in the making.
type release struct {
	product string
	when    time.Time
	// Where its parts lie, and what it is for.
	redsi, models, server, libtorch, graphs    string
	later                                      string // models for a later libtorch: redsi-models-VERSION
	platform, commit, version, libtorchVersion string

	files      map[string]file
	components map[string]cdx.Component // third parties' parts, by package URL
}

// file is a file of a product: a copy of path, or data.
type file struct {
	path string
	data []byte
	mode uint32
}

func (f file) content() ([]byte, error) {
	if f.data != nil {
		return f.data, nil
	}
	return os.ReadFile(f.path)
}

// part is one file that was built, several, or files of the tree.
type part struct {
	built   string
	several func() (map[string]string, error)
	tree    string // a file, a pattern, or a folder with a slash at its end
	// to says where it goes in each product that has it; a folder has a slash at its end.
	to map[string]string
	// runpath is where a program looks for its libraries.
	runpath string
	// of adds the third parties' components in it, with licences.
	of func() error
}

// Where installers of wheels look for programs, and where files about a product lie, which an archive has at the top.
const scripts, about = "{data}/scripts/", "{info}/"

// articles attributes the articles of Wikipedia from which corpora are generated.
const articles = "internal/corpora/synth/ATTRIBUTION.md"

// parts describes all products: only here it says what goes where.
func (r *release) parts() []part {
	type in = map[string]string
	return []part{
		{built: r.redsi, to: in{archive: "bin/redsi", redsiWheel: scripts + "redsi"}, of: func() error { return r.addModules(r.redsi, ".") }},
		{built: r.server, to: in{archive: "bin/redsi-temporal-server", redsiWheel: scripts + "redsi-temporal-server"},
			of: func() error { return r.addModules(r.server, "tools/temporal-server") }},
		// redsi looks for it there. Libraries lie beside it, or in the package torch beside its own.
		{built: r.models, to: in{archive: "lib/redsi-models"}, runpath: "$ORIGIN", of: r.addModels},
		{built: r.models, to: in{modelsWheel: "redsi_models/bin/redsi-models"}, runpath: "$ORIGIN/../../torch/lib", of: r.addModels},
		{built: r.later, to: in{modelsWheel: "redsi_models/bin/"}, runpath: "$ORIGIN/../../torch/lib", of: r.addLater},
		{several: func() (in, error) { return needed(r.models, filepath.Join(r.libtorch, "lib")) },
			to: in{archive: "lib/"}, of: r.addLibraries},
		// redsi-models looks for it beside libtorch; the launcher in redsi_models says where it is.
		{built: r.graphs, to: in{archive: "lib/libredsi_graphs.so", modelsWheel: "redsi_models/bin/libredsi_graphs.so"}},
		{tree: "python/redsi/", to: in{redsiWheel: "redsi/"}},
		{tree: "python/redsi_models/", to: in{modelsWheel: "redsi_models/"}},
		{tree: "LICENSE", to: in{archive: "./", redsiWheel: about + "licenses/", modelsWheel: about + "licenses/"}},
		// Both programs have the articles inside.
		{tree: articles, to: in{archive: about + "licenses/articles/", redsiWheel: about + "licenses/articles/", modelsWheel: about + "licenses/articles/"}, of: r.addArticles},
		// A wheel's README is its description, and redsi has the paper's pipeline inside.
		{tree: "README.md", to: in{archive: "./"}},
		{tree: "CHANGELOG.md", to: in{archive: "./"}},
		{tree: "SECURITY.md", to: in{archive: "./"}},
		{tree: "CITATION.cff", to: in{archive: "./"}},
		{tree: "*.hcl", to: in{archive: "./"}},
		{tree: "assets/", to: in{archive: "assets/"}},
		{tree: "docs/", to: in{archive: "docs/"}},
		{tree: "examples/", to: in{archive: "examples/"}},
	}
}

// collect finds all parts of the product, and the third parties' components in them.
func (r *release) collect() error {
	for _, p := range r.parts() {
		to, has := p.to[r.product]
		if !has {
			continue
		}
		found, err := p.find()
		if err != nil {
			return err
		}
		for name, from := range found {
			f := file{path: from, mode: 0o755}
			if p.tree != "" {
				f.mode = 0o644
			}
			if p.runpath != "" {
				if f.data, err = relocated(from, p.runpath); err != nil {
					return err
				}
			}
			if strings.HasSuffix(to, "/") {
				name = path.Join(to, name)
			} else {
				name = to
			}
			r.files[name] = f
		}
		if p.of != nil {
			if err := p.of(); err != nil {
				return err
			}
		}
	}
	return r.addBill()
}

// find returns a part's files by their names below its folder. Of the tree only git's files count, without what a user
// or a run left there.
func (p part) find() (map[string]string, error) {
	switch {
	case p.several != nil:
		return p.several()
	case p.tree == "":
		return map[string]string{filepath.Base(p.built): p.built}, nil
	}
	out, err := output(".", "git", "ls-files", "-z", "--", ":(glob)"+p.tree)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" {
			found[strings.TrimPrefix(name, path.Dir(p.tree)+"/")] = name
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("git knows no %s here, a part of what is made", p.tree)
	}
	return found, nil
}
