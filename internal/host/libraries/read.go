package libraries

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/hashed"
)

type reading struct {
	at       installation
	conda    map[string]recorded // by the path below the environment's folder
	sources  []root
	projects []root // of editable installations
	out      Manifest
	loose    []loose
}

// recorded is what a record of an installation says of a file.
type recorded struct {
	sum  artifacts.Digest // zero if it does not say
	size int64            // -1 likewise
	by   entry            // the record
	own  bool             // the installer's own file
}

// holds reports whether a file is as it was installed, by its size and times. Only the time of its change tells an
// older file that was put in its place.
func (rec recorded) holds(e entry) bool {
	return e.MTime <= rec.by.MTime && e.CTime < rec.by.CTime && (rec.size < 0 || e.Size == rec.size)
}

// loose is a file that has to be hashed.
type loose struct {
	path string
	rel  string // its path below its group
	was  artifacts.Digest
	to   File // with its group's name
	sum  artifacts.Digest
}

const (
	maxRecord = 64 << 20
	maxJSON   = 16 << 20
)

// read reads what is installed at p. It returns the roots whose files tell whether that has changed, with the stamp and
// the newest change of those files.
func read(ctx context.Context, p installation) (m Manifest, roots []root, stamp string, newest int64, err error) {
	r := &reading{at: p, conda: map[string]recorded{}, out: Manifest{Format: Format, Python: p.Python}}
	roots = []root{{Path: p.Interpreter}} // which are known before anything is read
	if p.Conda != "" {
		roots = append(roots, root{Path: p.Conda})
	}
	for _, s := range p.Sites {
		roots = append(roots, root{Path: s})
	}
	all, err := scan(ctx, roots)
	if err != nil {
		return m, nil, "", 0, err
	}
	for i := range roots {
		switch at := roots[i].Path; {
		case at == p.Conda:
			err = r.condaMeta(all[i])
		case slices.Contains(p.Sites, at):
			err = r.site(ctx, at, all[i])
		}
		if err != nil {
			return m, nil, "", 0, err
		}
	}
	for _, project := range r.projects { // unless their folders of sources were found otherwise
		if !slices.ContainsFunc(r.sources, func(s root) bool { return within(s.Path, project.Path) }) {
			r.source(project)
		}
	}
	for next := 0; next < len(r.sources); { // links in sources lead to more of them
		some := r.sources[next:]
		next = len(r.sources)
		found, err := scan(ctx, some)
		if err != nil {
			return m, nil, "", 0, err
		}
		roots, all = append(roots, some...), append(all, found...)
		for i, s := range some {
			for _, e := range found[i] {
				r.unlisted(s, e, Source)
			}
		}
	}
	interpreter, _, err := hashed.Digest(ctx, p.Interpreter, nil)
	if err == nil {
		r.out.Interpreter, err = Original(p.Interpreter, interpreter)
	}
	if err == nil {
		err = r.hash(ctx)
	}
	stamp, newest = stampOf(roots, all)
	return r.out, roots, stamp, newest, err
}

// site reads a folder of installed distributions.
func (r *reading) site(ctx context.Context, at string, entries []entry) error {
	conda := map[string]recorded{}
	prefix, err := filepath.EvalSymlinks(r.at.Prefix) // as at is
	if err != nil {
		return err
	}
	for name, rec := range r.conda {
		if rel, err := filepath.Rel(at, filepath.Join(prefix, name)); err == nil {
			conda[filepath.ToSlash(rel)] = rec
		}
	}
	records := map[string]recorded{}
	byName := make(map[string]entry, len(entries))
	var infos []string
	for _, e := range entries {
		byName[e.Name] = e
		if info := infoOf(e.Name); info != "" && (len(infos) == 0 || infos[len(infos)-1] != info) {
			infos = append(infos, info)
		}
	}
	first := len(r.out.Distributions)
	for _, info := range infos {
		about := byName[info+"/METADATA"]
		if rec, ok := conda[about.Name]; ok {
			theirs := rec.holds(about)
			if !theirs && !rec.sum.IsZero() { // a copy of the environment has other times
				theirs, _ = hashed.Unchanged(ctx, filepath.Join(at, about.Name), rec.sum, hashed.Proof{})
			}
			if theirs {
				continue // conda's record of the package counts
			}
		}
		if err := r.distribution(at, info, byName, records); err != nil {
			return err
		}
	}
	slices.SortFunc(r.out.Distributions[first:], func(a, b Distribution) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Files, b.Files))
	})
	for _, e := range entries {
		rec, listed := records[e.Name]
		if theirs, ok := conda[e.Name]; ok && (!listed || theirs.holds(e)) {
			rec, listed = theirs, true
		}
		if isPointer(e) {
			if err := r.pointer(at, e, listed); err != nil {
				return err
			}
			if !listed && path.Ext(e.Name) != ".py" {
				continue // what it leads to and runs counts
			}
		}
		switch {
		case rec.own, !listed && infoOf(e.Name) != "" && path.Base(e.Name) != "entry_points.txt": // plugins are found by entry points
		case !listed:
			r.unlisted(root{Path: at}, e, Unlisted)
		case !rec.holds(e):
			r.loose = append(r.loose, loose{path: filepath.Join(at, e.Name), was: rec.sum, to: File{Name: e.Name, Is: Edited}})
		}
	}
	maps.Copy(conda, records)
	for name, rec := range conda {
		if _, ok := byName[name]; !ok && !rec.sum.IsZero() && filepath.IsLocal(name) && path.Ext(name) != ".pyc" {
			r.out.Files = append(r.out.Files, File{Name: name, Is: Gone})
		}
	}
	return nil
}

