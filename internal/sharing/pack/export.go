package pack

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/lockfile/origins"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/sharing/archive"
	"github.com/redsi/redsi/internal/sharing/choose"
	"github.com/redsi/redsi/internal/sharing/crate"
	"github.com/redsi/redsi/internal/sharing/files"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/shellwords"
	"github.com/redsi/redsi/internal/system/signature"
	"github.com/redsi/redsi/internal/system/words"
)

// Options say what goes into an archive.
type Options struct {
	File         string // to write
	Choice       choose.Choice
	DOI, Deposit string // Deposit: "" or "zenodo"
}

func (o Options) check() error {
	if !slices.Contains([]string{choose.All, choose.Tables, choose.None}, o.Choice.Which) {
		return fault.Input(fmt.Errorf("--blobs %s: want all, tables or none", o.Choice.Which))
	}
	if o.Deposit != "" && o.Deposit != "zenodo" {
		return fault.Input(fmt.Errorf("--deposit %s: want zenodo", o.Deposit))
	}
	if o.DOI != "" && !declare.IsDOI(o.DOI) {
		return fault.Input(fmt.Errorf("--doi %s: a DOI is written 10.5281/zenodo.1234, without https://doi.org/", o.DOI))
	}
	if !strings.HasSuffix(o.File, ".zip") {
		return fault.Input(fmt.Errorf("--archive %s: the name must end in .zip", o.File))
	}
	return nil
}

// Exported is what an archive has.
type Exported struct {
	Archive string            `json:"archive"`
	Digest  artifacts.Digest  `json:"digest"`
	Size    int64             `json:"size"`
	Steps   int               `json:"steps"` // of the pipeline, or of the targets
	Results int               `json:"results"`
	Blobs   int               `json:"blobs"`
	Bytes   int64             `json:"bytes"` // of blobs
	Files   int               `json:"files"` // of the project
	LeftOut []archive.LeftOut `json:"left_out"`
	Missing []string          `json:"missing"` // steps without results
	Signer  string            `json:"signer,omitempty"`
	Deposit string            `json:"deposit,omitempty"` // file with its metadata
	Upload  []string          `json:"upload,omitempty"`  // commands that upload it
	Notes   []string          `json:"notes"`
}

// export is an archive that is being written: begin, then note for each hit, choose, and finish.
type export struct {
	se *session.Session
	of session.Seen
	o  Options

	keys     []artifacts.Digest // by step; zero: no result
	blobs    choose.Blobs
	signed   map[string]bool // hex keys with a signature
	released int             // steps whose outputs have left the store
	project  *projectFiles
	names    files.Names
	rendered []renderedBlob
	newest   time.Time
	zenodo   []byte // metadata; nil: no deposit is asked for
	done     Exported
}

type renderedBlob struct {
	name string // in the archive
	artifacts.File
}

// Export writes the pipeline of a session and its results as an archive, signed with the user's key, if there is one.
func Export(ctx context.Context, se *session.Session, o Options) (*Exported, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	var x *export
	var g *report.Gatherer
	v, err := se.Preview(ctx, func(of session.Seen) (_ plan.Keep, err error) {
		if x, err = begin(se, of, o); err != nil {
			return nil, err
		}
		book, err := se.Book(ctx, of.Store.Own)
		g = report.Gather(of.Plan, book)
		return func(i int, it *plan.Item) bool {
			x.note(i, it)
			return g.Keep(i, it)
		}, err
	})
	if err != nil {
		return nil, err
	}
	if err := se.SayDown(v.Store, session.MayHave(v.Preview, nil)); err != nil {
		return nil, err
	}
	// Results from other stores are copied unchanged, with their signatures.
	if err := se.Bring(ctx, v.Store, v.Preview, func(int) bool { return true }); err != nil {
		return nil, err
	}
	if err := x.choose(ctx, se.ToRun(se.Targets...)); err != nil {
		return nil, err
	}
	r, err := g.Build(ctx, v.Preview, v.Store.Open, report.Options{Store: v.Store.Own.URL, Paper: v.Pipeline.Paper, Claims: v.Pipeline.Claims, Command: x.hint})
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	if err := r.HTML(&page); err != nil {
		return nil, err
	}
	by, err := se.Signer()
	if err != nil {
		return nil, err
	}
	sent, over := se.Copying("written", 0)
	defer over()
	return x.finish(ctx, page.Bytes(), by, sent)
}

