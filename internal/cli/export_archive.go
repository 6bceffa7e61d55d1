package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/fault"
	"github.com/redsi/redsi/internal/sharing/archive"
	"github.com/redsi/redsi/internal/sharing/deposit"
	"github.com/redsi/redsi/internal/system/atomicfile"
)

// archiveOptions say what goes into an archive.
type archiveOptions struct {
	file, blobs, over, fit string
	doi, deposit           string

	choice archive.Choice
}

// check reads the sizes and reports invalid options.
func (o *archiveOptions) check() error {
	if !slices.Contains([]string{archive.All, archive.Tables, archive.None}, o.blobs) {
		return fault.Input(fmt.Errorf("--blobs %s: want all, tables or none", o.blobs))
	}
	o.choice.Which = o.blobs
	for _, s := range []struct {
		flag, text string
		n          *int64
	}{{"--without-blobs-over", o.over, &o.choice.Over}, {"--fit", o.fit, &o.choice.Fit}} {
		if s.text == "" {
			continue
		}
		var err error
		if *s.n, err = sizeOf(s.flag, s.text, "100MB"); err != nil {
			return err
		}
	}
	if o.deposit != "" && o.deposit != "zenodo" {
		return fault.Input(fmt.Errorf("--deposit %s: want zenodo", o.deposit))
	}
	if o.doi != "" && !pipeline.IsDOI(o.doi) {
		return fault.Input(fmt.Errorf("--doi %s: a DOI is written 10.5281/zenodo.1234, without https://doi.org/", o.doi))
	}
	if !strings.HasSuffix(o.file, ".zip") {
		return fault.Input(fmt.Errorf("--archive %s: the name must end in .zip", o.file))
	}
	return nil
}

