package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// addMaterials adds the licence texts of all that is in the archive, and sbom.cdx.json, its
// bill of materials as CycloneDX.
func (d *dist) addMaterials() error {
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &cdx.Component{Type: cdx.ComponentTypeApplication, Name: "redsi", Version: d.version, BOMRef: "redsi"}}
	components := map[string]cdx.Component{}
	for program, root := range map[string]string{d.redsi: d.root, d.models: d.root, d.server: filepath.Join(d.root, "tools", "temporal-server")} {
		if err := d.addModules(program, root, components); err != nil {
			return err
		}
	}
	if err := d.addCrates(components); err != nil {
		return err
	}
	components["libtorch"] = cdx.Component{Type: cdx.ComponentTypeLibrary, Name: "torch", Version: d.libtorchVersion,
		PackageURL: "pkg:pypi/torch@" + d.libtorchVersion}
	texts, err := filepath.Glob(filepath.Join(d.libtorch, "licenses", "*", "*"))
	if err != nil {
		return err
	}
	if len(texts) == 0 {
		return fmt.Errorf("%s has no licences: it was installed by an earlier version; remove the folder and run make deps-torch", d.libtorch)
	}
	own, err := filepath.Glob(filepath.Join(d.graphs, "licenses", "*", "*"))
	if err != nil {
		return err
	}
	for _, t := range append(texts, own...) {
		d.add("licenses/"+filepath.Base(filepath.Dir(t))+"/"+filepath.Base(t), t, 0o644)
	}
	for _, notice := range []string{"libstdc++6", "libgcc-s1"} { // where Debian and its kin have them
		path := "/usr/share/doc/" + notice + "/copyright"
		if _, err := os.Stat(path); err == nil {
			d.add("licenses/"+notice+"/copyright", path, 0o644)
		}
	}
	list := []cdx.Component{}
	for _, ref := range slices.Sorted(maps.Keys(components)) {
		c := components[ref]
		c.BOMRef = ref
		list = append(list, c)
	}
	bom.Components = &list
	var b bytes.Buffer
	if err := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return err
	}
	d.files["sbom.cdx.json"] = file{data: b.Bytes(), mode: 0o644}
	return nil
}

var licence = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)`)

// addModules adds the Go modules that a program was linked of.
func (d *dist) addModules(program, root string, components map[string]cdx.Component) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	folders, err := moduleFolders(root)
	if err != nil {
		return err
	}
	components["go"] = cdx.Component{Type: cdx.ComponentTypeLibrary, Name: "std", Version: strings.TrimPrefix(info.GoVersion, "go"),
		PackageURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go")}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		if m.Version == "" {
			continue // a folder here: nobody else's
		}
		purl := "pkg:golang/" + m.Path + "@" + m.Version
		components[purl] = cdx.Component{Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: purl}
		folder, ok := folders[m.Path]
		if !ok {
			return fmt.Errorf("%s has module %s, which %s/go.mod lacks: build it again", program, m.Path, root)
		}
		if err := d.addLicences(m.Path+"@"+m.Version, folder); err != nil {
			return err
		}
	}
	return nil
}

// addLicences adds a folder's licence texts; there has to be one, here or above.
func (d *dist) addLicences(name, folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	found := false
	for _, e := range entries {
		if e.Type().IsRegular() && licence.MatchString(e.Name()) {
			d.add("licenses/"+name+"/"+e.Name(), filepath.Join(folder, e.Name()), 0o644)
			found = true
		}
	}
	if !found {
		fmt.Fprintf(os.Stderr, "dist: %s has no licence text of its own\n", name)
	}
	return nil
}

// moduleFolders are the folders of the modules that a go.mod knows.
func moduleFolders(root string) (map[string]string, error) {
	cmd := exec.Command("go", "list", "-m", "-json", "all")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list -m all in %s: %w", root, err)
	}
	folders := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var m struct {
			Path, Dir string
			Replace   *struct{ Path, Dir string }
		}
		if err := dec.Decode(&m); errors.Is(err, io.EOF) {
			return folders, nil
		} else if err != nil {
			return nil, err
		}
		if m.Replace != nil {
			folders[m.Replace.Path] = m.Replace.Dir
		}
		folders[m.Path] = m.Dir
	}
}

var crate = regexp.MustCompile(`(?m)^\[\[package\]\]\nname = "([^"]+)"\nversion = "([^"]+)"`)

// addCrates adds the Rust crates that libtokenizers.a was built of, by its Cargo.lock, and the
// licence texts of those whose sources cargo has here.
func (d *dist) addCrates(components map[string]cdx.Component) error {
	folders, err := moduleFolders(d.root)
	if err != nil {
		return err
	}
	lock, err := os.ReadFile(filepath.Join(folders["github.com/daulet/tokenizers"], "Cargo.lock"))
	if err != nil {
		return err
	}
	home := os.Getenv("CARGO_HOME")
	if home == "" {
		user, err := os.UserHomeDir()
		if err != nil {
			return err
		}
		home = filepath.Join(user, ".cargo")
	}
	for _, m := range crate.FindAllStringSubmatch(string(lock), -1) {
		name, version := m[1], m[2]
		purl := "pkg:cargo/" + name + "@" + version
		components[purl] = cdx.Component{Type: cdx.ComponentTypeLibrary, Name: name, Version: version, PackageURL: purl}
		sources, err := filepath.Glob(filepath.Join(home, "registry", "src", "*", name+"-"+version))
		if err != nil {
			return err
		}
		if len(sources) > 0 {
			if err := d.addLicences("crates/"+name+"@"+version, sources[0]); err != nil {
				return err
			}
		}
	}
	return nil
}