// begin reads the pipeline's files, and checks what a deposit needs.
func begin(se *session.Session, of session.Seen, o Options) (x *export, err error) {
	x = &export{se: se, of: of, o: o, keys: make([]artifacts.Digest, len(of.Plan.Steps)), blobs: choose.Blobs{}, names: files.NamesOf(of.Pipeline.Steps),
		done: Exported{Archive: o.File, Steps: len(of.Plan.Steps), LeftOut: []archive.LeftOut{}, Missing: []string{}, Notes: []string{}}}
	if o.Deposit != "" {
		if x.zenodo, err = crate.Zenodo(x.work()); err != nil {
			return nil, fault.Input(err)
		}
	}
	if x.project, err = projectOf(se, of); err != nil {
		return nil, err
	}
	x.done.Notes = append(x.done.Notes, x.project.notes...)
	return x, nil
}

func (x *export) work() crate.Work {
	p := x.of.Pipeline.Paper
	w := crate.Work{Title: p.Title, Abstract: p.Abstract, License: p.License, Version: p.Version, DOI: x.o.DOI, Paper: p.DOI, URL: p.URL, Keywords: p.Keywords, Released: x.newest}
	for _, name := range p.Authors {
		w.Authors = append(w.Authors, crate.Author{Name: name, ORCID: p.ORCID[name], Affiliation: p.Affiliations[name]})
	}
	return w
}

func (x *export) note(i int, it *plan.Item) {
	r, name := it.Result, x.of.Plan.Steps[i].Address
	if it.Released && it.From != "" {
		return
	}
	x.keys[i] = it.Key
	if it.Released {
		x.released++
	}
	if r.Finished.After(x.newest) {
		x.newest = r.Finished
	}
	rendered := address.Of(name).IsRendered()
	if rendered {
		x.noteRendered(name, r)
	}
	x.blobs.Outputs(i, r, rendered)
	if r.Log != nil && r.Log.Size > 0 {
		x.blobs.Add(i, "log", r.Log.Digest, r.Log.Size, choose.Said)
	}
	for _, f := range r.Kept {
		x.blobs.Add(i, f.Name, f.Digest, f.Size, choose.Said)
	}
}

func (x *export) noteRendered(item string, r *artifacts.Result) {
	for _, output := range slices.Sorted(maps.Keys(r.Outputs)) {
		name := archive.ResultsDir + address.Of(item).Type() + "s/" + x.names.Of(item, output)
		for _, f := range r.Outputs[output].Named("") {
			x.rendered = append(x.rendered, renderedBlob{path.Join(name, f.Name), f})
		}
	}
}

// choose decides which blobs the archive has, once all hits are noted and copied here from other stores.
func (x *export) choose(ctx context.Context, run string) error {
	for i, s := range x.of.Plan.Steps {
		if x.keys[i].IsZero() {
			x.done.Missing = append(x.done.Missing, s.Address)
		}
	}
	if len(x.done.Missing) == len(x.of.Plan.Steps) {
		return fault.Input(fmt.Errorf("no step has a result yet, so there is nothing to archive: %s", run))
	}
	if x.released > 0 {
		x.done.Notes = append(x.done.Notes, fmt.Sprintf("of %s with keep = false, the archive has what the steps that read them need to be hits, not the files", words.Count(x.released, "step")))
	}
	urls, err := origins.Addresses(x.of.Plan)
	if err != nil {
		return err
	}
	x.blobs.Addressed(urls)
	if err := x.necessary(ctx); err != nil {
		return err
	}
	x.blobs.Take(x.o.Choice)
	x.leftOut()
	return nil
}

