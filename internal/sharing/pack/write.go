package pack

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/sharing/archive"
	"github.com/redsi/redsi/internal/sharing/crate"
	"github.com/redsi/redsi/internal/system/escape"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/signature"
	"github.com/redsi/redsi/internal/system/words"
)

// write writes the archive: files for people, the pipeline, the store, the manifest.
func (x *export) write(ctx context.Context, out io.Writer, page []byte, by *signature.Private) error {
	w := archive.NewWriter(out)
	files := []describedFile{{archive.ReadmeName, "How to use this archive", x.readme()}}
	if cff := crate.Citation(x.work()); cff != nil {
		files = append(files, describedFile{archive.CitationName, "How to cite this archive", cff})
	} else {
		x.done.Notes = append(x.done.Notes, "no CITATION.cff was written: the paper block has no authors")
	}
	files = append(files, describedFile{archive.ReportName, "Every table and figure, and where each number comes from", page})
	for _, f := range files {
		if err := w.Bytes(f.name, f.data); err != nil {
			return err
		}
	}
	slices.SortFunc(x.rendered, func(a, b renderedBlob) int { return cmp.Compare(a.name, b.name) })
	for _, f := range x.rendered {
		if err := w.Copy(ctx, f.name, x.of.Store, f.Digest); err != nil {
			return err
		}
	}
	for _, f := range x.project.files {
		if err := w.Project(f.name, f.data); err != nil {
			return err
		}
	}
	x.done.Files = len(x.project.files) + len(x.project.sources)
	for _, d := range slices.SortedFunc(maps.Keys(x.blobs), artifacts.Digest.Compare) {
		if !x.blobs.Has(d) {
			continue
		}
		if err := w.Blob(ctx, x.of.Store, d); err != nil {
			return err
		}
		x.done.Blobs++
		x.done.Bytes += x.blobs[d].Size
	}
	records, err := x.writeRecords(ctx, w)
	if err != nil {
		return err
	}
	if err := x.writeCrate(ctx, w, files); err != nil {
		return err
	}
	m := archive.Manifest{Title: x.of.Pipeline.Paper.Title, Pipeline: x.project.pipeline, Variables: map[string]json.RawMessage{}, Targets: x.se.Targets, Sources: x.project.sources,
		Results: x.done.Results, Records: records, Blobs: x.done.Blobs, Bytes: x.done.Bytes, LeftOut: x.done.LeftOut, Created: x.newest.UTC().Format(time.RFC3339), Revision: revision.Of()}
	for _, name := range x.of.Pipeline.Given {
		m.Variables[name] = x.of.Pipeline.Vars[name]
	}
	return w.Close(m, by)
}

type describedFile struct {
	name, says string
	data       []byte
}

// writeRecords adds results, their signatures and attestations, and where left out blobs are, by the records' names.
func (x *export) writeRecords(ctx context.Context, w *archive.Writer) (archive.RecordsDigest, error) {
	r := w.Records()
	keys := x.distinct()
	x.done.Results = len(keys)
	exported := lists.Set(lists.Map(keys, artifacts.Digest.Hex))
	x.signed = map[string]bool{}
	add := func(prefix string) error { // one listing is cheaper than one for each key
		for info, err := range x.of.Store.Own.Records.List(ctx, prefix) {
			if err != nil {
				return err
			}
			key, _, _ := strings.Cut(strings.TrimPrefix(info.Name, prefix), "/")
			if !exported[key] {
				continue
			}
			b, err := x.of.Store.Own.Records.Get(ctx, info.Name)
			if err != nil {
				return err
			}
			if err := r.Add(info.Name, b); err != nil {
				return err
			}
			x.signed[key] = x.signed[key] || prefix == artifacts.SignaturesPrefix
		}
		return nil
	}
	if err := add(artifacts.AttestationsPrefix); err != nil {
		return archive.RecordsDigest{}, err
	}
	for _, d := range slices.SortedFunc(maps.Keys(x.blobs), artifacts.Digest.Compare) {
		c := x.blobs[d]
		if c.Taken || c.URL == "" {
			continue
		}
		b, err := json.Marshal(artifacts.Elsewhere{Format: artifacts.ElsewhereFormat, Digest: d, Size: c.Size, URL: c.URL})
		if err == nil {
			err = r.Add(artifacts.ElsewhereName(d), b)
		}
		if err != nil {
			return archive.RecordsDigest{}, err
		}
	}
	if err := add(artifacts.ReleasedPrefix); err != nil {
		return archive.RecordsDigest{}, err
	}
	for _, key := range keys {
		b, err := x.of.Store.Own.Records.Get(ctx, artifacts.ResultName(key))
		if err == nil {
			err = r.Add(artifacts.ResultName(key), b)
		}
		if err != nil {
			return archive.RecordsDigest{}, err
		}
	}
	if err := add(artifacts.SignaturesPrefix); err != nil {
		return archive.RecordsDigest{}, err
	}
	return r.Digest(), nil
}

// readme tells people what to do with the archive.
func (x *export) readme() []byte {
	var b strings.Builder
	title := cmp.Or(x.of.Pipeline.Paper.Title, path.Base(x.project.pipeline))
	fmt.Fprintf(&b, "# %s\n\nThis archive has a redsi pipeline, its results and how they were computed. No number in it has to be taken on trust:\n"+
		"each names the files and the steps that it comes from, and `redsi verify` checks them.\n\n", escape.Line(title))
	b.WriteString("- `report.html`: every table and figure with its lineage, for any browser\n- `results/`: tables and figures as files\n" +
		"- `project/`: the pipeline\n- `store/`: results by their keys, and files by their SHA-256\n" +
		"- `ro-crate-metadata.json`: a description for other programs (Provenance Run Crate 0.5)\n- `redsi-archive.json`: digests, and who signed them\n\n")
	fmt.Fprintf(&b, "With redsi (https://github.com/redsi/redsi), without network or account, this file being paper.zip:\n\n    redsi import paper.zip\n    cd paper\n    %s\n    redsi verify\n    %s\n",
		x.hint("plan"), x.hint("report"))
	if len(x.done.Missing) > 0 {
		fmt.Fprintf(&b, "\n%s had no result when the archive was written.\n", words.Count(len(x.done.Missing), "step"))
	}
	if len(x.done.LeftOut) > 0 {
		fmt.Fprintf(&b, "\nFiles of %s were left out. Where an address is given, a file is fetched from there when it is read; otherwise its step must be rerun first.\n\n", words.Count(len(x.done.LeftOut), "step"))
		for _, l := range words.First(x.done.LeftOut, MostNamed, func(n int) { fmt.Fprintf(&b, "- %d more: redsi-archive.json lists all\n", n) }) {
			fmt.Fprintf(&b, "- `%s`: %s of %s", escape.Line(l.Step), words.Count(l.Blobs, "file"), words.Size(l.Bytes))
			if from := l.Fetched(); from != "" {
				b.WriteString(", at " + escape.Line(from))
			}
			b.WriteString("\n")
		}
	}
	return []byte(b.String())
}

// MostNamed is how many steps are named in texts for people.
const MostNamed = 20
