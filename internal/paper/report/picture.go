package report

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/system/words"
)

// Bounds of the picture of blocks, beyond which there is none: redsi graph has no bounds.
const (
	mostPictured = 80
	mostLayers   = 20
)

// Sizes in the picture's own units: pixels if the page is wide enough.
const (
	pictureWidth = 1120.0
	boxHeight    = 34.0
	markSize     = 9.0
	charWidth    = 6.6 // of a box's text
)

// Picture is the graph of the blocks of steps, in layers from left to right: blocks read blocks to their left. Tables and
// figures are marks below the last block that they come from.
type Picture struct {
	Width, Height float64
	Boxes         []*Box
	Lines         []Line
}

// Long reports whether the picture is wider than the page and has to scroll.
func (p *Picture) Long() bool { return p.Width > pictureWidth }

// Box is a block of steps.
type Box struct {
	Address, Kind, Name string // shortened for the picture, except the address
	Steps, Done         int
	X, Y, W             float64
	Marks               []Mark

	layer  int
	height float64
	in     []*Box
	out    []*Box
}

// Share returns how much of the box is filled: steps with results.
func (b *Box) Share() float64 { return b.W * float64(b.Done) / float64(max(b.Steps, 1)) }

// State returns the box's color: done, some or rest.
func (b *Box) State() string {
	switch b.Done {
	case b.Steps:
		return "done"
	case 0:
		return "rest"
	}
	return "some"
}

// Mark is a table or figure.
type Mark struct {
	Address, State string // done, differs or rest
	X, Y           float64
}

// Line is an edge: a curve from one box to another.
type Line struct{ X1, Y1, X2, Y2, Mid float64 }

// picture draws the blocks; nil if there are too many.
func (g *Gatherer) picture(items []*Item) *Picture {
	boxes := map[string]*Box{}
	var order []*Box
	edges := map[[2]string]bool{}
	for _, s := range g.plan.Steps {
		if s.IsRendered() {
			continue
		}
		block := s.Block()
		if boxes[block] == nil {
			if len(order) == mostPictured {
				return nil
			}
			b := g.blocks[block]
			boxes[block] = &Box{Address: block, Kind: b.Kind, Name: address.Of(block).Label(), Steps: b.Steps, Done: b.Done}
			order = append(order, boxes[block])
		}
		for _, d := range s.Deps {
			if from := boxes[g.plan.Steps[d].Block()]; from != nil && from.Address != block {
				edges[[2]string{from.Address, block}] = true
			}
		}
	}
	if len(order) == 0 {
		return nil
	}
	for _, to := range order {
		for _, from := range order {
			if edges[[2]string{from.Address, to.Address}] {
				from.out, to.in = append(from.out, to), append(to.in, from)
			}
		}
	}
	layers := layersOf(order)
	if len(layers) > mostLayers {
		return nil
	}
	g.mark(boxes, order, items)
	p := &Picture{Width: pictureWidth, Boxes: order}
	p.place(layers)
	reached := reachable(layers)
	for _, to := range order {
		for _, from := range to.in {
			if !slices.ContainsFunc(from.out, func(next *Box) bool { return next.layer > from.layer && reached[next][to] }) { // a longer path implies it
				x1, x2 := from.X+from.W, to.X
				p.Lines = append(p.Lines, Line{x1, from.Y + boxHeight/2, x2, to.Y + boxHeight/2, (x1 + x2) / 2})
			}
		}
	}
	return p
}

// layersOf sorts boxes into layers by the longest path from a source, which is just before its first reader.
func layersOf(order []*Box) [][]*Box {
	for range order { // at most the longest path, even if blocks form a cycle
		moved := false
		for _, b := range order {
			for _, to := range b.out {
				if to.layer <= b.layer && b.layer < mostLayers {
					to.layer, moved = b.layer+1, true
				}
			}
		}
		if !moved {
			break
		}
	}
	var layers [][]*Box
	for _, b := range order {
		if b.layer == 0 && len(b.out) > 0 {
			b.layer = max(0, slices.MinFunc(b.out, func(x, y *Box) int { return cmp.Compare(x.layer, y.layer) }).layer-1)
		}
		for len(layers) <= b.layer {
			layers = append(layers, nil)
		}
		layers[b.layer] = append(layers[b.layer], b)
	}
	return layers
}

