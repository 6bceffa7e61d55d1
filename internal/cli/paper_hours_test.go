package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/redsi/redsi/internal/host/roofline"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	cardhours "github.com/redsi/redsi/internal/pipeline/hours"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/kinds"
)

// night is how long a person's card computes until the next morning.
const night = 12 * time.Hour

// TestPaperHours holds the tables of docs/performance.md to what is computed for the paper
// without any result. REDSI_UPDATE=1 writes them.
func TestPaperHours(t *testing.T) {
	t.Parallel()
	v := paperPreview(t)
	var table, spent, floor, nights, memory strings.Builder
	table.WriteString("| card | hours of one | days with 1 | with 8 | with 64 | the longest training | cost |\n|---|---|---|---|---|---|---|\n")
	sorts := append(roofline.Sorts(), "loading")
	fmt.Fprintf(&spent, "| card | %s |\n|%s\n", strings.Join(sorts, " | "), strings.Repeat("---|", len(sorts)+1))
	nights.WriteString("| card | in a night of 12 hours |\n|---|---|\n")
	memory.WriteString("| training | at the peak | in 16 GB | in 24 GB | in 40 GB | in 80 GB |\n|---|---|---|---|---|---|\n")
	for i, f := range roofline.PaperFits(16e9) {
		fmt.Fprintf(&memory, "| %s | %.1f GB |", f.Name, float64(f.Needs)/1e9)
		for _, card := range []int64{16e9, 24e9, 40e9, 80e9} {
			switch fit := roofline.PaperFits(card)[i]; {
			case fit.Fits:
				memory.WriteString(" fits |")
			case len(fit.Change) > 0:
				fmt.Fprintf(&memory, " `%s` |", fit.Change[0])
			default:
				memory.WriteString(" no |")
			}
		}
		memory.WriteString("\n")
	}
	for _, c := range roofline.Cards() {
		var days []string
		var one *cardhours.Hours
		for _, n := range []int{1, 8, 64} {
			h, err := cardhours.Of(v, kinds.Registry(), estimate.Of(v, estimate.History{}),
				cardhours.Facts{Took: func(int) []cardhours.Took { return nil }}, cardhours.Options{Card: c, Cards: n, Price: c.Price})
			if err != nil {
				t.Fatal(err)
			}
			if h.GPUUnknown > 0 || h.GPUSteps != 306 {
				t.Fatalf("%d of %d steps are not known", h.GPUUnknown, h.GPUSteps)
			}
			if n == 1 {
				one = h
			}
			days = append(days, fmt.Sprintf("%.1f", h.Wall.Hours()/24))
		}
		longest := time.Duration(0)
		for i, s := range v.Plan.Steps {
			if s.Task.Kind == "train" {
				longest = max(longest, one.Each[i].P50)
			}
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %.1f h | $%s |\n", c.Name, humanize.Comma(int64(one.GPUHours()+0.5)), strings.Join(days, " | "),
			longest.Hours(), humanize.Comma(int64(one.Cost()+0.5)))
		fmt.Fprintf(&spent, "| %s |", c.Name)
		for _, on := range sorts {
			took := time.Duration(0)
			for _, x := range one.Spent {
				if x.On == on {
					took = x.Took
				}
			}
			fmt.Fprintf(&spent, " %s h |", humanize.Comma(int64(took.Hours()+0.5)))
		}
		spent.WriteString("\n")
		if c.Name == "h200" {
			floor.WriteString(floorText(one))
		}
		var within []string
		for _, g := range one.Tables(v) {
			if g.GPU > 0 && g.GPU <= night && g.Name != "" {
				name, _ := strings.CutPrefix(strings.TrimPrefix(g.Name, "table."), "figure.")
				within = append(within, fmt.Sprintf("`%s` (%.1f h)", name, g.GPU.Hours()))
			}
		}
		fmt.Fprintf(&nights, "| %s | %s |\n", c.Name, strings.Join(within, ", "))
	}
	path := filepath.Join("..", "..", "docs", "performance.md")
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(src)
	for name, want := range map[string]string{"hours": table.String(), "spent": spent.String(), "floor": floor.String(), "nights": nights.String(), "memory": memory.String()} {
		begin, end := "<!-- computed: "+name+" -->\n", "<!-- end -->"
		before, rest, ok := strings.Cut(text, begin)
		got, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			t.Fatalf("%s has no table %q", path, begin)
		}
		if got != want && os.Getenv("REDSI_UPDATE") == "" {
			t.Errorf("docs/performance.md has another table of %s; if that is meant, `REDSI_UPDATE=1 go test ./internal/cli -run TestPaperHours`:\n%s\nis\n%s", name, got, want)
		}
		text = before + begin + want + end + after
	}
	if os.Getenv("REDSI_UPDATE") != "" && text != string(src) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// floorDays is what one H200 is to do the paper in.
const floorDays = 10

// floorText says whether that is so by computation, and what the time goes into.
func floorText(h *cardhours.Hours) string {
	days := h.Wall.Hours() / 24
	text := fmt.Sprintf("**The paper on one H200 is to take %d days at most. That is not reached by this computation:** it takes\n%.1f.", floorDays, days)
	if days <= floorDays {
		text = fmt.Sprintf("The paper on one H200 is to take %d days at most. It takes %.1f by this computation, from no measured step.", floorDays, days)
	}
	text += " Of its hours"
	for i, x := range h.Spent[:4] {
		text += fmt.Sprintf("%s %.0f %% are of `%s`", map[int]string{0: "", 3: " and"}[i], 100*x.Took.Hours()/h.GPUHours(), x.On)
		if i < 2 {
			text += ","
		}
	}
	return text + ".\n"
}

// paperPreview is the paper's plan at full scale, of which nothing is done.
func paperPreview(t *testing.T) *plan.Preview {
	t.Helper()
	src, err := pipeline.Read(filepath.Join("..", "..", "pipelines.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	p, ds := pipeline.Load(src, pipeline.Options{Registry: kinds.Registry(), ReadFile: os.ReadFile})
	if ds.HasErrors() {
		t.Fatal(ds.Err())
	}
	pl, err := plan.Build("pipelines.hcl", p, kinds.Registry(), nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &plan.Preview{Plan: pl, Items: make([]plan.Item, len(pl.Steps))}
	for i := range v.Items {
		v.Items[i].Outcome = plan.Run
	}
	return v
}
