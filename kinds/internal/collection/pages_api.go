package collection

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/fetch"
	"github.com/redsi/redsi/internal/corpora/mediawiki"
	"github.com/redsi/redsi/internal/corpora/wikipedia"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// wikiAPI is a wiki that is asked.
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
	Check: inout.Checks(func(c pagesAPIConfig, ps *step.Problems) {
		c.check(ps)
	}),
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

// apiReport is what became of revisions.
type apiReport struct {
	Wanted    int `json:"wanted"`
	Found     int `json:"found"`
	Missing   int `json:"missing"`   // the wiki does not have them: of deleted pages, mostly
	Redirects int `json:"redirects"` // of those found, their page is a redirect today: it was merged into another
	Moved     int `json:"moved"`     // of the other ones, their page has another title than the record's URL
}

// wantedOf are the revisions that records name, and the title in the URL of a record of each.
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
	var no *fetch.Permanent
	if errors.As(err, &no) {
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
