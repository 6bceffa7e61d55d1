package graph

import (
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/system/lists"
)

// Sizes in pixels.
const (
	charWidth = 7.3 // of the 12 px monospace text
	boxHeight = 26.0
	rowGap    = 12.0 // between boxes of a layer
	bendGap   = 6.0  // around an edge that passes a layer
	layerGap  = 70.0
	margin    = 20.0
)

// vertex is a node, or a point at which an edge passes through a layer.
type vertex struct {
	node    int // -1 for a point of an edge
	layer   int
	x, y    float64 // left edge, middle
	w, h    float64
	in, out []int
}

// layout places a graph in layers from left to right (Sugiyama et al. 1981), ordered by barycenters. The page of a run is
// drawn every two seconds: the 392 steps of the paper take 0.03 s here, and 20 s in Graphviz as WebAssembly (go-graphviz v0.2.9),
// which is 9 MB of program.
type layout struct {
	g      Graph
	vs     []vertex
	layers [][]int
	routes [][]int // per edge the vertices that it goes through
	width  float64
	height float64
}

func newLayout(g Graph) *layout {
	l := &layout{g: g}
	l.assignLayers()
	l.routeEdges()
	l.sweep()
	l.place()
	return l
}

func (l *layout) assignLayers() {
	l.vs = make([]vertex, len(l.g.Nodes))
	readers := make([][]int, len(l.vs))
	indegree := make([]int, len(l.vs))
	for _, e := range l.g.Edges {
		readers[e.From] = append(readers[e.From], e.To)
		indegree[e.To]++
	}
	var ready []int
	for i, n := range l.g.Nodes {
		l.vs[i] = vertex{node: i, w: charWidth*float64(utf8.RuneCountInString(n.label())) + 20, h: boxHeight}
		if indegree[i] == 0 {
			ready = append(ready, i)
		}
	}
	order := make([]int, 0, len(l.vs))
	for ; len(ready) > 0; ready = ready[1:] {
		n := ready[0]
		order = append(order, n)
		for _, to := range readers[n] {
			l.vs[to].layer = max(l.vs[to].layer, l.vs[n].layer+1)
			if indegree[to]--; indegree[to] == 0 {
				ready = append(ready, to)
			}
		}
	}
	// A source stands just before what first reads it, which shortens edges.
	for _, n := range slices.Backward(order) {
		if len(readers[n]) == 0 || l.vs[n].layer > 0 {
			continue
		}
		l.vs[n].layer = slices.Min(lists.Map(readers[n], func(to int) int { return l.vs[to].layer })) - 1
	}
}

// routeEdges gives every edge a point in each layer that it passes. Edges from one node share them, as a line that branches.
func (l *layout) routeEdges() {
	l.routes = make([][]int, len(l.g.Edges))
	type pass struct{ from, layer int }
	points := map[pass]int{}
	joined := map[[2]int]bool{}
	for i, e := range l.g.Edges {
		route := []int{e.From}
		for layer := l.vs[e.From].layer + 1; layer < l.vs[e.To].layer; layer++ {
			p, ok := points[pass{e.From, layer}]
			if !ok {
				p = len(l.vs)
				l.vs = append(l.vs, vertex{node: -1, layer: layer, h: bendGap})
				points[pass{e.From, layer}] = p
			}
			route = append(route, p)
		}
		route = append(route, e.To)
		for k := range len(route) - 1 {
			a, b := route[k], route[k+1]
			if !joined[[2]int{a, b}] {
				joined[[2]int{a, b}] = true
				l.vs[a].out = append(l.vs[a].out, b)
				l.vs[b].in = append(l.vs[b].in, a)
			}
		}
		l.routes[i] = route
	}
	for i, v := range l.vs {
		for len(l.layers) <= v.layer {
			l.layers = append(l.layers, nil)
		}
		l.layers[v.layer] = append(l.layers[v.layer], i)
	}
}

