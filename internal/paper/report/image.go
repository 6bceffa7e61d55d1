package report

import (
	"context"
	"encoding/base64"
	"fmt"
	"html/template"
	"strings"

	"github.com/redsi/redsi/internal/system/words"
)

// Bounds of the pictures of steps that the page shows: of each, and of all together, in equal shares.
const (
	mostPicture  = 4 << 20
	mostPictures = 32 << 20
)

// shownAs are the formats that the page shows, as images: there they can neither run nor load
// anything. An HTML page needs its scripts and Vega-Lite a library, and the page's policy allows
// neither; they and PDF are files to take away.
var shownAs = []struct{ output, media string }{{"svg", "image/svg+xml"}, {"png", "image/png"}}

// showImage fills in the picture of a step, or why the page does not show it.
func (r *Report) showImage(ctx context.Context, it *Item, read Reader) error {
	it.Unshown = "The picture is a file that this page does not show: SVG and PNG are shown."
	for _, s := range shownAs {
		a, ok := it.result.Outputs[s.output]
		switch {
		case !ok:
		case a.Size > min(mostPicture, mostPictures/int64(len(r.Items))):
			it.Unshown = fmt.Sprintf("The picture (%s, %s) is too large for this page.", strings.ToUpper(s.output), words.Size(a.Size))
		default:
			b, err := readOutput(ctx, it.result, s.output, read)
			it.Image, it.Unshown = template.URL("data:"+s.media+";base64,"+base64.StdEncoding.EncodeToString(b)), ""
			return err
		}
	}
	return nil
}

// forLaTeX is the output that a LaTeX document includes; "" if there is none of up to mostRead.
func (it *Item) forLaTeX() string {
	for _, output := range []string{"pdf", "png"} {
		if a, ok := it.result.Outputs[output]; ok && a.Size <= mostRead {
			return output
		}
	}
	return ""
}

// WithoutLaTeX are the figures whose pictures LaTeX cannot include.
func (r *Report) WithoutLaTeX() (addresses []string) {
	for _, it := range r.Items {
		if it.State == Done && it.Figure != nil && it.forLaTeX() == "" {
			addresses = append(addresses, it.Address)
		}
	}
	return addresses
}
