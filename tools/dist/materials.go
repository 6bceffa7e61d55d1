package main

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/licensecheck"
)

// addBill adds the bill of materials, as CycloneDX.
func (r *release) addBill() error {
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &cdx.Component{Type: cdx.ComponentTypeApplication, Name: "redsi", Version: r.commit, BOMRef: "redsi"}}
	list := []cdx.Component{}
	for _, purl := range slices.Sorted(maps.Keys(r.components)) {
		list = append(list, r.components[purl])
	}
	bom.Components = &list
	var b bytes.Buffer
	if err := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return err
	}
	name := "sbom.cdx.json"
	if r.product != archive {
		name = "sboms/" + r.product + ".cdx.json"
	}
	r.files[about+name] = file{data: b.Bytes(), mode: 0o644}
	return nil
}

// add notes a component and its licence, an SPDX expression.
func (r *release) add(name, version, purl, licence string) {
	c := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: name, Version: version, PackageURL: purl, BOMRef: purl, Licenses: &cdx.Licenses{{Expression: licence}}}
	if licence == "" {
		c.Licenses = nil
		fmt.Fprintf(os.Stderr, "dist: %s %s says no licence\n", name, version)
	}
	r.components[purl] = c
}

// licence is the SPDX expression of redsi and all that is in it.
func (r *release) licence() string {
	all := map[string]bool{"Apache-2.0": true}
	for _, c := range r.components {
		if c.Licenses == nil {
			continue
		}
		if licence := (*c.Licenses)[0].Expression; strings.Contains(licence, " OR ") {
			all["("+licence+")"] = true
		} else {
			for one := range strings.SplitSeq(licence, " AND ") {
				all[one] = true
			}
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(all)), " AND ")
}

// addModels adds what redsi-models is linked from, and libtorch, with whose headers it is compiled.
func (r *release) addModels() error {
	if err := r.addModules(r.models, "."); err != nil {
		return err
	}
	if r.addTexts(r.libtorch+"/licenses/torch-*/*") == 0 {
		return fmt.Errorf("%s has no licences: it was installed by an earlier version; remove the folder and run make deps-torch", r.libtorch)
	}
	r.add("torch", r.libtorchVersion, "pkg:pypi/torch@"+r.libtorchVersion, "BSD-3-Clause")
	return r.addCrates()
}

// addLater adds the libtorch with whose headers the other program is compiled; its licences are the same.
func (r *release) addLater() error {
	version := strings.TrimPrefix(filepath.Base(r.later), modelsWheel+"-")
	r.add("torch", version, "pkg:pypi/torch@"+version, "BSD-3-Clause")
	return nil
}

// addLibraries adds the licences of the libraries that redsi-models loads: libtorch's and NVIDIA's, and the compiler's
// where Debian has them.
func (r *release) addLibraries() error {
	r.addTexts(r.libtorch + "/licenses/*/*")
	r.addTexts("/usr/share/doc/libstdc++6/copyright")
	r.addTexts("/usr/share/doc/libgcc-s1/copyright")
	return nil
}

// addArticles adds the articles that generated corpora are made of.
func (r *release) addArticles() error {
	r.add("articles of English Wikipedia", "", "pkg:generic/wikipedia-articles", "CC-BY-SA-3.0")
	return nil
}

// addTexts adds the licences that match a pattern, by folder, and counts them.
func (r *release) addTexts(pattern string) int {
	found, _ := filepath.Glob(pattern) // the patterns are right
	for _, path := range found {
		r.files[about+"licenses/"+filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path)] = file{path: path, mode: 0o644}
	}
	return len(found)
}

// addModules adds the Go modules that a program was linked from, and Go; folder has the go.mod.
func (r *release) addModules(program, folder string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	folders, err := moduleFolders(folder)
	if err != nil {
		return err
	}
	out, err := output(folder, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	folders["std"] = strings.TrimSpace(string(out))
	std := &debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}
	for _, m := range append(info.Deps, std) {
		m = cmp.Or(m.Replace, m)
		purl := "pkg:golang/" + m.Path + "@" + m.Version
		if _, has := r.components[purl]; has || strings.HasPrefix(m.Path, ".") {
			continue // another program's too, or a folder here
		}
		dir, ok := folders[m.Path]
		if !ok {
			return fmt.Errorf("%s has module %s, which %s/go.mod lacks: build it again", program, m.Path, folder)
		}
		licence, err := r.addLicences(m.Path, m.Version, dir)
		if err != nil {
			return err
		}
		r.add(m.Path, m.Version, purl, licence)
	}
	return nil
}

func moduleFolders(dir string) (map[string]string, error) {
	out, err := output(dir, "go", "list", "-m", "-f", "{{.Path}} {{.Dir}}{{with .Replace}}\n{{.Path}} {{.Dir}}{{end}}", "all")
	if err != nil {
		return nil, err
	}
	folders := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, sources, _ := strings.Cut(strings.TrimSpace(line), " ")
		folders[path] = sources
	}
	return folders, nil
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

var (
	texts = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)`)
	// judged are the licences of modules whose texts licensecheck does not recognise.
	judged = map[string]string{"github.com/golang/freetype": "FTL OR GPL-2.0-or-later"}
)

// addLicences adds the licence texts in a folder, or in its folder licenses, and says which they are.
func (r *release) addLicences(name, version, folder string) (string, error) {
	dir, found := os.DirFS(folder), false
	licences := map[string]bool{}
	top, _ := fs.Glob(dir, "*") // the patterns are right
	below, _ := fs.Glob(dir, "licenses/*")
	for _, path := range append(top, below...) {
		if e, err := fs.Stat(dir, path); err != nil || !e.Mode().IsRegular() || !texts.MatchString(path) {
			continue
		}
		text, err := fs.ReadFile(dir, path)
		if err != nil {
			return "", err
		}
		found = true
		r.files[about+"licenses/"+name+"@"+version+"/"+path] = file{path: filepath.Join(folder, path), mode: 0o644}
		for _, m := range licensecheck.Scan(text).Match {
			if !m.IsURL && !strings.HasPrefix(m.ID, "Google") { // a grant of patents, which SPDX does not list
				licences[m.ID] = true
			}
		}
	}
	if of, ok := judged[name]; ok {
		return of, nil
	}
	if found && len(licences) == 0 {
		return "", fmt.Errorf("the licence texts in %s are not recognised: read them, and say in tools/dist/materials.go which they are", folder)
	}
	return strings.Join(slices.Sorted(maps.Keys(licences)), " AND "), nil
}

// addCrates adds the Rust crates in libtokenizers.a, whose sources cargo has here.
func (r *release) addCrates() error {
	module, err := output(".", "go", "list", "-m", "-f", "{{.Dir}}", "github.com/daulet/tokenizers")
	if err != nil {
		return err
	}
	out, err := output(strings.TrimSpace(string(module)), "cargo", "tree", "--locked", "--offline", "--edges", "normal", "--prefix", "none", "--no-dedupe", "--format", "{p}\t{l}")
	if err != nil {
		return err
	}
	home := cmp.Or(os.Getenv("CARGO_HOME"), filepath.Join(os.Getenv("HOME"), ".cargo"))
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
		if _, err := r.addLicences("crates/"+name, version, sources[0]); err != nil {
			return err
		}
		licence = strings.Join(strings.Fields(strings.ReplaceAll(licence, "/", " OR ")), " ")
		r.add(name, version, "pkg:cargo/"+name+"@"+version, licence)
	}
	return nil
}
