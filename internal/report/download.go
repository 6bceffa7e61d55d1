package report

import (
	"bytes"
	"context"
	"encoding/base64"
	"html/template"
	"io"
	"slices"
	"strings"
)

// Bounds of the files in a page: of each, and of all together.
const (
	mostDownload  = 256 << 10
	mostDownloads = 1 << 20
)

// Download is a table or figure as a file to keep.
type Download struct {
	Label string // CSV
	Name  string // of the file
	Size  int64
	URL   template.URL // with its bytes; "" if they are too many for the page
	From  string       // output that has it
}

// downloadType has the media type and the file's ending of each label.
var downloadTypes = map[string][2]string{
	"CSV": {"text/csv;charset=utf-8", ".csv"}, "JSON": {"application/json", ".json"}, "LaTeX": {"application/x-tex", ".tex"},
	"Markdown": {"text/markdown;charset=utf-8", ".md"}, "SVG": {"image/svg+xml", ".svg"}, "PDF": {"application/pdf", ".pdf"}, "PNG": {"image/png", ".png"},
}

// addDownloads makes the files of an item: those of text from its values, pictures as
// its result has them.
func (it *Item) addDownloads(ctx context.Context, read Reader) error {
	type written struct {
		label, output string
		write         func(io.Writer) error
	}
	var files []written
	if t := it.Table; t != nil {
		files = []written{{"CSV", "csv", t.CSV}, {"JSON", "json", t.JSON}, {"LaTeX", "latex", t.LaTeX}, {"Markdown", "markdown", t.Markdown}}
	} else {
		f := it.Figure
		files = []written{{"CSV", "csv", f.CSV}, {"JSON", "json", f.JSON}, {"SVG", "svg", nil}, {"PDF", "pdf", nil}, {"PNG", "png", nil}}
	}
	for _, f := range files {
		a, ok := it.result.Outputs[f.output]
		if !ok {
			continue
		}
		d := Download{Label: f.label, Name: strings.Trim(slug(it.Name), "-") + downloadTypes[f.label][1], Size: a.Size, From: it.Address + "." + f.output}
		if a.Size <= mostDownload {
			var b bytes.Buffer
			if f.write != nil {
				if err := f.write(&b); err != nil {
					return err
				}
			} else {
				data, err := readOutput(ctx, it.result, f.output, read)
				if err != nil {
					return err
				}
				b.Write(data)
			}
			d.Size = int64(b.Len())
			d.URL = template.URL("data:" + downloadTypes[f.label][0] + ";base64," + base64.StdEncoding.EncodeToString(b.Bytes()))
		}
		it.Files = append(it.Files, d)
	}
	return nil
}

// Large reports whether a file is not in the page.
func (r *Report) Large() bool {
	return slices.ContainsFunc(r.Items, func(it *Item) bool {
		return slices.ContainsFunc(it.Files, func(f Download) bool { return f.URL == "" })
	})
}

// bound takes the files out of the page that are too many together, pictures first.
func (r *Report) bound() {
	room := mostDownloads
	for _, label := range []string{"CSV", "LaTeX", "Markdown", "JSON", "PDF", "PNG", "SVG"} {
		for _, it := range r.Items {
			for i := range it.Files {
				if f := &it.Files[i]; f.Label == label {
					if len(f.URL) > room {
						f.URL = ""
					}
					room -= len(f.URL)
				}
			}
		}
	}
}
