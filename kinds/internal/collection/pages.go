package collection

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/fetch"
	"github.com/redsi/redsi/internal/corpora/mediawiki"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/wikipedia"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

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
mediawiki_content_current has only each page's last revision. They do not say which
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
	Run: func(ctx context.Context, x *step.IO, c pagesFileConfig) error {
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
		return errors.Join(writePages(x, table), inout.WriteJSON(x, "report", stats))
	},
})

func partTables(x *step.IO) (tables []*wikipedia.Table, err error) {
	for _, p := range x.Parts() {
		t, err := readPages(x, step.In(p.Outputs["table"]), "part")
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	return tables, nil
}

func writePages(x *step.IO, t *wikipedia.Table) error {
	x.Count("revisions_found", int64(t.Len()))
	return inout.Write(x, "table", func(w io.Writer) error { return wikipedia.WriteTable(w, t) })
}

func readPages(x *step.IO, in step.Input, name string) (*wikipedia.Table, error) {
	return inout.Read(x, in, "", func(r io.Reader) (*wikipedia.Table, error) { return wikipedia.ReadTable(r, name) })
}

func mergePages(_ context.Context, x *step.IO, _ pagesConfig) error {
	tables, err := partTables(x)
	if err != nil {
		return err
	}
	var total wikipedia.Stats
	for n, p := range x.Parts() {
		x.Count("dump_files", 1)
		if tables[n].Len() == 0 {
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
		x.Log.Warn(fmt.Sprintf("%d of the files are MediaWiki Content File Exports, which do not say which pages are redirects: redirects counts only other files' redirects, and no page of these files counts as one", total.Exports))
	}
	inout.Count(x, map[string]int{"pages_seen": int(total.Pages), "fallbacks": int(total.Fallbacks),
		"revisions_seen": int(total.Revisions)})
	return errors.Join(writePages(x, t), inout.WriteJSON(x, "report", total))
}

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
		for _, f := range inout.Files(x, c.Table, func(i int) string { return fmt.Sprintf("table %d", i+1) }) {
			t, err := readPages(x, step.In(artifacts.Artifact{Digest: f.Digest, Size: f.Size}), f.Name)
			if err != nil {
				return err
			}
			if t.Len() == 0 {
				return step.Permanent(fmt.Errorf("%s: the table has no revisions", f.Name))
			}
			tables = append(tables, t)
		}
		t, err := wikipedia.MergeTables(tables...)
		if err != nil {
			return step.Permanent(fmt.Errorf("the files of table disagree: %w", err))
		}
		if n := t.Repeated; n > 0 {
			x.Count("repeated", int64(n))
		}
		return writePages(x, t)
	},
})

// eachRevision visits the revisions that URLs of records name. Grouping lists the records whose URL names none.
func eachRevision(x *step.IO, headers step.Inputs, visit func(id uint64, url string)) error {
	return eachHeader(x, headers, func(h *nq.Header) error {
		if id, err := wikipedia.OldID(h.URL); err == nil {
			visit(id, h.URL)
		}
		return nil
	})
}

func eachHeader(x *step.IO, ins step.Inputs, f func(*nq.Header) error) error {
	for _, file := range inout.Files(x, ins, inout.Called("headers")) {
		if err := eachEntry(x, file, nq.NewHeaderReader, f); err != nil {
			return err
		}
	}
	return nil
}

type comparePagesConfig struct {
	A        step.Input `hcl:"a" accepts:"wikipedia/pages" help:"one table, such as a pages step's"`
	B        step.Input `hcl:"b" accepts:"wikipedia/pages" help:"another table, such as a page_table step's"`
	Examples int        `hcl:"examples,optional" help:"how many revisions of each kind to show"`
}