// sweep orders each layer by its neighbours' mean place, to and fro, and keeps the order with the fewest crossings.
func (l *layout) sweep() {
	rank := make([]float64, len(l.vs))
	number := func(layer []int) {
		for i, v := range layer {
			rank[v] = float64(i)
		}
	}
	for _, layer := range l.layers {
		number(layer)
	}
	best, fewest := lists.Map(l.layers, slices.Clone), l.crossings(rank)
	for round := range 16 {
		for k := range l.layers {
			layer := l.layers[k]
			if round%2 == 1 {
				layer = l.layers[len(l.layers)-1-k]
			}
			mean := map[int]float64{}
			for _, v := range layer {
				near := l.vs[v].in
				if round%2 == 1 {
					near = l.vs[v].out
				}
				mean[v] = rank[v]
				if len(near) > 0 {
					sum := 0.0
					for _, n := range near {
						sum += rank[n]
					}
					mean[v] = sum / float64(len(near))
				}
			}
			sort.SliceStable(layer, func(i, j int) bool { return mean[layer[i]] < mean[layer[j]] })
			number(layer)
		}
		if c := l.crossings(rank); c < fewest {
			best, fewest = lists.Map(l.layers, slices.Clone), c
		}
	}
	l.layers = best
}

// crossings counts crossing edges between neighbouring layers: inversions of their far ends, sorted by near ends.
func (l *layout) crossings(rank []float64) int {
	total := 0
	for _, layer := range l.layers[:max(0, len(l.layers)-1)] {
		var ends []int
		widest := 0
		for _, v := range layer {
			to := make([]int, len(l.vs[v].out))
			for i, o := range l.vs[v].out {
				to[i] = int(rank[o])
				widest = max(widest, to[i])
			}
			slices.Sort(to)
			ends = append(ends, to...)
		}
		tree := make([]int, widest+2) // Fenwick tree of ends seen so far
		for n, e := range ends {
			notAfter := 0
			for i := e + 1; i > 0; i &= i - 1 {
				notAfter += tree[i]
			}
			total += n - notAfter
			for i := e + 1; i < len(tree); i += i & -i {
				tree[i]++
			}
		}
	}
	return total
}

// place positions every vertex: in columns, each vertex as near to its neighbours as the order allows.
func (l *layout) place() {
	x := margin
	for _, layer := range l.layers {
		widest := 0.0
		y := margin
		for _, v := range layer {
			l.vs[v].x = x
			l.vs[v].y = y + l.vs[v].h/2
			y += l.vs[v].h + l.gap(v)
			widest = max(widest, l.vs[v].w)
		}
		for _, v := range layer {
			if l.vs[v].node < 0 {
				l.vs[v].w = widest // an edge passes the column straight
			}
		}
		x += widest + layerGap
	}
	l.width = max(x-layerGap+margin, 2*margin)
	for round := range 12 {
		for k := range l.layers {
			if round%2 == 0 {
				l.align(l.layers[k], func(v int) []int { return l.vs[v].in })
			} else {
				l.align(l.layers[len(l.layers)-1-k], func(v int) []int { return l.vs[v].out })
			}
		}
	}
	top, bottom := 0.0, 0.0
	for i, v := range l.vs {
		if i == 0 || v.y-v.h/2 < top {
			top = v.y - v.h/2
		}
		bottom = max(bottom, v.y+v.h/2)
	}
	for i := range l.vs {
		l.vs[i].y += margin - top
	}
	l.height = max(bottom-top+2*margin, 2*margin)
}

func (l *layout) gap(v int) float64 {
	if l.vs[v].node < 0 {
		return bendGap
	}
	return rowGap
}

// align moves a layer's vertices to the middle of their neighbours, in order: what is pushed together moves as one.
func (l *layout) align(layer []int, near func(int) []int) {
	type cluster struct {
		first, last int     // of layer
		want, n     float64 // sum of wished tops of the cluster, and of how many
		top, size   float64
	}
	var cs []cluster
	for i, v := range layer {
		want, weight := l.vs[v].y, 0.1
		if ns := near(v); len(ns) > 0 {
			ys := lists.Map(ns, func(n int) float64 { return l.vs[n].y })
			slices.Sort(ys)
			want, weight = (ys[(len(ys)-1)/2]+ys[len(ys)/2])/2, 1
		}
		top := want - l.vs[v].h/2
		c := cluster{i, i, top * weight, weight, top, l.vs[v].h + l.gap(v)}
		for len(cs) > 0 && cs[len(cs)-1].top+cs[len(cs)-1].size > c.top {
			p := cs[len(cs)-1]
			cs = cs[:len(cs)-1]
			c = cluster{p.first, c.last, p.want + c.want - p.size*c.n, p.n + c.n, 0, p.size + c.size}
			c.top = c.want / c.n
		}
		cs = append(cs, c)
	}
	for _, c := range cs {
		y := c.top
		for i := c.first; i <= c.last; i++ {
			v := &l.vs[layer[i]]
			v.y = y + v.h/2
			y += v.h + l.gap(layer[i])
		}
	}
}
