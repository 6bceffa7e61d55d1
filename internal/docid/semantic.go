package docid

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/redsi/redsi/internal/docid/kmeans"
)

// SemanticOptions are the choices of recursive clustering. Zero values mean the
// paper's.
type SemanticOptions struct {
	Clusters      int    // per node, 2 to 10: one decimal digit; 10
	LeafSize      int    // nodes of at most so many documents are not split; 100
	Seed          uint32 // random_state of every node's k-means
	MaxIterations int    // of k-means; 300
	Tolerance     float64
	Threads       int                   // all processors; no effect on the result
	Progress      func(done, total int) // documents that have their leaf; may be nil, may be called concurrently
}

// Leaf is a cluster whose documents share Prefix.
type Leaf struct {
	Prefix      string `json:"prefix"`
	Documents   int    `json:"documents"`
	Indivisible bool   `json:"indivisible,omitempty"` // above LeafSize, but its vectors cannot be told apart
}

// Tree describes the hierarchy that semantic identifiers spell.
type Tree struct {
	Leaves []Leaf `json:"leaves"` // by prefix
	Fits   int    `json:"fits"`   // k-means runs: inner nodes, and leaves that proved indivisible
}

// Depth is the number of digits of the longest prefix.
func (t *Tree) Depth() int {
	depth := 0
	for _, l := range t.Leaves {
		depth = max(depth, len(l.Prefix))
	}
	return depth
}

// Semantic gives every document the digits of its path through recursive k-means
// over vectors (row i is document i), followed by its index within the leaf, from
// zero in document order, without padding (appendix "Semantic Identifiers").
// Prefixes of leaves are no prefixes of each other, so the texts are unique. A
// collection of at most LeafSize documents has an empty prefix. A node whose
// vectors k-means cannot separate, because all are equal, is a leaf.
func Semantic(ctx context.Context, documents []string, vectors kmeans.Matrix, o SemanticOptions, encode Encoder) (*Set, *Tree, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, nil, err
	}
	if err := checkVectors(KindSemantic, documents, vectors); err != nil {
		return nil, nil, err
	}
	g := &grower{vectors: vectors, o: o, texts: make([]string, len(documents))}
	if err := g.all(ctx); err != nil {
		return nil, nil, fmt.Errorf("semantic identifiers: %w", err)
	}
	slices.SortFunc(g.tree.Leaves, func(a, b Leaf) int { return strings.Compare(a.Prefix, b.Prefix) })
	s, err := newSet(KindSemantic, documents, g.texts, encode)
	if err != nil {
		return nil, nil, err
	}
	return s, &g.tree, nil
}

func (o SemanticOptions) withDefaults() (SemanticOptions, error) {
	if o.Clusters == 0 {
		o.Clusters = 10
	}
	if o.LeafSize == 0 {
		o.LeafSize = 100
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Clusters < 2 || o.Clusters > 10 {
		return o, fmt.Errorf("semantic identifiers: %d clusters per node; one decimal digit allows 2 to 10", o.Clusters)
	}
	if o.LeafSize < 1 {
		return o, fmt.Errorf("semantic identifiers: a leaf size of %d; want at least 1", o.LeafSize)
	}
	return o, nil
}

// grower splits nodes. Large ones come one after another, each on all threads;
// smaller ones side by side, each on one thread. Neither changes the result.
type grower struct {
	vectors kmeans.Matrix
	o       SemanticOptions
	texts   []string // by document; each node writes only its own

	mu    sync.Mutex // guards tree
	tree  Tree
	done  atomic.Int64
	small []node
}

type node struct {
	prefix string
	rows   []int32 // in document order
}

// smallNode is the size up to which a node is clustered on one thread.
const smallNode = 8192

func (g *grower) all(ctx context.Context) error {
	if len(g.texts) == 0 {
		return nil
	}
	root := node{rows: make([]int32, len(g.texts))}
	for i := range root.rows {
		root.rows[i] = int32(i)
	}
	workspace := new(kmeans.Workspace)
	for large := []node{root}; len(large) > 0; {
		next := large[0]
		large = large[1:]
		if len(next.rows) <= smallNode {
			g.small = append(g.small, next)
			continue
		}
		children, err := g.split(ctx, next, workspace, g.o.Threads)
		if err != nil {
			return err
		}
		large = append(large, children...)
	}
	group, ctx := errgroup.WithContext(ctx)
	var taken atomic.Int64
	for range g.o.Threads {
		group.Go(func() error {
			workspace := new(kmeans.Workspace)
			for i := int(taken.Add(1)) - 1; i < len(g.small); i = int(taken.Add(1)) - 1 {
				for nodes := []node{g.small[i]}; len(nodes) > 0; {
					next := nodes[len(nodes)-1]
					children, err := g.split(ctx, next, workspace, 1)
					if err != nil {
						return err
					}
					nodes = append(nodes[:len(nodes)-1], children...)
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// split returns the node's children, or makes it a leaf and returns none.
func (g *grower) split(ctx context.Context, n node, w *kmeans.Workspace, threads int) ([]node, error) {
	if len(n.rows) <= g.o.LeafSize {
		g.leaf(n, false)
		return nil, nil
	}
	fit, err := w.FitRows(ctx, g.vectors, n.rows, kmeans.Options{
		Clusters: min(g.o.Clusters, len(n.rows)), Seed: g.o.Seed,
		MaxIterations: g.o.MaxIterations, Tolerance: g.o.Tolerance, Threads: threads,
	})
	if err != nil {
		return nil, fmt.Errorf("node %q of %d documents: %w", n.prefix, len(n.rows), err)
	}
	if fit.Distinct() < 2 {
		g.leaf(n, true)
		return nil, nil
	}
	g.mu.Lock()
	g.tree.Fits++
	g.mu.Unlock()
	parts := make([][]int32, g.o.Clusters)
	for i, row := range n.rows {
		parts[fit.Labels[i]] = append(parts[fit.Labels[i]], row)
	}
	children := make([]node, 0, len(parts))
	for label, rows := range parts {
		if len(rows) > 0 {
			children = append(children, node{n.prefix + strconv.Itoa(label), rows})
		}
	}
	return children, nil
}

func (g *grower) leaf(n node, indivisible bool) {
	for i, row := range n.rows {
		g.texts[row] = n.prefix + strconv.Itoa(i)
	}
	g.mu.Lock()
	g.tree.Leaves = append(g.tree.Leaves, Leaf{n.prefix, len(n.rows), indivisible})
	if indivisible {
		g.tree.Fits++
	}
	g.mu.Unlock()
	done := g.done.Add(int64(len(n.rows)))
	if g.o.Progress != nil {
		g.o.Progress(int(done), len(g.texts))
	}
}
