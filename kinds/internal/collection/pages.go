package collection

import (
	"context"
	"fmt"
	"io"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/wikipedia"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// pagesConfig resolves revisions to PageIDs through a dump.
type pagesConfig struct {
	Headers step.Inputs `hcl:"headers" accepts:"nq/headers" help:"headers of the records whose URLs name revisions"`
	Dump    step.Inputs `hcl:"dump" accepts:"files" help:"stub-meta-history dump, or MediaWiki Content File Exports with the history: .xml.gz, .xml.bz2 or .xml, in one or many part files"`
}

var Pages = step.Define(step.Kind[pagesConfig]{
	Name:    "pages",
	Version: 1,
	Doc: `Resolve revisions to Wikipedia PageIDs (paper, appendix "PageID Resolution").
Scans a stub-meta-history dump for the revisions that the records name; one part
per dump file. A file without any of them is fine, and counted. Revisions that the
dump does not have are left out of the table: grouping falls back on their titles
and lists them. MediaWiki Content File Exports are read, too: those of
mediawiki_content_history, whose texts are many times a stub dump's bytes;
mediawiki_content_current has each page's last revision alone. They do not say which
pages are redirects, and a page that lies in several files counts in each. Cost: near the speed of
gunzip, one core per dump file; memory is the wanted set, 5 MB for all of NQ.`,
	Example: `step "pages" "nq" {
  headers = [step.extract.train.headers, step.extract.dev.headers]
  dump    = step.download.stub.files
}`,
	Outputs: []step.Output{
		{Name: "table", Type: "wikipedia/pages", Help: "oldid, page_id, title, namespace and redirect, sorted by oldid"},
		{Name: "report", Type: "report", Help: "pages, revisions and redirects of the dump by namespace, as JSON", Fields: step.FieldsOf[wikipedia.Stats]()},
	},
	Parts: []step.Spec{pagesFile.Spec},
	Split: func(_ context.Context, x *step.IO, c pagesConfig) ([]step.Task, error) {
		name := func(i int) string { return fmt.Sprintf("dump-%02d.xml.gz", i) }
		return taskOfEach(x, c.Dump, "file", name, func(f step.Input, name string) (step.Task, error) {
			return pagesFile.Task(pagesFileConfig{Headers: c.Headers, Name: name, Dump: f})
		})
	},
	Run: mergePages,
})

// pagesFileConfig is one file of a dump.
type pagesFileConfig struct {
	Headers step.Inputs `hcl:"headers" help:"headers whose revisions are wanted"`
	Dump    step.Input  `hcl:"dump" help:"dump file"`
	Name    string      `hcl:"name" help:"file name, for errors"`
}

var pagesFile = step.DefinePart(step.Kind[pagesFileConfig]{
	Name:    "pages_file",
	Version: 1,
	Doc:     "One dump file of a pages step.",
	Outputs: []step.Output{
		{Name: "table", Type: "wikipedia/pages", Help: "wanted revisions in this file"},
		{Name: "report", Type: "report", Help: "wikipedia.Stats as JSON"},
	},
	Run: runPagesFile,
})

func runPagesFile(ctx context.Context, x *step.IO, c pagesFileConfig) error {
	wanted := wikipedia.Wanted{}
	err := eachRevision(x, c.Headers, func(id uint64, _ string) { wanted[id] = true })
	if err != nil {
		return err
	}
	in, err := x.Open(c.Dump)
	if err != nil {
		return err
	}
	defer in.Close()
	x.Count("revisions_wanted", int64(len(wanted)))
	table, stats, err := wikipedia.ScanStub(ctx, in, c.Name, wanted, func(n int64) {
		x.Report(step.Progress{Done: n, Total: c.Dump.Artifact.Size, Unit: "bytes", Note: c.Name})
	})
	if err != nil {
		return inout.DataError(err)
	}
	if err := writePages(x, table); err != nil {
		return err
	}
	return inout.WriteJSON(x, "report", stats)
}

func writePages(x *step.IO, t *wikipedia.Table) error {
	x.Count("revisions_found", int64(t.Len()))
	return inout.Write(x, "table", func(w io.Writer) error { return wikipedia.WriteTable(w, t) })
}

func readPages(x *step.IO, in step.Input, name string) (*wikipedia.Table, error) {
	return inout.Read(x, in, "", func(r io.Reader) (*wikipedia.Table, error) { return wikipedia.ReadTable(r, name) })
}

func mergePages(_ context.Context, x *step.IO, _ pagesConfig) error {
	var tables []*wikipedia.Table
	var total wikipedia.Stats
	for n, p := range x.Parts() {
		t, err := readPages(x, step.In(p.Outputs["table"]), "part")
		if err != nil {
			return err
		}
		tables = append(tables, t)
		x.Count("dump_files", 1)
		if t.Len() == 0 {
			x.Count("dump_files_without_wanted_revisions", 1)
		}
		if n == 0 {
			x.Count("revisions_wanted", p.Counts["revisions_wanted"]) // of the headers, the same for every file
		}
		var s wikipedia.Stats
		if err := inout.ReadJSON(x, step.In(p.Outputs["report"]), &s); err != nil {
			return err
		}
		total.Add(s)
	}
	t, err := wikipedia.MergeTables(tables...)
	if err != nil {
		return step.Permanent(err)
	}
	if total.Exports > 0 {
		x.Count("content_exports", total.Exports)
		x.Log.Warn(fmt.Sprintf("%d of the files are MediaWiki Content File Exports, which do not say which pages are redirects: redirects counts those of other files, and no revision's page is known as one", total.Exports))
	}
	inout.Count(x, map[string]int{"pages_seen": int(total.Pages), "fallbacks": int(total.Fallbacks),
		"revisions_seen": int(total.Revisions)})
	if err := writePages(x, t); err != nil {
		return err
	}
	return inout.WriteJSON(x, "report", total)
}

// pageTableConfig resolves through a table that somebody has made already.
type pageTableConfig struct {
	Table step.Inputs `hcl:"table" accepts:"files" help:"CSV with a header line, or JSON lines, plain or compressed: oldid, page_id (or pageid) and, if known, title"`
}

var PageTable = step.Define(step.Kind[pageTableConfig]{
	Name:    "page_table",
	Version: 1,
	Inline:  true,
	Doc: `Read a table of revisions and PageIDs, for use without the 60 GB dump.
Takes the place of a pages step. Reads the table that the paper's released code has,
JSON lines of oldid and pageid. A repeated line is counted;
one that names another page for a revision is refused. Revisions that the table does
not have fall back on their titles, as those missing from a dump do.`,
	Example: `step "page_table" "nq" {
  table = step.download.revisions.files
}`,
	Outputs: []step.Output{{Name: "table", Type: "wikipedia/pages", Help: "as the table of a pages step"}},
	Run: func(_ context.Context, x *step.IO, c pageTableConfig) error {
		var tables []*wikipedia.Table
		for i, in := range c.Table {
			for _, f := range x.Files(in, fmt.Sprintf("table %d", i+1)) {
				t, err := readPages(x, step.In(artifacts.Artifact{Digest: f.Digest, Size: f.Size}), f.Name)
				if err != nil {
					return err
				}
				if t.Len() == 0 {
					return step.Permanent(fmt.Errorf("%s: the table has no revisions", f.Name))
				}
				tables = append(tables, t)
			}
		}
		t, err := wikipedia.MergeTables(tables...)
		if err != nil {
			return step.Permanent(fmt.Errorf("the files of table disagree: %w", err))
		}
		if n := t.Repeated(); n > 0 {
			x.Count("repeated", int64(n))
		}
		return writePages(x, t)
	},
})

// eachRevision visits the revisions that URLs of records name. A record whose URL names none
// falls back on its title, and is listed there.
func eachRevision(x *step.IO, headers step.Inputs, visit func(id uint64, url string)) error {
	return eachHeader(x, headers, func(h *nq.Header) error {
		if id, err := wikipedia.OldID(h.URL); err == nil {
			visit(id, h.URL)
		}
		return nil
	})
}

// eachHeader reads header streams in the order of their files.
func eachHeader(x *step.IO, ins step.Inputs, f func(*nq.Header) error) error {
	for _, in := range ins {
		for _, file := range x.Files(in, "headers") {
			if err := headersOf(x, file, f); err != nil {
				return err
			}
		}
	}
	return nil
}

func headersOf(x *step.IO, file artifacts.File, f func(*nq.Header) error) error {
	return eachEntry(x, file, nq.NewHeaderReader, f)
}