var ComparePages = step.Define(step.Kind[comparePagesConfig]{
	Name:    "compare_pages",
	Version: 1,
	Inline:  true,
	Doc: `Check that two tables of revisions name the same pages.
Counts the revisions that both have, with the same page or another, and those that
only one has, with examples. Takes a second for all of NQ.`,
	Example: `step "compare_pages" "nq" {
  a = step.pages.nq.table
  b = step.page_table.nq.table
}`,
	Outputs:  []step.Output{{Name: "report", Type: "wikipedia/comparison", Help: "counts and examples, as JSON", Fields: step.FieldsOf[wikipedia.Comparison]()}},
	Defaults: comparePagesConfig{Examples: 20},
	Run: func(_ context.Context, x *step.IO, c comparePagesConfig) error {
		a, err := readPages(x, c.A, "a")
		b, errB := readPages(x, c.B, "b")
		if err = cmp.Or(err, errB); err != nil {
			return err
		}
		rep := wikipedia.Compare(a, b, c.Examples)
		return inout.WriteReport(x, rep, map[string]int{"same": rep.Same, "different": rep.Different, "only_a": rep.OnlyA,
			"only_b": rep.OnlyB})
	},
})

type wikiAPI struct {
	API     string `hcl:"api,optional,nokey" help:"address of its api.php"`
	Wiki    string `hcl:"wiki,optional" help:"its id: answers of another wiki are refused"`
	Contact string `hcl:"contact,nokey" help:"an e-mail address or a web page by which whoever runs the wiki can reach you; it is sent with every request"`
}

var english = wikiAPI{API: "https://en.wikipedia.org/w/api.php", Wiki: "enwiki"}

func (w wikiAPI) check(ps *step.Problems) {
	ok := strings.HasPrefix(w.API, "https://") || strings.HasPrefix(w.API, "http://")
	inout.Check(ps, "api", ok && !strings.ContainsAny(w.API, "?#@ "), "%q is not the https address of an api.php", w.API)
	inout.CheckError(ps, "contact", (&mediawiki.Client{Contact: w.Contact}).CheckContact())
}

type pagesAPIConfig struct {
	Headers step.Inputs `hcl:"headers" accepts:"nq/headers" help:"headers of the records whose URLs name revisions"`
	wikiAPI
}

var PagesAPI = step.Define(step.Kind[pagesAPIConfig]{
	Name:    "pages_api",
	Version: 1,
	Doc: `Resolve revisions to Wikipedia PageIDs by asking the wiki, without the 60 GB dump.
Takes the place of a pages step. Asks MediaWiki's Action API for 50 revisions at a time, one
request at a time, and waits as the wiki asks; one part per file of headers. A run that ended is
continued at its last request. redsi.lock pins what was asked and what came, as it does of a
download. The wiki says what it knows today: a page may have been moved, merged or deleted since
the dump. Revisions that it does not have are left out of the table: grouping falls back on their
titles and lists them. Cost: about 6,200 requests for all of NQ; memory is a file's revisions.`,
	Example: `step "pages_api" "nq" {
  headers = [step.extract.train.headers, step.extract.dev.headers]
  contact = "me@example.org"
}`,
	Outputs: []step.Output{
		{Name: "table", Type: "wikipedia/pages", Help: "oldid, page_id, title, namespace and redirect as of the day when the wiki was asked, sorted by oldid"},
		{Name: "asked", Type: "file", Help: "the revisions that were asked for, sorted, one a line"},
		{Name: "report", Type: "report", Help: "counts, as JSON", Fields: step.FieldsOf[apiReport]()},
	},
	Defaults: pagesAPIConfig{wikiAPI: english},
	Check:    inout.Checks(pagesAPIConfig.check),
	Pins: func(c pagesAPIConfig, out map[string]artifacts.Artifact) []step.Pin { // what the wiki was asked for and what it answered
		return []step.Pin{{Source: c.API + "?action=query&prop=info|revisions&revids=sha256:" + out["asked"].Digest.Hex(), SHA256: out["table"].Digest, Size: out["table"].Size}}
	},
	OneByOne: true,
	Parts:    []step.Spec{pagesAPIFile.Spec},
	Split: func(_ context.Context, x *step.IO, c pagesAPIConfig) ([]step.Task, error) {
		name := func(i int) string { return fmt.Sprintf("headers[%d]", i) }
		return taskOfEach(x, c.Headers, "nq/headers", name, func(f step.Input, _ string) (step.Task, error) {
			return pagesAPIFile.Task(pagesAPIFileConfig{Headers: f, wikiAPI: c.wikiAPI})
		})
	},
	Run: mergePagesAPI,
})

