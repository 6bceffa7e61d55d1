package graph

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/system/testkit"
)

var paper = []Step{
	{Address: "step.download.nq"},
	{Address: "step.extract.train", Deps: []int{0}},
	{Address: `step.dedup.nq["h1"]`, Deps: []int{1}},
	{Address: `step.dedup.nq["url"]`, Deps: []int{1}},
	{Address: "step.download.t5"},
	{Address: `step.train.dsi["a<b>&\"c"]`, Deps: []int{2, 4}},
	{Address: "table.dedup_counts", Deps: []int{2, 3, 0}},
	{Address: "figure.scaling", Deps: []int{5, 6}},
}

var planOutcomes = []string{"hit", "hit", "hit", "resume", "run", "maybe", "maybe", "maybe"}

func TestGoldens(t *testing.T) {
	for _, kind := range []string{"paper", "paper-expanded", "plan"} {
		g := New(paper, kind == "paper-expanded")
		if kind == "plan" {
			g.PaintPlan(planOutcomes)
		}
		for name, write := range map[string]func(io.Writer) error{"dot": g.DOT, "mermaid": g.Mermaid, "svg": g.SVG} {
			var b bytes.Buffer
			testkit.None(t, write(&b))
			goldens.Same(t, fmt.Sprintf("testdata/%s.%s", kind, name), b.String())
		}
	}
}

// Any graph is drawn as well-formed XML with every box inside the picture and no two boxes over each other.
func TestLayout(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 40 {
		var steps []Step
		for i := range n * 3 {
			s := Step{Address: fmt.Sprintf("step.k%d.n%d", i%7, i)}
			for d := range i {
				if rng.Float64() < 3/float64(i+1) {
					s.Deps = append(s.Deps, d)
				}
			}
			steps = append(steps, s)
		}
		g := New(steps, false)
		l := newLayout(g)
		for i, v := range l.vs {
			if v.node < 0 {
				continue
			}
			if v.x < 0 || v.y-v.h/2 < 0 || v.x+v.w > l.width || v.y+v.h/2 > l.height {
				t.Fatalf("%d nodes: box %d is outside the picture", len(steps), i)
			}
			for j, o := range l.vs[:i] {
				if o.node >= 0 && v.x < o.x+o.w && o.x < v.x+v.w && v.y-v.h/2 < o.y+o.h/2-1e-6 && o.y-o.h/2 < v.y+v.h/2-1e-6 {
					t.Fatalf("%d nodes: boxes %d and %d overlap", len(steps), i, j)
				}
			}
		}
		for _, e := range g.Edges {
			if l.vs[e.From].layer >= l.vs[e.To].layer {
				t.Fatalf("edge %v does not go to the right", e)
			}
		}
		var b bytes.Buffer
		testkit.None(t, g.SVG(&b))
		for d := xml.NewDecoder(&b); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestPalette: each type of block whose steps a graph shows has a colour, and no other.
func TestPalette(t *testing.T) {
	for _, b := range declare.Types {
		if _, coloured := palette[b.Name]; coloured != b.Outputs() {
			t.Errorf("%s: coloured %t", b.Name, coloured)
		}
	}
}
