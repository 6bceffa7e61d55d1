package cli

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/pipeline"
)

// pageMark marks the pages that publish writes, so that it overwrites no others.
const pageMark = `<meta name="generator" content="redsi publish">`

//go:embed publish_index.tmpl
var indexText string

var indexTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("index").Funcs(template.FuncMap{"size": view.Size, "count": view.Count}).Parse(indexText))
})

// marked is a page with the mark in its head.
func marked(write func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error { return write(&marker{w: w}) }
}

// marker inserts the mark after the head's opening tag.
type marker struct {
	w    io.Writer
	held []byte
	done bool
}

// markWithin is how far into a page its head begins.
const markWithin = 2048

func (m *marker) Write(p []byte) (int, error) {
	if m.done {
		return m.w.Write(p)
	}
	m.held = append(m.held, p...)
	at := bytes.Index(m.held, []byte("<head>"))
	if at < 0 {
		if len(m.held) > markWithin {
			return 0, fmt.Errorf("the page has no head")
		}
		return len(p), nil
	}
	at += len("<head>")
	m.done = true
	out := slices.Concat(m.held[:at], []byte("\n"+pageMark), m.held[at:])
	if _, err := m.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// indexData is what index.html says.
type indexData struct {
	Title    string
	Paper    pipeline.Paper
	Pipeline string
	Revision string
	Vars     []string
	URL      string
	Signer   string
	Steps    int    // that were rebuilt
	Rebuilt  string // by whom, as text
	Results  int
	Tables   int
	Figures  int
	Scales   string
	Full     bool
	Hosts    []string
	Left     []unpublished
	Must     []string
	MustMore int
	Mark     template.HTML
}

// mustShown bounds the steps that index.html and the terminal name.
const mustShown = 20

func (a *app) indexPage(p *pipeline.Pipeline, r *report.Report, pub *publication, o publishOptions) func(io.Writer) error {
	d := indexData{Title: p.Paper.Title, Paper: p.Paper, Pipeline: r.Pipeline, Revision: revision.Of(), URL: strings.TrimRight(o.url, "/"), Signer: pub.Signer, Steps: r.Rebuilt.Steps, Rebuilt: pub.Rebuilt,
		Results: pub.All, Tables: pub.Tables, Figures: pub.Figures, Scales: strings.Join(r.Scales, ", "), Full: r.Full(), Hosts: pub.Hosts, Left: pub.Left,
		Must: pub.Must[:min(mustShown, len(pub.Must))], MustMore: max(0, len(pub.Must)-mustShown), Mark: pageMark}
	if d.Title == "" {
		d.Title = r.Pipeline
	}
	if d.URL == "" {
		d.URL = "ADDRESS"
	}
	for name, value := range p.Inputs() {
		d.Vars = append(d.Vars, name+"="+value)
	}
	slices.Sort(d.Vars)
	return func(w io.Writer) error { return indexTemplate().Execute(w, d) }
}

func (a *app) printPublication(pub *publication, o publishOptions) {
	verb := "published"
	if pub.DryRun {
		verb = "would publish"
	}
	done := pub.Done
	view.Printf(a.Out, "%s %s and %s in %s: %s (%d were there), %s of %s\n", verb, view.Count(pub.Tables, "table"), view.Count(pub.Figures, "figure"), pub.Folder,
		view.Count(done.Results, "result"), done.There, view.Count(done.Blobs, "blob"), view.Size(done.Bytes))
	var fetched, lost int64
	n := 0
	for _, l := range pub.Left {
		if l.URL != "" {
			fetched += l.Size
			n++
			view.Printf(a.Out, "left out  %s  %s of %s: readers fetch it from %s\n", view.Size(l.Size), l.Name, l.Step, l.URL)
			continue
		}
		lost += l.Size
		view.Printf(a.Out, "left out  %s  %s of %s: readers have to rebuild it\n", view.Size(l.Size), l.Name, l.Step)
	}
	if len(pub.Left) > 1 {
		view.Printf(a.Out, "left out  %s in all, of which readers fetch %s\n", view.Size(fetched+lost), view.Size(fetched))
	}
	for i, s := range pub.Must {
		if i == mustShown {
			view.Printf(a.Out, "          and %s more; --json lists all\n", view.Count(len(pub.Must)-i, "step"))
			break
		}
		view.Printf(a.Out, "missing    %s: readers have to run it, or steps before it\n", s)
	}
	switch {
	case pub.DryRun:
	case pub.Signer == "":
		view.Printf(a.Out, "not signed: readers must give --untrusted use or verify; make a key with `%s` and publish again to sign\n", a.hint("key new"))
	default:
		view.Printf(a.Out, "signed by %s: readers give --trust %s\n", pub.Signer, quoted(pub.Signer))
	}
	if pub.Rebuilt != "" {
		view.Printf(a.Out, "%s\n", pub.Rebuilt)
	}
	if len(pub.Hosts) > 0 {
		view.Printf(a.Out, "the records name %s that made them: %s\n", view.Count(len(pub.Hosts), "machine"), strings.Join(pub.Hosts[:min(3, len(pub.Hosts))], ", "))
	}
}
