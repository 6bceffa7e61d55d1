package environment

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"deps.dev/util/pypi"
	"deps.dev/util/semver"
	"github.com/pelletier/go-toml/v2"

	"github.com/redsi/redsi/internal/host/libraries"
)

// project is the file beside a uv.lock.
const project = "pyproject.toml"

type uvLock struct {
	Version  int    `toml:"version"`
	Requires string `toml:"requires-python"`
	Manifest struct {
		Requires []uvRequirement `toml:"requirements"` // of a script
	} `toml:"manifest"`
	Packages []uvPackage `toml:"package"`
}

type uvPackage struct {
	Name     string              `toml:"name"`
	Version  string              `toml:"version"`
	Source   map[string]any      `toml:"source"`
	Markers  []string            `toml:"resolution-markers"`
	Needs    []uvNeed            `toml:"dependencies"`
	Extras   map[string][]uvNeed `toml:"optional-dependencies"`
	Groups   map[string][]uvNeed `toml:"dev-dependencies"`
	Sdist    *lockFile           `toml:"sdist"`
	Wheels   []lockFile          `toml:"wheels"`
	Metadata struct {
		Requires []uvRequirement            `toml:"requires-dist"`
		Groups   map[string][]uvRequirement `toml:"requires-dev"`
	} `toml:"metadata"`
}

type uvRequirement struct {
	Name      string   `toml:"name"`
	Specifier string   `toml:"specifier"`
	Marker    string   `toml:"marker"`
	Extras    []string `toml:"extras"`
}

type uvNeed struct {
	Name    string         `toml:"name"`
	Version string         `toml:"version"`
	Source  map[string]any `toml:"source"`
	Marker  string         `toml:"marker"`
	Extra   []string       `toml:"extra"`
}

// lockFile is a package's file in a uv.lock or, with Name and Hashes, in a pylock.toml.
type lockFile struct {
	URL      string            `toml:"url"`
	Path     string            `toml:"path"`
	Filename string            `toml:"filename"`
	Hash     string            `toml:"hash"`
	Name     string            `toml:"name"`
	Hashes   map[string]string `toml:"hashes"`
}

// hash returns the hash of the file that counts, such as "sha256:…"; "" if an installer takes none of its hashes.
func (f lockFile) hash() string {
	for _, by := range []string{"sha256", "sha512", "sha384"} {
		if h := f.Hashes[by]; h != "" {
			return by + ":" + h
		}
	}
	return f.Hash
}

// name returns the file's name without folders.
func (f lockFile) name() string {
	name, _, _ := strings.Cut(cmp.Or(f.Name, f.URL, f.Filename, f.Path), "#")
	name = name[strings.LastIndexByte(name, '/')+1:]
	if plain, err := url.PathUnescape(name); err == nil {
		return plain
	}
	return name
}

// uv returns the manifest of a uv.lock: what the project or script beside it needs, with the chosen extras and groups.
func (r Recipe) uv(on platform) (m libraries.Manifest, err error) {
	text, err := r.file(r.Lock)
	if err != nil {
		return m, err
	}
	var lock uvLock
	if err := toml.Unmarshal([]byte(text), &lock); err != nil {
		return m, fmt.Errorf("%s is not a lock of uv: %w", r.Lock, err)
	}
	if lock.Version != 1 {
		return m, fmt.Errorf("%s is no uv.lock of version 1: lock by uv lock, or give pylock = \"pylock.toml\", which pip, pdm and poetry write, or requirements = \"FILE\", which uv pip compile --generate-hashes writes", r.Lock)
	}
	top, err := r.top(lock)
	if err != nil {
		return m, err
	}
	if err := r.matches(lock, top); err != nil {
		return m, err
	}
	python, full, err := r.pythonOf(lock.Requires)
	if err != nil {
		return m, err
	}
	w := &uvWalk{lock: lock, on: on, full: full, markers: on.values(full), seen: map[string]bool{top.Name + " " + top.Version: true}} // a group may name the project's extras
	needs := slices.Clone(top.Needs)
	add := func(what string, names []string, from map[string][]uvNeed) error {
		for _, name := range names {
			name = pypi.CanonPackageName(name)
			more, ok := from[name]
			if !ok {
				return fmt.Errorf("%s has no %s %q", r.Lock, what, name)
			}
			needs = append(needs, more...)
			w.markers["extra"] += fmt.Sprintf("%s-%d-%s-%s|", what, len(top.Name), top.Name, name) // as uv names them in markers
			if what == "extra" {
				w.markers["extra"] += name + "|"
			}
		}
		return nil
	}
	if err := cmp.Or(add("extra", r.Extras, top.Extras), add("group", r.Groups, top.Groups)); err != nil {
		return m, err
	}
	if err := w.all(needs); err != nil {
		return m, fmt.Errorf("%s: %w", r.Lock, err)
	}
	return libraries.Manifest{Python: python, Distributions: w.out}, nil
}

