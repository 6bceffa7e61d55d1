package report

import (
	"bytes"
	"context"
	"encoding/base64"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/paper/prose"
)

// Bounds of the files in a page: of each, and of all together.
const (
	mostDownload  = 256 << 10
	mostDownloads = 1 << 20
)

// Download is a table or figure as a file to download.
type Download struct {
	Label string // CSV
	Name  string // of the file
	Size  int64
	URL   template.URL // with its bytes; "" if it is too large for the page
	From  string       // the output with these bytes
}

// downloads are the formats of tables and figures, by priority for space in the page.
var downloads = []struct{ label, output, media, ending string }{
	{"CSV", "csv", "text/csv;charset=utf-8", ".csv"},
	{"LaTeX", "latex", "application/x-tex", ".tex"},
	{"Markdown", "markdown", "text/markdown;charset=utf-8", ".md"},
	{"SVG", "svg", "image/svg+xml", ".svg"},
	{"PNG", "png", "image/png", ".png"},
	{"JSON", "json", "application/json", ".json"},
	{"PDF", "pdf", "application/pdf", ".pdf"},
	{"HTML", "html", "text/html;charset=utf-8", ".html"},
	{"Vega-Lite", "vega", "application/json", ".vl.json"},
}

// chooseDownloads decides which files of tables and figures fit into the page.
func (r *Report) chooseDownloads(items []int) {
	r.roomFor = map[string]bool{}
	room := mostDownloads
	for _, d := range downloads {
		for _, i := range items {
			a, ok := outputsOf(r.Nodes[i].result)[d.output]
			if !ok || a.Size > mostDownload {
				continue
			}
			if n := base64.StdEncoding.EncodedLen(int(a.Size)); n <= room {
				room -= n
				r.roomFor[r.Nodes[i].Address+"."+d.output] = true
			}
		}
	}
}

// addDownloads lists the files of an item, with their bytes if they fit: texts are written anew, pictures read.
func (r *Report) addDownloads(ctx context.Context, it *Item, read Reader) error {
	texts := map[string]func(io.Writer) error{}
	if t := it.Table; t != nil {
		texts = map[string]func(io.Writer) error{"csv": t.CSV, "json": t.JSON, "latex": t.LaTeX, "markdown": t.Markdown}
	} else {
		texts["csv"], texts["json"] = it.Figure.CSV, it.Figure.JSON
	}
	for _, d := range downloads {
		a, ok := it.result.Outputs[d.output]
		if write := texts[d.output]; !ok || it.Table != nil && write == nil {
			continue
		}
		f := Download{Label: d.label, Name: strings.Trim(prose.Slug(it.Name), "-") + d.ending, Size: a.Size, From: it.Address + "." + d.output}
		if r.roomFor[f.From] {
			data, err := it.bytesOf(ctx, d.output, texts[d.output], read)
			if err != nil {
				return err
			}
			f.Size = int64(len(data))
			f.URL = dataURL(d.media, data)
		}
		it.Files = append(it.Files, f)
	}
	return nil
}

func (it *Item) bytesOf(ctx context.Context, output string, write func(io.Writer) error, read Reader) ([]byte, error) {
	if write == nil {
		return expect.ReadOutput(ctx, it.result, output, read)
	}
	var b bytes.Buffer
	err := write(&b)
	return b.Bytes(), err
}

// Large reports whether a file is not in the page.
func (r *Report) Large() bool {
	return slices.ContainsFunc(r.Items, func(it *Item) bool {
		return slices.ContainsFunc(it.Files, func(f Download) bool { return f.URL == "" })
	})
}
