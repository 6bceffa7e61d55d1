package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestPaperOfMarks: the paper's number of a bar or box is a diamond on it, of a heat map a row of its own.
func TestPaperOfMarks(t *testing.T) {
	for _, c := range []struct {
		figure   string
		other    bool
		among    bool
		has, not string
	}{
		{`"series": [{"draw": "bars",`, false, true, "#0072B2", "Inf"},
		{`"series": [{"draw": "box",`, false, true, "stroke:#0072B2", "Inf"},
		{`"series": [{"draw": "box",`, true, false, "stroke:#0072B2", "Inf"},
		{`"heat": {"labels": true}, "series": [{`, false, false, ">7<", ">5<"},
	} {
		it := &Item{Other: c.other, Figure: &render.Figure{}, Checks: []render.Check{{Cell: "s.p.y", Paper: new(7.0)}}}
		testkit.None(t, json.Unmarshal([]byte(`{"width": 8, "x": {"title": "", "categories": ["a"]}, "y": {"title": "MRR"}, `+c.figure+` "id": "s", "color": "naive", "line": "solid",
			"points": [{"id": "p", "x": {"value": 0, "typed": "a"}, "y": {"value": 5}, "low": 4, "q1": 4.5, "q3": 5.5, "high": 6, "marker": "none"}]}]}`), it.Figure))
		testkit.None(t, it.drawPaper())
		if svg := string(it.PaperSVG); it.Among != c.among || !strings.Contains(svg, c.has) || strings.Contains(svg, c.not) {
			t.Errorf("%s: among %v:\n%s", c.figure, it.Among, svg)
		}
	}
}