// infoOf returns the dist-info or egg-info that a file is in, or is; "" for other files.
func infoOf(name string) string {
	top, _, _ := strings.Cut(name, "/")
	if ext := path.Ext(top); ext != ".dist-info" && ext != ".egg-info" {
		return ""
	}
	return top
}

// own are files of a dist-info that say how and from where it was installed.
var own = []string{"RECORD", "RECORD.jws", "RECORD.p7s", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json", "uv_build.json"}

// distribution reads a dist-info or egg-info, and adds its files to records.
func (r *reading) distribution(at, info string, byName map[string]entry, records map[string]recorded) error {
	name, version, _ := strings.Cut(strings.TrimSuffix(info, path.Ext(info)), "-")
	if path.Ext(info) == ".egg-info" {
		version, _, _ = strings.Cut(version, "-py")
	}
	d := Distribution{Name: normal(name), Version: version}
	for _, f := range own {
		records[info+"/"+f] = recorded{own: true}
	}
	if _, ok := byName[info+"/direct_url.json"]; ok {
		var err error
		if d.Editable, err = r.editable(filepath.Join(at, info, "direct_url.json")); err != nil {
			return err
		}
	}
	if e, ok := byName[info+"/RECORD"]; ok {
		text, err := readBounded(filepath.Join(at, info, "RECORD"), maxRecord)
		if err != nil {
			return err
		}
		d.Files = r.record(string(text), e, d.Editable, records)
	}
	r.out.Distributions = append(r.out.Distributions, d)
	return nil
}

// record reads the lines "path,sha256=…,size" of a RECORD and returns the digest of the lines that are the same
// wherever the distribution is installed.
func (r *reading) record(text string, by entry, editable bool, records map[string]recorded) string {
	var lines []string
	for line := range strings.Lines(text) {
		rest, size, _ := strings.CutLast(strings.TrimRight(line, "\r\n"), ",")
		name, sum, ok := strings.CutLast(rest, ",")
		if !ok {
			continue
		}
		name = strings.ReplaceAll(strings.Trim(name, `"`), `""`, `"`)
		if records[name].own || strings.HasSuffix(name, ".pyc") {
			continue
		}
		switch {
		case strings.HasPrefix(name, "../") && strings.Contains(name, "/bin/"): // scripts begin with a path of this machine
		case editable && (!strings.Contains(name, "/") || infoOf(name) != "" && path.Base(name) != "entry_points.txt"): // they have paths, too
		default:
			lines = append(lines, name+","+sum+"\n")
		}
		if is := recordSum(sum); !strings.HasPrefix(name, "../") && !is.IsZero() { // a line without a hash vouches for nothing
			rec := recorded{sum: is, size: -1, by: by}
			if n, err := strconv.ParseInt(size, 10, 64); err == nil {
				rec.size = n
			}
			records[name] = rec
		}
	}
	if editable && lines == nil {
		return ""
	}
	slices.Sort(lines)
	return artifacts.Sum([]byte(strings.Join(lines, ""))).Hex()
}

// unlisted adds a file that is in no record; the files of a folder are told together.
func (r *reading) unlisted(at root, e entry, is string) {
	file := filepath.Join(at.Path, e.Name)
	name := path.Join(at.Name, e.Name)
	if e.Link {
		r.source(root{Path: file, Name: name, Code: true})
		return
	}
	group, rest, _ := strings.Cut(cmp.Or(name, path.Base(at.Path)), "/")
	r.loose = append(r.loose, loose{path: file, rel: rest, to: File{Name: group, Is: is}})
}

const maxNamed = 1000

// hash hashes the loose files, and adds those that are not as they were installed to the manifest.
func (r *reading) hash(ctx context.Context) error {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range r.loose {
		g.Go(func() (err error) {
			r.loose[i].sum, _, err = hashed.Digest(gctx, r.loose[i].path, nil)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	groups := map[File][]string{}
	for _, l := range r.loose {
		switch {
		case l.to.Is != Edited:
			groups[l.to] = append(groups[l.to], l.rel+"\x00"+l.sum.Hex()+"\n")
		case l.sum != l.was:
			l.to.Digest = l.sum
			r.out.Files = append(r.out.Files, l.to)
		}
	}
	for f, lines := range groups {
		slices.Sort(lines)
		f.Digest = artifacts.Sum([]byte(strings.Join(lines, "")))
		r.out.Files = append(r.out.Files, f)
	}
	slices.SortFunc(r.out.Files, func(a, b File) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Is, b.Is), a.Digest.Compare(b.Digest))
	})
	if more := len(r.out.Files) - maxNamed; more > 0 {
		rest, err := json.Marshal(r.out.Files[maxNamed:])
		if err != nil {
			return err
		}
		r.out.Files = append(r.out.Files[:maxNamed], File{Name: fmt.Sprintf("%d more", more), Is: Edited + " or " + Unlisted, Digest: artifacts.Sum(rest)})
	}
	return nil
}
