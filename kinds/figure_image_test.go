package kinds_test

import (
	"bytes"
	"image"
	"image/png"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
)

const (
	svgFile  = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>`
	pdfFile  = "%PDF-1.4\n1 0 obj\n%%EOF\n"
	vegaFile = `{"$schema": "https://vega.github.io/schema/vega-lite/v5.json", "mark": "bar"}`
	htmlFile = "<!doctype html><script>alert(2)</script>"
)

// pictureFiles writes files for downloads into a new folder.
func pictureFiles(t *testing.T, pipeline string) (file, dir string) {
	t.Helper()
	dir = t.TempDir()
	var small, large bytes.Buffer
	errtest.None(t, png.Encode(&small, image.NewGray(image.Rect(0, 0, 9, 9))))
	noise := image.NewRGBA(image.Rect(0, 0, 1200, 1200))
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(noise.Pix)
	errtest.None(t, png.Encode(&large, noise))
	for name, text := range map[string]string{"p.hcl": pipeline, "a.svg": svgFile, "a.pdf": pdfFile, "b.svg": svgFile, "chart.json": vegaFile, "chart.html": htmlFile, "page.html": "<!doctype html><p>still",
		"small.png": small.String(), "large.png": large.String(), "cut.png": small.String()[:small.Len()-9], "text.png": "Traceback (most recent call last):", "m.json": `{"accuracy": 1}`} {
		filetest.Write(t, filepath.Join(dir, name), text)
	}
	return filepath.Join(dir, "p.hcl"), dir
}

// TestFigureImage: a step's pictures are in the page only as images, in a LaTeX document as they are,
// and what neither can show is named.
func TestFigureImage(t *testing.T) {
	t.Parallel()
	file, _ := pictureFiles(t, `
step "download" "tree" { urls = ["a.svg", "a.pdf", "m.json"] }
step "download" "svg" { urls = ["b.svg"] }
step "download" "png" { urls = ["small.png"] }
step "download" "large" { urls = ["large.png"] }
step "download" "html" { urls = ["chart.html"] }
step "download" "still" { urls = ["page.html"] }
step "download" "vega" { urls = ["chart.json"] }
figure "both" {
  image   = step.download.tree.files
  caption = "Both"
  paper   = "fig:both"
}
figure "svg" { image = step.download.svg.files }
figure "png" { image = step.download.png.files }
figure "large" { image = step.download.large.files }
figure "still" { image = step.download.still.files }
figure "chart" { image = [step.download.html.files, step.download.vega.files] }
`)
	l := newLocal(t)
	pl := l.plan(file, nil)
	v := &plan.Preview{Plan: pl, Items: make([]plan.Item, len(pl.Steps))}
	g := report.Gather(pl, nil)
	for i, res := range l.run(pl) {
		v.Items[i] = plan.Item{Key: res.Key, Result: res, Outcome: plan.Hit}
		g.Keep(i, &v.Items[i])
		if pl.Steps[i].Address == "figure.both" && res.Counts["files beside the picture"] != 1 {
			t.Errorf("counts %v", res.Counts)
		}
	}
	r, err := g.Build(t.Context(), v, l.Store.Open, report.Options{})
	errtest.None(t, err)
	var page bytes.Buffer
	errtest.None(t, r.HTML(&page))
	for text, n := range map[string]int{"alert(": 0, `<img src="data:image/svg`: 2, `<img src="data:image/png`: 1, `is too large for this page. To have its files`: 1, `redsi artifacts get figure.large pictures`: 1,
		"a file that this page does not show: SVG, PNG and HTML without scripts are shown": 1, `download="chart.html"`: 1, `download="chart.vl.json"`: 1, `download="both.pdf"`: 1, "<iframe": 1, `sandbox title="Page of figure.still" srcdoc="&lt;!doctype html&gt;&lt;p&gt;still`: 1, "<object": 0} {
		if got := strings.Count(page.String(), text); got != n {
			t.Errorf("%q is %d times in the page, not %d", text, got, n)
		}
	}
	files, err := r.Bundle(t.Context(), l.Store.Open)
	errtest.None(t, err)
	bundle := map[string]string{}
	for _, f := range files {
		bundle[f.Name] = string(f.Data)
	}
	if !strings.Contains(bundle["figures/both.tex"], "{figures/both.pdf}\n\\caption{Both}\n\\label{fig:both}") || bundle["figures/both.pdf"] != pdfFile || !strings.Contains(bundle["figures/png.tex"], "{figures/png.png}") ||
		!strings.Contains(bundle["figures/svg.tex"], "needs this picture as PDF or PNG") {
		t.Errorf("bundle %q", bundle)
	}
	if got := strings.Join(r.WithoutLaTeX(), " "); got != "figure.svg figure.still figure.chart" {
		t.Errorf("without LaTeX: %s", got)
	}
	if p := r.Numbers().Pictures; len(p) != 3 || p[0].Name != "figures/both.pdf" || !strings.HasPrefix(p[0].Digest, "sha256:") {
		t.Errorf("pictures %+v", p)
	}
}

// TestFigureImageMistakes: what is not one picture is an error that names the file.
func TestFigureImageMistakes(t *testing.T) {
	t.Parallel()
	for urls, want := range map[string]string{
		`"cut.png"`:           "image: cut.png: it begins as PNG and is cut off",
		`"text.png"`:          `image: text.png is not a picture: it begins with "Traceback (most recent call last):"; PNG, SVG`,
		`"m.json"`:            `image: m.json is not a picture: it begins with "{\"accuracy\"`,
		`"a.svg", "b.svg"`:    `the tree has 2 pictures: a.svg, b.svg; name one: step.KIND.NAME.out["a.svg"]`,
		`"a.svg", "text.png"`: "text.png is not a picture",
	} {
		file, _ := pictureFiles(t, `step "download" "f" { urls = [`+urls+`] }`+"\n"+`figure "f" { image = step.download.f.files }`)
		l := newLocal(t)
		errtest.Says(t, errtest.Of(l.try(l.plan(file, nil))), want)
	}
}