// necessary records the blobs that an archive cannot do without, and drops the blobs that have gone.
func (x *export) necessary(ctx context.Context) error {
	for _, key := range x.distinct() {
		b, err := x.of.Store.Own.Records.Get(ctx, artifacts.ResultName(key))
		if err != nil {
			return err
		}
		if d, ok := archive.BodyOf(b); ok {
			x.blobs.Add(0, "", d, 0, choose.Necessary)
		}
	}
	for _, s := range x.project.sources {
		x.blobs.Add(0, s.Name, s.Digest, s.Size, choose.Necessary)
	}
	gone, err := x.blobs.Away(ctx, x.of.Store.Own, slices.SortedFunc(maps.Keys(x.blobs), artifacts.Digest.Compare))
	if err != nil {
		return err
	}
	lost := lists.Set(gone)
	for d := range lost { // a hit may lack only its log
		delete(x.blobs, d)
	}
	x.project.sources = slices.DeleteFunc(x.project.sources, func(f artifacts.File) bool { return lost[f.Digest] })
	return nil
}

// distinct returns the keys of the results, sorted, each once.
func (x *export) distinct() []artifacts.Digest {
	keys := slices.SortedFunc(slices.Values(x.keys), artifacts.Digest.Compare)
	return slices.Compact(slices.DeleteFunc(keys, artifacts.Digest.IsZero))
}

// leftOut sums up by step the blobs that are not in the archive.
func (x *export) leftOut() {
	by := map[int]*archive.LeftOut{}
	for _, c := range x.blobs.LeftOut() {
		i := c.Steps[0]
		if by[i] == nil {
			by[i] = &archive.LeftOut{Step: x.of.Plan.Steps[i].Address}
		}
		by[i].Blobs++
		by[i].Bytes += c.Size
		if c.URL != "" {
			by[i].Elsewhere++
			if by[i].URL == "" || c.URL < by[i].URL {
				by[i].URL = c.URL
			}
		}
	}
	for _, i := range slices.Sorted(maps.Keys(by)) {
		x.done.LeftOut = append(x.done.LeftOut, *by[i])
	}
}

// hint returns a command line that works where the archive was imported.
func (x *export) hint(verb string, args ...string) string {
	words := slices.Concat([]string{"redsi"}, strings.Fields(verb), args)
	if f := x.project.pipeline; f != syntax.DefaultFile {
		words = append(words, "-f", f)
	}
	for _, name := range x.of.Pipeline.Given {
		words = append(words, "--var", name+"="+x.of.Pipeline.Inputs[name])
	}
	return shellwords.Line(words)
}

// finish writes the archive with its report, signed by a key unless that is nil, and the metadata of a deposit beside it;
// sent is told of bytes as they are written.
func (x *export) finish(ctx context.Context, page []byte, by *signature.Private, sent func(n int64)) (*Exported, error) {
	var sum *archive.Summed
	err := atomicfile.Write(x.o.File, 0o644, func(out io.Writer) error {
		sum = archive.NewSummed(out, sent)
		return x.write(ctx, sum, page, by)
	})
	if err != nil {
		return nil, err
	}
	x.done.Digest, x.done.Size = sum.Digest(), sum.Size
	if by != nil {
		x.done.Signer = by.Public().String()
	}
	if x.zenodo != nil {
		x.done.Deposit = strings.TrimSuffix(x.o.File, ".zip") + ".zenodo.json"
		if err := atomicfile.WriteFile(x.done.Deposit, x.zenodo, 0o644); err != nil {
			return nil, err
		}
		x.done.Upload = crate.Commands(shellwords.Quote(x.o.File), shellwords.Quote(x.done.Deposit), shellwords.Quote(filepath.Base(x.o.File)))
	}
	return &x.done, nil
}