type pagesAPIFileConfig struct {
	Headers step.Input `hcl:"headers" help:"headers whose revisions are wanted"`
	wikiAPI
}

var pagesAPIFile = step.DefinePart(step.Kind[pagesAPIFileConfig]{
	Name:     "pages_api_file",
	Version:  1,
	Doc:      "One file of headers of a pages_api step.",
	Outputs:  []step.Output{{Name: "table", Type: "wikipedia/pages", Help: "revisions that this file names"}},
	Defaults: pagesAPIFileConfig{wikiAPI: english},
	Run:      runPagesAPIFile,
})

type apiReport struct {
	Wanted    int `json:"wanted"`
	Found     int `json:"found"`
	Missing   int `json:"missing"`   // not in the wiki: mostly of deleted pages
	Redirects int `json:"redirects"` // found, of a page that is a redirect today: it was merged into another
	Moved     int `json:"moved"`     // found, of a page that is no redirect and has another title than the record's URL
}

// wantedOf returns the revisions that records name, and for each the title in a record's URL.
func wantedOf(x *step.IO, headers step.Inputs) (wanted []uint64, titles map[uint64]string, err error) {
	titles = map[uint64]string{}
	err = eachRevision(x, headers, func(id uint64, url string) { titles[id], _ = wikipedia.URLTitle(url) })
	return slices.Sorted(maps.Keys(titles)), titles, err
}

func runPagesAPIFile(ctx context.Context, x *step.IO, c pagesAPIFileConfig) error {
	wanted, _, err := wantedOf(x, step.Inputs{c.Headers})
	if err != nil {
		return err
	}
	client := mediawiki.Client{API: c.API, Wiki: c.Wiki, Contact: c.Contact, Kept: filepath.Join(x.Cache, "mediawiki", c.Headers.Artifact.Digest.Hex())}
	client.Progress, client.Log = inout.Telling(x, "revisions", "")
	answers, err := client.Pages(ctx, wanted)
	if _, no := errors.AsType[*fetch.Permanent](err); no {
		return step.Permanent(err)
	} else if err != nil {
		return err
	}
	x.Count("requests", client.Requests)
	x.Count("requests_repeated", client.Repeats)
	x.Count("revisions_wanted", int64(len(wanted)))
	table, err := wikipedia.NewTable(answers.Pages)
	if err != nil {
		return step.Permanent(err)
	}
	return errors.Join(writePages(x, table), client.Forget())
}

func mergePagesAPI(_ context.Context, x *step.IO, c pagesAPIConfig) error {
	tables, err := partTables(x)
	if err != nil {
		return err
	}
	table, err := wikipedia.MergeTables(tables...)
	if err != nil {
		return step.Permanent(fmt.Errorf("the wiki changed between two files of headers: %w", err))
	}
	wanted, titles, err := wantedOf(x, c.Headers)
	if err != nil {
		return err
	}
	r := apiReport{Wanted: len(wanted)}
	for _, id := range wanted {
		switch page, ok := table.Lookup(id); {
		case !ok:
			r.Missing++
			continue
		case page.Redirect:
			r.Redirects++
		case page.Title != titles[id]:
			r.Moved++
		}
		r.Found++
	}
	inout.Count(x, map[string]int{"revisions_wanted": r.Wanted, "revisions_missing": r.Missing, "redirects": r.Redirects, "moved": r.Moved})
	asked := func(w *bufio.Writer) error {
		for _, id := range wanted {
			fmt.Fprintln(w, id)
		}
		return nil
	}
	return errors.Join(writePages(x, table), inout.WriteText(x, "asked", asked), inout.WriteJSON(x, "report", r))
}
