package report

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
)

// Bounds of the pictures of steps that the page shows: of each, and of all together, in equal shares.
const (
	mostPicture  = 4 << 20
	mostPictures = 32 << 20
)

// showImage fills in the picture of a step, or why the page does not show it. SVG and PNG are shown as images, where they
// can neither run nor load anything. An HTML page that needs no script, such as a notebook's, is shown in a frame under
// the same policy. Other HTML and Vega-Lite need scripts, which the policy forbids; they and PDF are files to download.
func (r *Report) showImage(ctx context.Context, it *Item, read Reader) error {
	it.Unshown = "The picture is a file that this page does not show: SVG, PNG and HTML without scripts are shown."
	for _, d := range downloads {
		a, ok := it.result.Outputs[d.output]
		switch {
		case !ok || !strings.HasPrefix(d.media, "image/") && d.output != "html":
		case a.Size > min(mostPicture, mostPictures/int64(len(r.Items))):
			it.Unshown = fmt.Sprintf("The picture (%s, %s) is too large for this page.", d.label, words.Size(a.Size))
		default:
			b, err := expect.ReadOutput(ctx, it.result, d.output, read)
			if err == nil && d.output == "html" {
				if !stillPage(b) {
					continue
				}
				it.Page, it.Unshown = string(b), ""
				return nil
			}
			it.Image, it.Unshown = dataURL(d.media, b), ""
			return err
		}
	}
	return nil
}

// stillPage reports whether a page of HTML shows everything without its scripts, as notebooks' pages do.
func stillPage(b []byte) bool {
	return !bytes.Contains(bytes.ToLower(b), []byte("<script")) || bytes.Contains(b, []byte(`class="jp-Notebook"`))
}

// forLaTeX returns the output that a LaTeX document includes; "" if none has at most expect.MostRead bytes.
func (it *Item) forLaTeX() string {
	for _, output := range []string{"pdf", "png"} {
		if a, ok := it.result.Outputs[output]; ok && a.Size <= expect.MostRead {
			return output
		}
	}
	return ""
}

// WithoutLaTeX returns the figures whose pictures LaTeX cannot include.
func (r *Report) WithoutLaTeX() []string {
	without := lists.Filter(r.Items, func(it *Item) bool {
		return it.State == Done && it.Figure != nil && it.forLaTeX() == ""
	})
	return lists.Map(without, func(it *Item) string { return it.Address })
}
