package docid

import (
	"cmp"
	"fmt"
	"slices"
)

// Trie is the set of prefixes of a collection's token sequences (paper, appendix "Decoding Procedures"). It is over token
// ids, because string prefixes are no token prefixes: "0" is [3, 632] and "305" is [3, 26724]. It is immutable and may be
// read concurrently.
//
// Nodes are numbered breadth first, so the edge to node n is edge n-1 and a node's children are consecutive: 12 bytes per
// node and nothing else.
type Trie struct {
	Depth int   // the length of the longest sequence
	End   int32 // the last token of all sequences, or -1 if they end differently or there are none

	firstEdge  []int32 // [nodes+1]: node n has edges firstEdge[n] to firstEdge[n+1]-1
	tokens     []int32 // [nodes-1]: by edge, increasing within a node
	identifier []int32 // [nodes]: index of the complete sequence, or -1
	root, most int     // edges of the root, and at most of another node
}

// Node is a prefix.
type Node int32

// Root is the empty prefix.
const Root Node = 0

// NewTrie builds the trie of sequences; Identifier returns their indexes. Empty or equal sequences, prefixes of others and
// negative tokens are errors that name the indexes.
func NewTrie(sequences [][]int32) (*Trie, error) {
	order := make([]int32, len(sequences))
	t := &Trie{End: -1}
	for i, s := range sequences {
		if len(s) == 0 {
			return nil, fmt.Errorf("trie: sequence %d is empty", i)
		}
		if least := slices.Min(s); least < 0 {
			return nil, fmt.Errorf("trie: sequence %d has token %d", i, least)
		}
		order[i] = int32(i)
		if end := s[len(s)-1]; i == 0 {
			t.End = end
		} else if end != t.End {
			t.End = -1
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(slices.Compare(sequences[a], sequences[b]), int(a-b))
	})
	for i := 1; i < len(order); i++ {
		a, b := sequences[order[i-1]], sequences[order[i]]
		if len(a) <= len(b) && slices.Equal(a, b[:len(a)]) {
			if len(a) == len(b) {
				return nil, fmt.Errorf("trie: sequences %d and %d are both %v", order[i-1], order[i], a)
			}
			return nil, fmt.Errorf("trie: sequence %d, %v, is a prefix of sequence %d, %v", order[i-1], a, order[i], b)
		}
	}
	t.fill(sequences, order)
	t.firstEdge, t.tokens, t.identifier = slices.Clip(t.firstEdge), slices.Clip(t.tokens), slices.Clip(t.identifier)
	return t, nil
}

// fill lays out the nodes breadth first. order sorts the sequences.
func (t *Trie) fill(sequences [][]int32, order []int32) {
	type span struct{ from, to int32 } // sequences below a node, in order
	level := []span{{0, int32(len(order))}}
	for ; len(level) > 0; t.Depth++ {
		var next []span
		for _, n := range level {
			t.firstEdge = append(t.firstEdge, int32(len(t.tokens)))
			if n.to-n.from == 1 && len(sequences[order[n.from]]) == t.Depth {
				t.identifier = append(t.identifier, order[n.from])
				continue
			}
			t.identifier = append(t.identifier, -1)
			for from := n.from; from < n.to; {
				token := sequences[order[from]][t.Depth]
				to := from + 1
				for to < n.to && sequences[order[to]][t.Depth] == token {
					to++
				}
				t.tokens = append(t.tokens, token)
				next = append(next, span{from, to})
				from = to
			}
			if edges := len(t.tokens) - int(t.firstEdge[len(t.firstEdge)-1]); t.Depth == 0 {
				t.root = edges
			} else {
				t.most = max(t.most, edges)
			}
		}
		level = next
	}
	t.Depth--
	t.firstEdge = append(t.firstEdge, int32(len(t.tokens)))
}

// Next returns the tokens that may follow n, in order, and whether n is complete (none follows). The slice is the trie's.
func (t *Trie) Next(n Node) (tokens []int32, complete bool) {
	from, to := t.firstEdge[n], t.firstEdge[n+1]
	return t.tokens[from:to:to], t.identifier[n] >= 0
}

// Tokens returns all edges' tokens, a node's in succession; edge i leads to node i+1. The slice is the trie's.
func (t *Trie) Tokens() []int32 { return t.tokens[:len(t.tokens):len(t.tokens)] }

// Widest returns how many tokens may follow the root, and at most any other prefix.
func (t *Trie) Widest() (root, other int) { return t.root, t.most }

// FirstChild returns the node that the first token of Next(n) leads to; the i-th token leads to FirstChild(n)+i.
func (t *Trie) FirstChild(n Node) Node { return Node(t.firstEdge[n]) + 1 }

// Step returns the node after one more token; false if no sequence goes on so.
func (t *Trie) Step(n Node, token int32) (Node, bool) {
	tokens, _ := t.Next(n)
	i, ok := slices.BinarySearch(tokens, token)
	if !ok {
		return 0, false
	}
	return t.FirstChild(n) + Node(i), true
}

// Identifier returns the index of the complete sequence n; false for a prefix.
func (t *Trie) Identifier(n Node) (int, bool) {
	i := t.identifier[n]
	return int(i), i >= 0
}

// Find returns the index of a complete sequence; false if it is not in the set.
func (t *Trie) Find(sequence []int32) (int, bool) {
	n, ok := Root, true
	for _, token := range sequence {
		if n, ok = t.Step(n, token); !ok {
			return 0, false
		}
	}
	return t.Identifier(n)
}

// Nodes is the number of prefixes, with the empty prefix.
func (t *Trie) Nodes() int { return len(t.identifier) }
