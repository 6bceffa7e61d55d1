package crate

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/spdx"
)

// Writer writes a crate, an entity on a line: each step when it is added, and the rest when the crate is closed.
type Writer struct {
	out   *bufio.Writer // which keeps the first error of writing
	n     int           // entities
	err   error         // the first
	about About

	seen    map[artifacts.Digest]string // id of each blob and tree
	values  map[string]bool             // PropertyValues, tools, licences, people
	actions map[artifacts.Digest]bool   // by key
	tools   []string
	steps   []string
	parts   []string // files of the store
	mention []string
	runs    []*run
	byRun   map[string]*run
}

// run is a run of the pipeline, as far as the archive has its results.
type run struct {
	id         string
	began, end time.Time
	controls   []string
	results    []string
}

// New begins a crate.
func New(w io.Writer, about About) *Writer {
	c := &Writer{out: bufio.NewWriter(w), about: about, seen: map[artifacts.Digest]string{}, values: map[string]bool{}, actions: map[artifacts.Digest]bool{}, byRun: map[string]*run{}}
	c.out.WriteString(`{"@context":["https://w3id.org/ro/crate/1.1/context","https://w3id.org/ro/terms/workflow-run/context"],"@graph":[`)
	c.add(entity{{"@id", "ro-crate-metadata.json"}, {"@type", "CreativeWork"}, {"about", ref("./")},
		{"conformsTo", refs([]string{crateSpec, workflowCrate})}})
	return c
}

func (c *Writer) add(e entity) {
	b, err := e.MarshalJSON()
	c.err = cmp.Or(c.err, err)
	if c.n++; c.n > 1 {
		c.out.WriteByte(',')
	}
	c.out.WriteByte('\n')
	c.out.Write(b)
}

// once reports whether something is described for the first time.
func (c *Writer) once(id string) bool {
	if c.values[id] {
		return false
	}
	c.values[id] = true
	return true
}

// Step adds a step.
func (c *Writer) Step(s Step) error {
	tool := home + "#kind-" + s.Kind + "@" + strconv.Itoa(s.Version)
	if c.once(tool) {
		c.tools = append(c.tools, tool)
		c.add(entity{{"@id", tool}, {"@type", "SoftwareApplication"}, {"name", s.Kind}, {"url", home}, {"version", strconv.Itoa(s.Version)}})
	}
	id := fragment("step", s.Address)
	c.steps = append(c.steps, id)
	c.add(entity{{"@id", id}, {"@type", "HowToStep"}, {"name", s.Address}, {"position", strconv.Itoa(len(c.steps))}, {"workExample", ref(tool)}})
	action := "#action-" + s.Result.Key.Hex()
	control := fragment("control", s.Address)
	c.add(entity{{"@id", control}, {"@type", "ControlAction"}, {"name", "orchestrate " + s.Address}, {"instrument", ref(id)}, {"object", ref(action)},
		{"actionStatus", completed}})
	r := c.runOf(s.Result)
	r.controls = append(r.controls, control)
	results := c.outputs(s)
	if s.Rendered {
		r.results = append(r.results, results...)
	}
	if !c.actions[s.Result.Key] {
		c.actions[s.Result.Key] = true
		c.mention = append(c.mention, action)
		c.action(s, action, tool, results)
	}
	return c.err
}

// runOf returns the run that left a result, with the result's times.
func (c *Writer) runOf(res *artifacts.Result) *run {
	r := c.byRun[res.Origin.RunID]
	if r == nil {
		r = &run{id: res.Origin.RunID}
		c.byRun[r.id] = r
		c.runs = append(c.runs, r)
	}
	if began := res.Finished.Add(-res.Took); r.began.IsZero() || began.Before(r.began) {
		r.began = began
	}
	if res.Finished.After(r.end) {
		r.end = res.Finished
	}
	return r
}

func (c *Writer) action(s Step, id, tool string, results []string) {
	objects := lists.Map(s.Inputs, c.input)
	for _, name := range slices.Sorted(maps.Keys(s.Config)) {
		if value := s.Config[name]; len(value) > 0 && !bytes.Contains(value, []byte(`"$input"`)) {
			objects = append(objects, c.value(name, value))
		}
	}
	agents := lists.Map(s.Signers, c.signer)
	var used []string
	for i, u := range s.Used {
		of := id + "-used-" + strconv.Itoa(i+1)
		used = append(used, of)
		c.add(entity{{"@id", of}, {"@type", "PropertyValue"}, {"name", u.Name}, {"propertyID", u.ID}, {"value", u.Value}}.with("unitCode", u.Unit))
	}
	says := "Step " + s.Address + ", of kind " + s.Kind
	if s.Result.Origin.RunID != "" {
		says += ", as run " + s.Result.Origin.RunID + " left it"
	}
	c.add(entity{{"@id", id}, {"@type", "CreateAction"}, {"name", s.Address}, {"description", says + "."}, {"identifier", s.Result.Key.String()},
		{"instrument", ref(tool)}, {"object", refs(slices.Compact(objects))}, {"result", refs(results)},
		{"startTime", stamp(s.Result.Finished.Add(-s.Result.Took))}, {"endTime", stamp(s.Result.Finished)}, {"actionStatus", completed}}.
		with("agent", refs(agents)).with("resourceUsage", refs(used)))
}

