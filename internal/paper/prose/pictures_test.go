package prose

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"testing"
	"testing/fstest"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestPictures: a figure's picture must be the figure's current one; a picture that does not exist and that no figure has
// is an error; the authors' own pictures are theirs.
func TestPictures(t *testing.T) {
	sum := func(text string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))) }
	paper := `\documentclass{article}\graphicspath{{img/}{plots/}}
\begin{document}
\includegraphics[width=3cm]{gen/figures/same.pdf}
\includegraphics{gen/figures/old.png}
\includegraphics{gen/figures/same}
\includegraphics{figures/nothere.pdf}
\includegraphics{figures/notyet.pdf}
\includegraphics{figures/waits.pdf}
\includegraphics{logo}
\includegraphics{#1}
% \includegraphics{comment.pdf}
\end{document}`
	p, err := Read(fstest.MapFS{"p.tex": {Data: []byte(paper)}, "img/logo.png": {Data: []byte("ours")},
		"gen/figures/same.pdf": {Data: []byte("new")}, "gen/figures/old.png": {Data: []byte("old")}}, "", "p.tex")
	testkit.None(t, err)
	r := Check(p, &Numbers{NotRun: []string{"figure.waits"}, Pictures: []Picture{{"figure.same", "figures/same.pdf", sum("new")},
		{"figure.old", "figures/old.png", sum("new")}, {"figure.notyet", "figures/notyet.pdf", sum("x")}}}, nil)
	want := &Result{Pictures: 7, Missing: []Missed{{Place{"p.tex", 7, 1}, "figures/notyet.pdf"}, {Place{"p.tex", 8, 1}, "figures/waits.pdf"}},
		NoPicture:  []Included{{Place: Place{"p.tex", 6, 1}, Name: "figures/nothere.pdf"}},
		OldPicture: []Included{{Place: Place{"p.tex", 4, 1}, Name: "gen/figures/old.png", Of: "figure.old"}}}
	for i := range r.OldPicture {
		r.OldPicture[i].file, r.OldPicture[i].digest = "", ""
	}
	got := &Result{Pictures: r.Pictures, Missing: r.Missing, NoPicture: r.NoPicture, OldPicture: r.OldPicture}
	testkit.That(t, reflect.DeepEqual(got, want) && r.Failed(), "got", got, "want", want)
}
