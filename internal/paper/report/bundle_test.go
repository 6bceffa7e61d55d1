package report_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/testkit"
)

func bundle(t *testing.T, v *plan.Preview, store artifacts.Store) map[string]string {
	t.Helper()
	r, err := report.Build(context.Background(), v, store.Blobs.Open, report.Options{})
	testkit.None(t, err)
	files, err := r.Bundle(context.Background(), store.Blobs.Open)
	testkit.None(t, err)
	out := map[string]string{}
	for _, f := range files {
		out[f.Name] = string(f.Data)
	}
	return out
}

// TestBundle checks what the LaTeX document must and must not say.
func TestBundle(t *testing.T) {
	const not = "not a reproduction"
	inputs := []string{`\input{tables/x}`, `\input{figures/x}`}
	for _, c := range []struct {
		name, scale string
		ran         int
		has, hasNot []string
	}{
		{"full", "full", 4, append(inputs, `\textbf{Complete.}`, `Table~\ref{tab:x}: 1 of 4 numbers and texts match, 2 differ, 1 not run.`, "CC0", `one.\allowbreak{}k`), []string{not}},
		{"toy", "toy", 4, append(inputs, not, "4 numbers, texts and claims of the paper, not comparable at this scale."), []string{"texts match", `\textbf{Complete.}`}},
		{"tables not run", "full", 2, []string{`\textbf{Incomplete.}`, `\textbf{not run}`}, inputs},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, store := study(t, c.scale, c.ran)
			files := bundle(t, v, store)
			says(t, files["main.tex"], c.has, c.hasNot...)
			for name, text := range files {
				if strings.HasSuffix(name, ".tex") {
					checkTeX(t, name, text, files["main.tex"])
				}
			}
		})
	}
	v, store := study(t, "full", 4)
	files := bundle(t, v, store)
	v.Plan.Steps, v.Items = append(v.Plan.Steps, v.Plan.Steps[2]), append(v.Items, v.Items[2])
	v.Plan.Steps[4].Address = "table.y" // of the same label as table.x
	if !strings.HasPrefix(files["redsi.sty"], "% redsi.sty") || !strings.Contains(files["numbers.tex"], "\\redsitable{table.x}{tab:x}\n\\redsicell{") {
		t.Errorf("the files for numbers in prose: %.40q\n%s", files["redsi.sty"], files["numbers.tex"])
	}
	labels := 0
	for _, text := range bundle(t, v, store) {
		labels += strings.Count(text, `\label{tab:x}`)
	}
	testkit.Is(t, labels, 1, "two tables of one label write it times")
	if !strings.HasPrefix(files["figures/x.pdf"], "%PDF") || !strings.Contains(files["figures/x.tex"], `{figures/x.pdf}`) {
		t.Errorf("the figure's files: %.20q\n%s", files["figures/x.pdf"], files["figures/x.tex"])
	}
}

// checkTeX looks for what stops LaTeX: unclosed environments and braces, and characters that no line declares.
func checkTeX(t *testing.T, name, text, main string) {
	t.Helper()
	if a, b := strings.Count(text, `\begin{`), strings.Count(text, `\end{`); a != b {
		t.Errorf("%s: %d environments begin, %d end", name, a, b)
	}
	plain := strings.NewReplacer(`\{`, "", `\}`, "").Replace(text)
	if a, b := strings.Count(plain, "{"), strings.Count(plain, "}"); a != b {
		t.Errorf("%s: %d braces open, %d close", name, a, b)
	}
	for _, c := range text {
		if c > 0x7e && !strings.Contains(main, "{"+string(c)+"}\n") {
			t.Errorf("%s: %q is declared nowhere", name, c)
		}
	}
	if bytes.ContainsAny([]byte(text), "\x00\t") {
		t.Errorf("%s has control characters", name)
	}
}
