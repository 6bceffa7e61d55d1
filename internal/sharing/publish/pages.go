package publish

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/words"
)

// pageMark marks the pages that publish writes, so that it overwrites no others.
const pageMark = `<meta name="generator" content="redsi publish">`

//go:embed index.tmpl
var indexText string

var indexTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("index").Funcs(template.FuncMap{"size": words.Size, "count": words.Count}).Parse(indexText))
})

// marked writes a page with the mark after its head's opening tag.
func marked(write func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		var page bytes.Buffer
		if err := write(&page); err != nil {
			return err
		}
		before, after, ok := bytes.Cut(page.Bytes(), []byte("<head>"))
		if !ok {
			return errors.New("the page has no head")
		}
		_, err := fmt.Fprintf(w, "%s<head>\n%s%s", before, pageMark, after)
		return err
	}
}

type indexData struct {
	*Publication
	Report   *report.Report
	Revision string
	Vars     []string
	URL      string
	Must     []string
	MustMore int
	Mark     template.HTML
}

// MustShown bounds the steps that index.html and the terminal name.
const MustShown = 20

func (pub *Publication) indexPage(p *pipeline.Pipeline, r *report.Report) func(io.Writer) error {
	d := indexData{Publication: pub, Report: r, Revision: revision.Of(), URL: cmp.Or(strings.TrimRight(pub.o.URL, "/"), "ADDRESS"),
		Must: pub.Must[:min(MustShown, len(pub.Must))], MustMore: max(0, len(pub.Must)-MustShown), Mark: pageMark}
	for name, value := range p.Inputs {
		d.Vars = append(d.Vars, name+"="+value)
	}
	slices.Sort(d.Vars)
	return func(w io.Writer) error { return indexTemplate().Execute(w, d) }
}

// foreignPages refuses a folder whose pages redsi publish did not write.
func foreignPages(folder string) error {
	for _, name := range []string{"index.html", "report.html"} {
		path := filepath.Join(folder, name)
		b, err := os.ReadFile(path)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			return fault.Input(err)
		case !strings.Contains(string(b[:min(len(b), 4096)]), pageMark):
			return fault.Input(fmt.Errorf("%s was not written by redsi publish and would be overwritten: publish into a folder of its own", path))
		}
	}
	return nil
}

// writePages writes the report, the folder's page, and the file that keeps some hosts from running a site generator.
func (pub *Publication) writePages(ctx context.Context, to artifacts.Store, r *report.Report, p *pipeline.Pipeline) error {
	if err := atomicfile.Write(filepath.Join(pub.Folder, "report.html"), 0o644, marked(r.HTML)); err != nil {
		return err
	}
	keys, err := artifacts.ResultKeys(ctx, to.Records)
	if err != nil {
		return err
	}
	pub.All, pub.Rebuilt = len(keys), r.Rebuilt.String()
	if err := atomicfile.Write(filepath.Join(pub.Folder, "index.html"), 0o644, pub.indexPage(p, r)); err != nil {
		return err
	}
	none := filepath.Join(pub.Folder, ".nojekyll")
	if _, err := os.Lstat(none); err == nil {
		return nil
	}
	return atomicfile.WriteFile(none, nil, 0o644)
}