// archived is the outcome of an export.
type archived struct {
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

// exporting is an archive that is being made.
type exporting struct {
	a     *app
	o     archiveOptions
	store artifacts.Store
	p     *pipeline.Pipeline
	pl    *plan.Plan

	keys     []artifacts.Digest // by step; zero: no result
	blobs    map[artifacts.Digest]*archive.Candidate
	of       map[artifacts.Digest]int    // the first step that has left it
	signed   map[string]bool             // hex keys with a signature
	urls     map[artifacts.Digest]string // where sources lie
	project  *projectFiles
	rendered []renderedBlob
	newest   time.Time
	archived
}

// renderedBlob is a file of a table or figure.
type renderedBlob struct {
	name string // in the archive
	artifacts.File
}

// exportArchive writes one.
func (a *app) exportArchive(ctx context.Context, o archiveOptions) (*archived, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	pl, p, err := a.loadPlan(ctx)
	if err != nil {
		return nil, err
	}
	store, err := a.openStore(ctx)
	if err != nil {
		return nil, err
	}
	x := &exporting{a: a, o: o, store: store, p: p, pl: pl, keys: make([]artifacts.Digest, len(pl.Steps)), blobs: map[artifacts.Digest]*archive.Candidate{}, of: map[artifacts.Digest]int{},
		archived: archived{Archive: o.file, Steps: len(pl.Steps), LeftOut: []archive.LeftOut{}, Missing: []string{}, Notes: []string{}}}
	var zenodo []byte
	if o.deposit != "" { // before the work
		if zenodo, err = deposit.Zenodo(x.work()); err != nil {
			return nil, fault.Input(err)
		}
	}
	if x.project, err = a.projectOf(p, pl); err != nil {
		return nil, err
	}
	x.Notes = append(x.Notes, x.project.notes...)
	page, err := x.gather(ctx)
	if err != nil {
		return nil, err
	}
	by, err := a.signer()
	if err != nil {
		return nil, err
	}
	m := a.newMeter("written", 0)
	var sum *archive.Summed
	err = atomicfile.Write(o.file, 0o644, func(out io.Writer) error {
		sum = archive.NewSummed(out, m.add)
		return x.write(ctx, sum, page, by)
	})
	m.close()
	if err != nil {
		return nil, err
	}
	x.Digest, x.Size = sum.Digest(), sum.Size
	if by != nil {
		x.Signer = by.Public().String()
	}
	if zenodo != nil {
		x.Deposit = strings.TrimSuffix(o.file, ".zip") + ".zenodo.json"
		if err := atomicfile.WriteFile(x.Deposit, zenodo, 0o644); err != nil {
			return nil, err
		}
		x.Upload = deposit.Commands(quoted(o.file), quoted(x.Deposit), quoted(filepath.Base(o.file)))
	}
	return &x.archived, nil
}

// work describes the archive for citations.
func (x *exporting) work() deposit.Work {
	p := x.p.Paper
	w := deposit.Work{Title: p.Title, Abstract: p.Abstract, License: p.License, Version: p.Version, DOI: x.o.doi, Paper: p.DOI, URL: p.URL, Keywords: p.Keywords, Released: x.newest}
	for _, name := range p.Authors {
		w.Authors = append(w.Authors, deposit.Author{Name: name, ORCID: p.ORCID[name], Affiliation: p.Affiliations[name]})
	}
	return w
}

// gather looks up all steps, records their blobs, and makes the report.
func (x *exporting) gather(ctx context.Context) ([]byte, error) {
	g, err := x.a.gather(ctx, x.store, x.pl)
	if err != nil {
		return nil, err
	}
	if x.urls, err = addressesOf(x.pl); err != nil {
		return nil, err
	}
	v, err := x.a.previewOf(ctx, x.store, x.pl, func(i int, it *plan.Item) bool {
		x.note(i, it)
		return g.Keep(i, it)
	})
	if err != nil {
		return nil, err
	}
	if err := x.a.sayDown(x.store, mayHave(v, nil)); err != nil {
		return nil, err
	}
	// Results from other stores are copied unchanged, with their signatures.
	if err := x.a.bring(ctx, x.store, v, func(int) bool { return true }); err != nil {
		return nil, err
	}
	for i, s := range x.pl.Steps {
		if x.keys[i].IsZero() {
			x.Missing = append(x.Missing, s.Address)
		}
	}
	if len(x.Missing) == len(x.pl.Steps) {
		return nil, fault.Input(fmt.Errorf("no step has a result yet, so there is nothing to archive: %s", x.a.hint("run", targetArgs(x.a.Targets)...)))
	}
	if err := x.necessary(ctx); err != nil {
		return nil, err
	}
	x.o.choice.Take(slices.Collect(maps.Values(x.blobs)))
	x.leftOut()
	r, err := g.Build(ctx, v, x.store.Blobs.Open, report.Options{Store: x.store.URL, Paper: x.p.Paper, Claims: x.p.Claims, Command: x.hint})
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	if err := r.HTML(&page); err != nil {
		return nil, err
	}
	return page.Bytes(), nil
}

// hint is a command line that works where the archive was imported.
func (x *exporting) hint(verb string, args ...string) string {
	words := append([]string{"redsi"}, strings.Fields(verb)...)
	words = append(words, args...)
	if f := x.project.pipeline; f != pipeline.DefaultFile {
		words = append(words, "-f", f)
	}
	for _, name := range x.p.Given {
		words = append(words, "--var", name+"="+x.p.Inputs()[name])
	}
	return shellLine(words)
}

// note records a hit.
func (x *exporting) note(i int, it *plan.Item) {
	r, address := it.Result, x.pl.Steps[i].Address
	x.keys[i] = it.Key
	if r.Finished.After(x.newest) {
		x.newest = r.Finished
	}
	use := archive.Intermediate
	if isRendered(address) {
		use = archive.Rendered
	}
	for _, output := range sortedOutputs(r) {
		art := r.Outputs[output]
		for _, f := range filesOf(output, art) {
			x.candidate(i, f.Digest, f.Size, use)
			if use == archive.Rendered {
				name := archive.ResultsDir + pipeline.BlockType(address) + "s/" + fileName(renderedName(address)) + "." + extension(output)
				if art.Files != nil {
					name += "/" + f.Name
				}
				x.rendered = append(x.rendered, renderedBlob{name, f})
			}
		}
	}
	if r.Log != nil && r.Log.Size > 0 {
		x.candidate(i, r.Log.Digest, r.Log.Size, archive.Said)
	}
	for _, f := range r.Kept {
		x.candidate(i, f.Digest, f.Size, archive.Said)
	}
}

func (x *exporting) candidate(step int, d artifacts.Digest, size int64, use archive.Use) {
	c := x.blobs[d]
	if c == nil {
		c = &archive.Candidate{Digest: d, Size: size}
		x.blobs[d], x.of[d] = c, step
	}
	c.Use = max(c.Use, use)
}

// necessary records the blobs that an archive cannot do without, and drops logs that have
// gone.
func (x *exporting) necessary(ctx context.Context) error {
	for _, key := range x.distinct() {
		b, err := x.store.Records.Get(ctx, artifacts.ResultName(key))
		if err != nil {
			return err
		}
		if d, ok := archive.BodyOf(b); ok {
			x.candidate(0, d, 0, archive.Necessary)
		}
	}
	for _, s := range x.project.sources {
		x.candidate(0, s.Digest, s.Size, archive.Necessary)
	}
	all := slices.SortedFunc(maps.Keys(x.blobs), artifacts.Digest.Compare)
	away, gone, err := x.store.Away(ctx, all)
	if err != nil {
		return err
	}
	for _, e := range away {
		x.blobs[e.Digest].Away, x.urls[e.Digest] = true, e.URL
	}
	lost := map[artifacts.Digest]bool{}
	for _, d := range gone { // of a hit, only its log can be
		delete(x.blobs, d)
		lost[d] = true
	}
	x.project.sources = slices.DeleteFunc(x.project.sources, func(f artifacts.File) bool { return lost[f.Digest] })
	return nil
}

// distinct are the keys of the results, sorted, each once.
func (x *exporting) distinct() []artifacts.Digest {
	keys := slices.SortedFunc(slices.Values(x.keys), artifacts.Digest.Compare)
	return slices.Compact(slices.DeleteFunc(keys, artifacts.Digest.IsZero))
}

// leftOut sums up by step the blobs that are not in the archive.
func (x *exporting) leftOut() {
	by := map[int]*archive.LeftOut{}
	for d, c := range x.blobs {
		if c.Taken || c.Use == archive.Said { // without its log, a result is still a hit
			continue
		}
		i := x.of[d]
		if by[i] == nil {
			by[i] = &archive.LeftOut{Step: x.pl.Steps[i].Address}
		}
		by[i].Blobs++
		by[i].Bytes += c.Size
		if u := x.urls[d]; u != "" {
			by[i].Elsewhere++
			if by[i].URL == "" || u < by[i].URL {
				by[i].URL = u
			}
		}
	}
	for _, i := range slices.Sorted(maps.Keys(by)) {
		x.LeftOut = append(x.LeftOut, *by[i])
	}
}

// has reports whether the archive has a blob.
func (x *exporting) has(d artifacts.Digest) bool { return x.blobs[d] != nil && x.blobs[d].Taken }
