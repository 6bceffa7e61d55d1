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
	"github.com/google/licensecheck"
)

// materials are what a product is made of.
type materials struct {
	components map[string]cdx.Component
	licences   map[string]bool // SPDX expressions, all of which hold
}

// addBill adds the bill of materials, as CycloneDX.
func (r *release) addBill() error {
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &cdx.Component{Type: cdx.ComponentTypeApplication, Name: names[max(r.product, redsiWheel)], Version: r.revision, BOMRef: "redsi"}}
	list := []cdx.Component{}
	for _, ref := range slices.Sorted(maps.Keys(r.components)) {
		c := r.components[ref]
		c.BOMRef = ref
		list = append(list, c)
	}
	bom.Components = &list
	var b bytes.Buffer
	if err := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return err
	}
	name := "sbom.cdx.json"
	if r.product != archive {
		name = info + "sboms/" + names[r.product] + ".cdx.json"
	}
	r.files[name] = file{b.Bytes(), 0o644}
	return nil
}

// add notes a component and its licence, an SPDX expression.
func (r *release) add(name, version, purl, licence string) {
	c := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: name, Version: version, PackageURL: purl}
	if licence != "" {
		c.Licenses = &cdx.Licenses{{Expression: licence}}
		r.licences[licence] = true
	} else {
		fmt.Fprintf(os.Stderr, "dist: %s %s says no licence\n", name, version)
	}
	r.components[purl] = c
}

// addModels adds what redsi-models is linked of.
func (r *release) addModels() error {
	if err := r.addModules(r.models, "."); err != nil {
		return err
	}
	return r.addCrates()
}

// addLibtorch adds libtorch, which the archive has with the compiler's libraries.
func (r *release) addLibtorch() error {
	r.add("torch", r.libtorchVersion, "pkg:pypi/torch@"+r.libtorchVersion, "BSD-3-Clause")
	for _, notice := range []string{"libstdc++6", "libgcc-s1"} { // where Debian and its kin have them
		text, err := os.ReadFile("/usr/share/doc/" + notice + "/copyright")
		if err == nil {
			r.addText(notice+"/copyright", text)
		}
	}
	if err := r.addTexts(r.libtorch); err != nil {
		return fmt.Errorf("%w: it was installed by an earlier version; remove the folder and run make deps-torch", err)
	}
	return nil
}

// addTexts adds the licences that lie beside a library.
func (r *release) addTexts(dir string) error {
	found, err := filepath.Glob(filepath.Join(dir, "licenses", "*", "*"))
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%s has no licences", dir)
	}
	for _, path := range found {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		r.addText(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), text)
	}
	return err
}

func (r *release) addText(name string, text []byte) {
	name = "licenses/" + name
	if r.product != archive {
		name = info + name
	}
	r.files[name] = file{text, 0o644}
}

var licence = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)`)

// addModules adds the Go modules that a program was linked of; folder has the go.mod.
func (r *release) addModules(program, folder string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	root := filepath.Join(r.root, folder)
	folders, err := moduleFolders(root)
	if err != nil {
		return err
	}
	out, err := output(root, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	version := strings.TrimPrefix(info.GoVersion, "go")
	licence, err := r.addLicences("go@"+version, strings.TrimSpace(string(out)))
	if err != nil {
		return err
	}
	r.add("std", version, "pkg:golang/std@"+version, licence)
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		if strings.HasPrefix(m.Path, ".") {
			continue // a folder here: nobody else's
		}
		dir, ok := folders[m.Path]
		if !ok {
			return fmt.Errorf("%s has module %s, which %s/go.mod lacks: build it again", program, m.Path, root)
		}
		licence, err := r.addLicences(m.Path+"@"+m.Version, dir)
		if err != nil {
			return err
		}
		r.add(m.Path, m.Version, "pkg:golang/"+m.Path+"@"+m.Version, licence)
	}
	return nil
}

// judged are licences that their texts do not name in words that licensecheck knows.
var judged = map[string]string{"github.com/golang/freetype": "FTL OR GPL-2.0-or-later"}

// addLicences adds the licence texts in a folder, or in its folder licenses, and says which they are.
func (r *release) addLicences(name, folder string) (string, error) {
	found := 0
	known := map[string]bool{}
	for _, pattern := range []string{"*", "licenses/*"} {
		paths, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return "", err
		}
		for _, path := range paths {
			below, err := filepath.Rel(folder, path)
			if err != nil {
				return "", err
			}
			if e, err := os.Stat(path); err != nil || !e.Mode().IsRegular() || !licence.MatchString(below) {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return "", err
			}
			found++
			r.addText(name+"/"+filepath.ToSlash(below), text)
			for _, m := range licensecheck.Scan(text).Match {
				if !m.IsURL && !strings.HasPrefix(m.ID, "Google") { // a grant of patents, which SPDX does not list
					known[m.ID] = true
				}
			}
		}
	}
	if of, ok := judged[name[:strings.LastIndex(name, "@")]]; ok {
		return of, nil
	}
	if found > 0 && len(known) == 0 {
		return "", fmt.Errorf("the licence texts in %s are none that is known: read them, and say in tools/dist/materials.go which they are", folder)
	}
	return strings.Join(slices.Sorted(maps.Keys(known)), " AND "), nil
}

// moduleFolders are the folders of the modules that a go.mod knows.
func moduleFolders(root string) (map[string]string, error) {
	out, err := output(root, "go", "list", "-m", "-json", "all")
	if err != nil {
		return nil, err
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

func output(dir, program string, args ...string) ([]byte, error) {
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s in %s: %w", program, strings.Join(args, " "), dir, err)
	}
	return out, nil
}

// addCrates adds the Rust crates that libtokenizers.a is built of, whose sources cargo has here.
func (r *release) addCrates() error {
	folders, err := moduleFolders(r.root)
	if err != nil {
		return err
	}
	out, err := output(folders["github.com/daulet/tokenizers"], "cargo", "tree", "--locked", "--offline", "--edges", "normal", "--prefix", "none", "--no-dedupe", "--format", "{p}\t{l}")
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
	for line := range strings.Lines(string(out)) {
		crate, licence, _ := strings.Cut(strings.TrimSpace(line), "\t")
		fields := strings.Fields(crate)
		if len(fields) < 2 || strings.HasPrefix(fields[len(fields)-1], "(/") {
			continue // the module itself, which is among Go's
		}
		name, version := fields[0], strings.TrimPrefix(fields[1], "v")
		sources, err := filepath.Glob(filepath.Join(home, "registry", "src", "*", name+"-"+version))
		if err == nil && len(sources) == 0 {
			err = fmt.Errorf("cargo has no sources of %s here: remove the part tokenizers and run make deps-tokenizers", crate)
		}
		if err != nil {
			return err
		}
		if _, err := r.addLicences("crates/"+name+"@"+version, sources[0]); err != nil {
			return err
		}
		licence = strings.Join(strings.Fields(strings.ReplaceAll(licence, "/", " OR ")), " ")
		r.add(name, version, "pkg:cargo/"+name+"@"+version, licence)
	}
	return nil
}
