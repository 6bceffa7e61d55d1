package report

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/system/words"
)

const mostTimed = 30 // bounds the rows of a timeline; the shortest blocks share the last one

// runWork is when the steps of a run were running, by row of its timeline.
type runWork struct {
	took  time.Duration
	steps int
	rows  map[string][]span
}

type span struct{ from, to time.Time }

func (g *Gatherer) worked(step string, r *artifacts.Result) {
	w := g.work[r.Origin.RunID]
	if w == nil {
		w = &runWork{rows: map[string][]span{}}
		g.work[r.Origin.RunID] = w
	}
	a := address.Of(step)
	row := a.Block()
	if a.IsRendered() {
		row = "tables and figures"
	}
	w.took += r.Took
	w.steps++
	w.rows[row] = append(w.rows[row], span{r.Finished.Add(-r.Took), r.Finished})
}

// Timeline shows when a run's steps were running. Lengths are pixels of its picture.
type Timeline struct {
	Run           string
	Steps         int
	Start         time.Time
	Wall, Took    time.Duration
	Width, Height float64
	Rows          []TimeRow
	Ticks         []ChartTick
}

// TimeRow is a block's row.
type TimeRow struct {
	Name string
	Y    float64
	Bars []Bar
	Took time.Duration

	spans []span // in the order of their beginnings
}

// Bar is a time in which steps of the block were running.
type Bar struct{ X, W float64 }

// timeline returns the timeline of the run that computed most of the current results; nil if nothing took time.
func (g *Gatherer) timeline() *Timeline {
	const left, right, rowHeight, top = 210.0, 1112.0, 12.0, 4.0
	run := ""
	for _, id := range slices.Sorted(maps.Keys(g.work)) {
		if run == "" || g.work[id].took >= g.work[run].took {
			run = id
		}
	}
	w := g.work[run]
	if w == nil || w.took <= 0 {
		return nil
	}
	t := &Timeline{Run: run, Steps: w.steps, Took: w.took, Width: pictureWidth}
	var end time.Time
	for name, spans := range w.rows {
		row := TimeRow{Name: name, spans: spans}
		for _, s := range spans {
			row.Took += s.to.Sub(s.from)
			if s.to.After(end) {
				end = s.to
			}
		}
		t.Rows = append(t.Rows, row)
	}
	t.Rows = fewRows(t.Rows)
	for _, row := range t.Rows {
		slices.SortFunc(row.spans, func(a, b span) int { return a.from.Compare(b.from) })
	}
	slices.SortFunc(t.Rows, func(a, b TimeRow) int {
		return cmp.Or(a.spans[0].from.Compare(b.spans[0].from), cmp.Compare(a.Name, b.Name))
	})
	t.Start = t.Rows[0].spans[0].from
	t.Wall = end.Sub(t.Start)
	scale := (right - left) / max(t.Wall.Seconds(), 1e-9)
	for i := range t.Rows {
		row := &t.Rows[i]
		row.Y = top + float64(i)*rowHeight
		for _, s := range row.spans {
			x := left + s.from.Sub(t.Start).Seconds()*scale
			b := Bar{x, max(s.to.Sub(s.from).Seconds()*scale, 1)}
			if n := len(row.Bars); n > 0 && b.X <= row.Bars[n-1].X+row.Bars[n-1].W+0.5 {
				last := &row.Bars[n-1]
				last.W = max(last.W, b.X+b.W-last.X)
				continue
			}
			row.Bars = append(row.Bars, b)
		}
	}
	t.Height = top + float64(len(t.Rows))*rowHeight + 18
	for _, s := range timeTicks(t.Wall.Seconds()) {
		t.Ticks = append(t.Ticks, ChartTick{left + s*scale, words.Took(s)})
	}
	return t
}

func fewRows(rows []TimeRow) []TimeRow {
	if len(rows) <= mostTimed {
		return rows
	}
	slices.SortFunc(rows, func(a, b TimeRow) int { return cmp.Or(cmp.Compare(b.Took, a.Took), cmp.Compare(a.Name, b.Name)) })
	rest := TimeRow{Name: strconv.Itoa(len(rows)-mostTimed+1) + " other blocks"}
	for _, r := range rows[mostTimed-1:] {
		rest.spans = append(rest.spans, r.spans...)
		rest.Took += r.Took
	}
	return append(rows[:mostTimed-1], rest)
}

// timeTicks returns about four round times up to an end.
func timeTicks(end float64) (out []float64) {
	step := 1.0
	for _, s := range []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 6 * 3600, 12 * 3600, 86400, 7 * 86400, 30 * 86400} {
		if step = s; end/s <= 6 {
			break
		}
	}
	for s := 0.0; s <= end && len(out) < 50; s += step {
		out = append(out, s)
	}
	return out
}