// mark puts tables and figures at the last blocks that they come from.
func (g *Gatherer) mark(boxes map[string]*Box, order []*Box, items []*Item) {
	for _, it := range items {
		host := order[0]
		for _, d := range g.plan.Steps[it.Index].Deps {
			if b := boxes[g.plan.Steps[d].Block()]; b != nil && b.layer >= host.layer {
				host = b
			}
		}
		m := Mark{Address: it.Address, State: "rest"}
		if it.State == Done {
			m.State = "done"
			if len(it.Unmet())+len(it.Broken()) > 0 {
				m.State = "differs"
			}
		}
		host.Marks = append(host.Marks, m)
	}
}

// reachable returns, for each box, the boxes that are reachable to the right.
func reachable(layers [][]*Box) map[*Box]map[*Box]bool {
	reached := map[*Box]map[*Box]bool{}
	for _, layer := range slices.Backward(layers) {
		for _, b := range layer {
			reached[b] = map[*Box]bool{}
			for _, next := range b.out {
				if next.layer > b.layer {
					reached[b][next] = true
					maps.Copy(reached[b], reached[next])
				}
			}
		}
	}
	return reached
}

// place orders the boxes of each layer by the mean position of their neighbours, and sets all positions.
func (p *Picture) place(layers [][]*Box) {
	const gapX, gapY, edge, narrowest = 24.0, 9.0, 4.0, 90.0
	p.Width = max(p.Width, 2*edge-gapX+(narrowest+gapX)*float64(len(layers))) // the page scrolls it
	column := (p.Width - 2*edge + gapX) / float64(len(layers))
	w := min(column-gapX, 170)
	perRow := max(1, int((w+2)/(markSize+2)))
	tallest := 0.0
	heights := make([]float64, len(layers))
	for k, layer := range layers {
		for _, b := range layer {
			rows := (len(b.Marks) + perRow - 1) / perRow
			b.W, b.X = w, edge+float64(k)*column
			b.height = boxHeight + float64(rows)*(markSize+2)
			heights[k] += b.height + gapY
		}
		tallest = max(tallest, heights[k])
	}
	stack := func(k int) {
		y := edge + (tallest-heights[k])/2
		for _, b := range layers[k] {
			b.Y = y
			y += b.height + gapY
		}
	}
	for k := range layers {
		stack(k)
	}
	for round := range 8 {
		for k := range layers {
			if round%2 == 1 {
				k = len(layers) - 1 - k
			}
			slices.SortStableFunc(layers[k], func(a, b *Box) int { return cmp.Compare(a.middle(round%2 == 1), b.middle(round%2 == 1)) })
			stack(k)
		}
	}
	most := int((w - 8) / charWidth)
	for _, b := range p.Boxes {
		b.Kind, b.Name = words.Clip(b.Kind, most-1), words.Clip(b.Name, max(1, most-len(strconv.Itoa(b.Done)+strconv.Itoa(b.Steps))-2))
		for i := range b.Marks {
			b.Marks[i].X = b.X + float64(i%perRow)*(markSize+2)
			b.Marks[i].Y = b.Y + boxHeight + 2 + float64(i/perRow)*(markSize+2)
		}
	}
	p.Height = tallest + 2*edge
}

// middle returns the mean height of the box's neighbours on one side; its own if it has none.
func (b *Box) middle(right bool) float64 {
	near := b.in
	if right {
		near = b.out
	}
	if len(near) == 0 {
		return b.Y
	}
	sum := 0.0
	for _, n := range near {
		sum += n.Y + n.height/2
	}
	return sum/float64(len(near)) - b.height/2
}