func (c *Writer) signer(key string) string {
	name, _, _ := strings.Cut(key, ":")
	sum := sha256.Sum256([]byte(key))
	id := "#signer-" + hex.EncodeToString(sum[:8])
	if c.once(id) {
		c.add(entity{{"@id", id}, {"@type", "Person"}, {"name", name}, {"identifier", key}, {"description", "Holder of the key that signed the result; the name is theirs to choose."}})
	}
	return id
}

// value describes a value of a configuration, equal ones once.
func (c *Writer) value(name string, v json.RawMessage) string {
	sum := sha256.Sum256(append([]byte(name+"\x00"), v...))
	id := "#value-" + hex.EncodeToString(sum[:16])
	if c.once(id) {
		c.add(entity{{"@id", id}, {"@type", "PropertyValue"}, {"name", name}, {"value", plainValue(v)}})
	}
	return id
}

// plainValue returns a text, number or boolean as it is, and anything else as its JSON.
func plainValue(v json.RawMessage) any {
	var s string
	switch {
	case json.Unmarshal(v, &s) == nil:
		return s
	case bytes.ContainsAny(v[:1], "[{n"):
		return string(v)
	}
	return v
}

// input returns the id of an artifact that a step has read, which an earlier step has left.
func (c *Writer) input(d artifacts.Digest) string {
	if id, ok := c.seen[d]; ok {
		return id
	}
	return c.blob(artifacts.File{Digest: d, Size: -1}, "input", "")
}

func (c *Writer) outputs(s Step) (ids []string) {
	for _, name := range slices.Sorted(maps.Keys(s.Result.Outputs)) {
		a := s.Result.Outputs[name]
		if a.Files == nil {
			ids = append(ids, c.blob(artifacts.File{Name: name, Digest: a.Digest, Size: a.Size}, s.Address+"."+name, s.License))
			continue
		}
		id, seen := c.seen[a.Digest]
		if !seen {
			id = "#tree-" + a.Digest.Hex()
			c.seen[a.Digest] = id
			parts := lists.Map(a.Files, func(f artifacts.File) string { return c.blob(f, s.Address+"."+name+"/"+f.Name, s.License) })
			slices.Sort(parts)
			c.mention = append(c.mention, id)
			c.add(entity{{"@id", id}, {"@type", "Collection"}, {"name", s.Address + "." + name}, {"identifier", a.Digest.String()}, {"additionalType", a.Type},
				{"hasPart", refs(slices.Compact(parts))}}.with("license", c.license(s.License)))
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// blob describes a file of the store, or a file that was left out.
func (c *Writer) blob(f artifacts.File, name, license string) string {
	if id, ok := c.seen[f.Digest]; ok {
		return id
	}
	at, elsewhere := c.about.Blob(f.Digest)
	e := entity{{"@id", at}, {"@type", "File"}}
	if at == "" {
		e = entity{{"@id", "#sha256-" + f.Digest.Hex()}, {"@type", "CreativeWork"}, {"description", "Left out of this archive."}}.with("url", elsewhere)
	} else {
		c.parts = append(c.parts, at)
	}
	id := e[0].value.(string)
	c.seen[f.Digest] = id
	e = append(e, field{"name", name}, field{"sha256", f.Digest.Hex()})
	if f.Size >= 0 {
		e = append(e, field{"contentSize", strconv.FormatInt(f.Size, 10)})
	}
	c.add(e.with("encodingFormat", format(f.Name)).with("license", c.license(license)))
	return id
}

// license describes a licence that the pipeline names; nil without one.
func (c *Writer) license(name string) entity {
	if name == "" {
		return nil
	}
	id := name
	if registered, _ := spdx.Find(name); registered != "" {
		id, name = spdx.Pages+registered, registered
	} else if !strings.HasPrefix(name, "https://") && !strings.HasPrefix(name, "http://") {
		id = fragment("license", name)
	}
	if c.once(id) {
		c.add(entity{{"@id", id}, {"@type", "CreativeWork"}, {"name", name}})
	}
	return ref(id)
}

// formats are the media types of files by their extensions: package mime has others on each machine.
var formats = map[string]string{
	".md": "text/markdown", ".markdown": "text/markdown", ".tex": "application/x-tex", ".latex": "application/x-tex", ".csv": "text/csv", ".json": "application/json",
	".jsonl": "application/jsonl", ".hcl": "text/plain", ".lock": "application/json", ".txt": "text/plain", ".zst": "application/zstd", ".gz": "application/gzip",
	".bz2": "application/x-bzip2", ".html": "text/html", ".cff": "application/yaml", ".pdf": "application/pdf", ".png": "image/png", ".svg": "image/svg+xml",
	".tsv": "text/tab-separated-values", ".parquet": "application/vnd.apache.parquet",
}

// format returns the media type of a file; application/octet-stream if none is declared.
func format(name string) string {
	ext := cmp.Or(strings.ToLower(path.Ext(name)), "."+strings.ToLower(name)) // outputs of tables and figures are called so
	if f, ok := formats[ext]; ok {
		return f
	}
	if base := path.Base(name); base == "LICENSE" || base == "COPYING" || base == "NOTICE" {
		return "text/plain"
	}
	return "application/octet-stream"
}