// top returns the project in the lock's folder, or what the lock says of its script.
func (r Recipe) top(lock uvLock) (top uvPackage, err error) {
	if ScriptOf(r.Lock) != "" {
		top.Metadata.Requires = lock.Manifest.Requires
		for _, q := range lock.Manifest.Requires {
			top.Needs = append(top.Needs, uvNeed{Name: q.Name, Marker: q.Marker, Extra: q.Extras})
		}
		return top, nil
	}
	root := slices.IndexFunc(lock.Packages, func(p uvPackage) bool {
		return p.Source["virtual"] == "." || p.Source["editable"] == "." || p.Source["directory"] == "."
	})
	if root < 0 {
		return top, fmt.Errorf("%s has no project that is in its own folder: give requirements = \"FILE\" what uv export --package NAME --no-emit-workspace writes", r.Lock)
	}
	return lock.Packages[root], nil
}

// uvWalk follows what packages need.
type uvWalk struct {
	lock    uvLock
	on      platform
	full    string
	markers markers
	seen    map[string]bool
	out     []libraries.Distribution
}

func (w *uvWalk) all(needs []uvNeed) error {
	for _, n := range needs {
		holds, err := w.markers.holds(n.Marker)
		if err != nil {
			return fmt.Errorf("%s: %w", n.Name, err)
		}
		if !holds {
			continue
		}
		p, err := w.find(n)
		if err != nil {
			return err
		}
		id := p.Name + " " + p.Version
		if !w.seen[id] {
			w.seen[id] = true
			d, err := w.distribution(p)
			if err != nil {
				return err
			}
			w.out = append(w.out, d)
			if err := w.all(p.Needs); err != nil {
				return err
			}
		}
		for _, extra := range n.Extra {
			if !w.seen[id+" "+extra] {
				w.seen[id+" "+extra] = true
				if err := w.all(p.Extras[extra]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// find returns the package that a need names; of several versions the one whose markers hold.
func (w *uvWalk) find(n uvNeed) (p uvPackage, err error) {
	var found []uvPackage
	for _, p := range w.lock.Packages {
		if p.Name != n.Name || n.Version != "" && p.Version != n.Version || n.Source != nil && fmt.Sprint(p.Source) != fmt.Sprint(n.Source) {
			continue
		}
		if here, err := w.markers.anyHolds(p.Markers); err != nil {
			return p, err
		} else if here {
			found = append(found, p)
		}
	}
	if len(found) != 1 {
		return p, fmt.Errorf("it has %d packages %s for this platform and Python; make it anew: uv lock", len(found), n.Name)
	}
	return found[0], nil
}

func (w *uvWalk) distribution(p uvPackage) (d libraries.Distribution, err error) {
	d = libraries.Distribution{Name: p.Name, Version: p.Version}
	for _, local := range []string{"directory", "editable", "path", "virtual"} {
		if at, ok := p.Source[local]; ok {
			return d, fmt.Errorf("%s is taken from %v, %w", p.Name, at, errHere)
		}
	}
	if git, ok := p.Source["git"]; ok {
		if _, commit, _ := strings.Cut(fmt.Sprint(git), "#"); commit == "" {
			return d, fmt.Errorf("%s is taken from %v without a commit; make the lock anew: uv lock", p.Name, git)
		}
		d.Files = hashesOf([]string{fmt.Sprint(git)})
		return d, nil
	}
	d.Files, err = w.on.chosen(p.Name+" "+p.Version, w.full, p.Wheels, p.Sdist)
	return d, err
}

// chosen returns the digest of the files that a package is installed from: the platform's wheels, else the source.
func (on platform) chosen(what, full string, wheels []lockFile, sdist *lockFile) (string, error) {
	var hashes []string
	files := slices.DeleteFunc(slices.Clone(wheels), func(f lockFile) bool { return !on.takes(f.name(), full) })
	if len(files) == 0 && sdist != nil {
		files = append(files, *sdist)
	}
	for _, f := range files {
		switch {
		case f.URL == "" || isHere(f.URL):
			return "", fmt.Errorf("%s is taken from %s, %w", what, cmp.Or(f.URL, f.Path, "nowhere"), errHere)
		case f.hash() == "":
			return "", fmt.Errorf("%s has no hash of %s, so another file of that name would go unnoticed: its index gives none; lock it from an index that does (a page of links needs #sha256=… at each)", what, f.name())
		}
		hashes = append(hashes, f.hash())
	}
	if len(hashes) == 0 {
		return "", fmt.Errorf("%s has no file for this platform and Python %s", what, strings.TrimSuffix(full, newest))
	}
	return hashesOf(hashes), nil
}

// matches refuses a lock that belongs to another pyproject.toml, or script, than the file beside it.
func (r Recipe) matches(lock uvLock, top uvPackage) error {
	project, remedy := project, "uv lock"
	script := ScriptOf(r.Lock)
	if script != "" {
		project, remedy = script, "uv lock --script "+script
	}
	text, err := r.file(project)
	switch {
	case script != "" && err != nil:
		return fmt.Errorf("%s says nowhere what it needs: it has no block # /// script, which uv add --script writes", script)
	case err != nil:
		return err
	case script != "":
		text = scriptProject(text)
	}
	var p struct {
		Project struct {
			Requires string              `toml:"requires-python"`
			Needs    []string            `toml:"dependencies"`
			Extras   map[string][]string `toml:"optional-dependencies"`
			Dynamic  []string            `toml:"dynamic"`
		} `toml:"project"`
		Groups map[string][]any `toml:"dependency-groups"`
		Tool   struct {
			UV struct {
				Sources map[string]any `toml:"sources"`
				Dev     []string       `toml:"dev-dependencies"` // of the group "dev", too
			} `toml:"uv"`
		} `toml:"tool"`
	}
	if err := toml.Unmarshal([]byte(text), &p); err != nil {
		return fmt.Errorf("%s: %w", project, err)
	}
	if slices.Contains(p.Project.Dynamic, "dependencies") {
		return nil // only a build tells what they are
	}
	elsewhere := map[string]bool{top.Name: true} // whose versions are not compared
	for name := range p.Tool.UV.Sources {
		elsewhere[pypi.CanonPackageName(name)] = true
	}
	asks, has := map[string]string{top.Name: ""}, map[string]string{top.Name: ""} // requirements as written, by their form
	wanted := append(slices.Collect(maps.Values(p.Project.Extras)), p.Project.Needs, p.Tool.UV.Dev)
	for _, group := range p.Groups {
		for _, of := range group {
			if text, ok := of.(string); ok { // else it includes another group
				wanted = append(wanted, []string{text})
			}
		}
	}
	all := slices.Concat(wanted...)
	slices.SortFunc(all, func(a, b string) int { return strings.Count(b, "@") - strings.Count(a, "@") }) // addresses first, for elsewhere
	for _, w := range all {
		w, _, direct := strings.Cut(w, "@")
		d, err := pypi.ParseDependency(strings.TrimSpace(w))
		if err != nil {
			return fmt.Errorf("%s: %q: %w", project, w, err)
		}
		elsewhere[d.Name] = elsewhere[d.Name] || direct
		asks[wants(d.Name, d.Constraint, elsewhere)] = strings.TrimSpace(d.Name + " " + d.Constraint)
	}
	for _, l := range slices.Concat(append(slices.Collect(maps.Values(top.Metadata.Groups)), top.Metadata.Requires)...) {
		has[wants(l.Name, l.Specifier, elsewhere)] = strings.TrimSpace(l.Name + " " + l.Specifier)
	}
	var differ []string
	for where, pair := range map[string][2]map[string]string{"the lock": {asks, has}, project: {has, asks}} {
		for form, written := range pair[0] {
			if _, ok := pair[1][form]; !ok {
				differ = append(differ, written+" is not in "+where)
			}
		}
	}
	asked, err := constraint(p.Project.Requires)
	if err != nil {
		return fmt.Errorf("%s: requires-python is %q: %w", project, p.Project.Requires, err)
	}
	if is, err := constraint(lock.Requires); err == nil && slices.ContainsFunc(pythons, func(v string) bool { return is.Match(v) && !asked.Match(v) }) {
		differ = append(differ, "requires-python is "+p.Project.Requires+", in the lock "+lock.Requires)
	}
	if len(differ) == 0 {
		return nil
	}
	slices.Sort(differ)
	return fmt.Errorf("%s does not match the %s beside it: %s; make it anew: %s", r.Lock, project, strings.Join(differ, "; "), remedy)
}

// wants returns a requirement in a form that does not depend on how it is written.
func wants(name, versions string, elsewhere map[string]bool) string {
	if elsewhere[name] {
		return name
	}
	parts := strings.FieldsFunc(versions, func(r rune) bool { return r == ',' || r == '(' || r == ')' })
	for i, p := range parts {
		parts[i] = strings.ReplaceAll(p, " ", "")
		if c, err := semver.PyPI.ParseConstraint(parts[i]); err == nil {
			parts[i] = c.Set().String() // ">=6.0-rc1" is ">=v6rc1"
		}
	}
	slices.Sort(parts)
	return name + " " + strings.Join(parts, ",")
}
