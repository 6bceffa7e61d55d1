package docid

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// identifiers as T5 spells them: no string prefix is a token prefix.
var spelt = map[string][]int32{
	"0": {3, 632, 1}, "1": {209, 1}, "305": {3, 26724, 1}, "141913": {968, 2294, 2368, 1}, "18510": {507, 25926, 1},
}

func TestTrieOfT5(t *testing.T) {
	order := []string{"305", "0", "18510", "1", "141913"}
	var sequences [][]int32
	for _, text := range order {
		sequences = append(sequences, spelt[text])
	}
	checkTrie(t, sequences)
	trie, err := NewTrie(sequences)
	testkit.None(t, err)
	if root, other := trie.Widest(); root != 4 || other != 2 {
		t.Errorf("%d tokens after the root, %d after others; want 4 and 2", root, other)
	}
	for n := range trie.Nodes() {
		tokens, _ := trie.Next(Node(n))
		if first := int(trie.FirstChild(Node(n))) - 1; !slices.Equal(trie.Tokens()[first:first+len(tokens)], tokens) {
			t.Errorf("the edges of node %d are not those from %d on", n, first)
		}
	}
	testkit.Is(t, trie.Nodes(), 15)
	testkit.Is(t, trie.Depth, 4)
}

func key(s []int32) string { return string(s) }

func TestTrieErrors(t *testing.T) {
	for _, c := range []struct {
		sequences [][]int32
		want      string
	}{
		{[][]int32{{5, 1}, {4, 1}, {5, 1}}, "sequences 0 and 2 are both [5 1]"},
		{[][]int32{{5, 6, 1}, {7, 1}, {5, 6}}, "sequence 2, [5 6], is a prefix of sequence 0, [5 6 1]"},
		{[][]int32{{5}, {}}, "sequence 1 is empty"},
		{[][]int32{{5, -1}}, "sequence 0 has token -1"},
	} {
		testkit.ErrSays(t, testkit.Err(NewTrie(c.sequences)), c.want)
	}
	empty, err := NewTrie(nil)
	testkit.None(t, err)
	if tokens, complete := empty.Next(Root); len(tokens) != 0 || complete || empty.Depth != 0 || empty.Nodes() != 1 {
		t.Errorf("an empty trie allows %v", tokens)
	}
}

// TestTrieBruteForce compares with the definition: Next(u) holds v if u v is a prefix of some y.
func TestTrieBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		seen := map[string]bool{}
		var sequences [][]int32
		for range 1 + rng.IntN(60) {
			s := make([]int32, rng.IntN(5), 6)
			for i := range s {
				s[i] = 2 + rng.Int32N(4)
			}
			s = append(s, 1)
			if key := key(s); !seen[key] {
				seen[key] = true
				sequences = append(sequences, s)
			}
		}
		checkTrie(t, sequences)
	}
}

func checkTrie(t *testing.T, sequences [][]int32) {
	t.Helper()
	trie, err := NewTrie(sequences)
	testkit.None(t, err)
	prefixes := map[string]bool{"": true}
	for i, s := range sequences {
		n := Root
		for at := 0; ; at++ {
			want := map[int32]bool{}
			for _, other := range sequences {
				if len(other) > at && slices.Equal(other[:at], s[:at]) {
					want[other[at]] = true
				}
			}
			got, complete := trie.Next(n)
			if !slices.IsSorted(got) || len(got) != len(want) || complete != (at == len(s)) {
				t.Fatalf("Next(%v) = %v, %v, want %v", s[:at], got, complete, want)
			}
			for j, token := range got {
				child, ok := trie.Step(n, token)
				if !want[token] || !ok || child != trie.FirstChild(n)+Node(j) {
					t.Fatalf("Next(%v) = %v, want %v; child %d, %v", s[:at], got, want, child, ok)
				}
			}
			prefixes[key(s[:at])] = true
			if at == len(s) {
				break
			}
			if _, ok := trie.Step(n, 1<<30); ok {
				t.Fatal("an unknown token is allowed")
			}
			n, _ = trie.Step(n, s[at])
		}
		if got, ok := trie.Find(s); !ok || got != i {
			t.Fatalf("Find(%v) = %d, %v, want %d", s, got, ok, i)
		}
	}
	if trie.Nodes() != len(prefixes) {
		t.Fatalf("%d nodes, want %d", trie.Nodes(), len(prefixes))
	}
}

func FuzzTrie(f *testing.F) {
	f.Add([]byte{3, 9, 1, 0, 2, 1, 0, 3, 7, 1})
	f.Add([]byte{0, 0})
	f.Add([]byte{5, 0, 5, 6})
	f.Fuzz(func(t *testing.T, in []byte) {
		var sequences [][]int32 // separated by zeros
		s := []int32{}
		for _, b := range in {
			if b == 0 {
				sequences, s = append(sequences, s), []int32{}
				continue
			}
			s = append(s, int32(b))
		}
		sequences = append(sequences, s)
		if _, err := NewTrie(sequences); err != nil || len(in) > 200 {
			return
		}
		checkTrie(t, sequences)
	})
}
