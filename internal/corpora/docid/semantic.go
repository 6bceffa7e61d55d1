package docid

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/redsi/redsi/internal/corpora/docid/kmeans"
	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/system/lists"
)

// SemanticOptions are the choices of recursive clustering. Zero values mean the paper's.
type SemanticOptions struct {
	Clusters      int                   // per node, 2 to 10: one decimal digit; 10
	LeafSize      int                   // documents up to which a node is not split; 100
	Seed          uint32                // random_state of the root's k-means
	SameSeed      bool                  // every node has the root's seed; false: see childSeed
	Single        bool                  // k-means in float32; false: float64
	Starts        int                   // of k-means; 1
	MaxIterations int                   // of k-means; 300
	Tolerance     float64               // of k-means; 1e-4, negative: 0
	Threads       int                   // all processors; no effect on the result
	Progress      func(done, total int) // documents with a leaf; may be nil, may be called concurrently
}

// Leaf is a cluster whose documents share Prefix.
type Leaf struct {
	Prefix    string `json:"prefix"`
	Documents int    `json:"documents"`
}

// Tree describes the hierarchy that semantic identifiers spell.
type Tree struct {
	Leaves []Leaf `json:"leaves"` // by prefix
	Fits   int    `json:"fits"`   // inner nodes, a k-means each
	Dealt  int    `json:"dealt"`  // of these, nodes whose vectors k-means could not tell apart
}

// Semantic gives every document the digits of its path through recursive k-means over vectors (row i is document i) and
// its unpadded index within the leaf, from zero in document order (appendix "Semantic Identifiers"). No leaf's prefix
// begins another's, so texts are unique. Up to LeafSize documents have an empty prefix. A node whose vectors are all
// equal, one cluster to k-means, deals its documents to the clusters in turn.
func Semantic(ctx context.Context, documents []string, vectors npy.Matrix, o SemanticOptions, encode Encoder) (*Set, *Tree, error) {
	o = o.withDefaults()
	if err := checkVectors(KindSemantic, documents, vectors); err != nil {
		return nil, nil, err
	}
	g := &grower{vectors: vectors, o: o, texts: make([]string, len(documents))}
	if err := g.grow(ctx); err != nil {
		return nil, nil, fmt.Errorf("semantic identifiers: %w", err)
	}
	slices.SortFunc(g.tree.Leaves, func(a, b Leaf) int { return strings.Compare(a.Prefix, b.Prefix) })
	s, err := newSet(KindSemantic, documents, g.texts, encode)
	return s, &g.tree, err
}

func (o SemanticOptions) withDefaults() SemanticOptions {
	o.Clusters = cmp.Or(o.Clusters, 10)
	o.LeafSize = cmp.Or(o.LeafSize, 100)
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	return o
}

// grower splits large nodes one by one on all threads, small ones side by side on one each; the result is the same.
type grower struct {
	vectors npy.Matrix
	o       SemanticOptions
	texts   []string // by document; each node writes only its own

	mu    sync.Mutex // guards tree
	tree  Tree
	done  atomic.Int64
	small []node
}

type node struct {
	prefix string
	seed   uint32
	rows   []int32 // in document order
}

// smallNode is the size up to which a node is clustered on one thread.
const smallNode = 8192

func (g *grower) grow(ctx context.Context) error {
	if len(g.texts) == 0 {
		return nil
	}
	root := node{seed: g.o.Seed, rows: make([]int32, len(g.texts))}
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

func childSeed(seed uint32, cluster int) uint32 { return seed*1_000_003 + uint32(cluster) + 97 }

// split returns the node's children, or makes it a leaf and returns none.
func (g *grower) split(ctx context.Context, n node, w *kmeans.Workspace, threads int) ([]node, error) {
	if len(n.rows) <= g.o.LeafSize {
		g.leaf(n)
		return nil, nil
	}
	k := min(g.o.Clusters, len(n.rows))
	fit, err := w.FitRows(ctx, g.vectors, n.rows, kmeans.Options{Clusters: k, Seed: n.seed, Starts: g.o.Starts,
		MaxIterations: g.o.MaxIterations, Tolerance: g.o.Tolerance, Double: !g.o.Single, Threads: threads})
	if err != nil {
		return nil, fmt.Errorf("node %q of %d documents: %w", n.prefix, len(n.rows), err)
	}
	dealt := len(lists.Set(fit.Labels)) < 2
	g.mu.Lock()
	g.tree.Fits++
	if dealt {
		g.tree.Dealt++
	}
	g.mu.Unlock()
	parts := make([][]int32, k)
	for i, row := range n.rows {
		label := int(fit.Labels[i])
		if dealt {
			label = i % k
		}
		parts[label] = append(parts[label], row)
	}
	children := make([]node, 0, len(parts))
	for label, rows := range parts {
		if len(rows) > 0 {
			seed := n.seed
			if !g.o.SameSeed {
				seed = childSeed(seed, label)
			}
			children = append(children, node{n.prefix + strconv.Itoa(label), seed, rows})
		}
	}
	return children, nil
}

func (g *grower) leaf(n node) {
	for i, row := range n.rows {
		g.texts[row] = n.prefix + strconv.Itoa(i)
	}
	g.mu.Lock()
	g.tree.Leaves = append(g.tree.Leaves, Leaf{n.prefix, len(n.rows)})
	g.mu.Unlock()
	done := g.done.Add(int64(len(n.rows)))
	if g.o.Progress != nil {
		g.o.Progress(int(done), len(g.texts))
	}
}

// checkVectors checks that there is one finite embedding per document.
func checkVectors(kind Kind, documents []string, vectors npy.Matrix) error {
	if err := kmeans.Check(vectors); err != nil {
		return fmt.Errorf("%s identifiers: embeddings: %w", kind, err)
	}
	if vectors.Rows != len(documents) {
		return fmt.Errorf("%s identifiers: %d embeddings for %d documents; compute both from the same collection", kind, vectors.Rows, len(documents))
	}
	return nil
}
