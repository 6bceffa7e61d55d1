package docid

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

func spelled(numbers []uint64) string { return strings.Trim(fmt.Sprint(numbers), "[]") }

// permuted returns the head of a possible permutation.
func permuted(t *testing.T, g Generator, n int, b, seed uint64) []uint64 {
	t.Helper()
	p, err := g.head(n, b, seed)
	testkit.None(t, err)
	return p
}

// TestPythonPermutation compares with random.Random(seed).shuffle of CPython (tools/golden/permutation.py): the first
// numbers, the last of n and the first digits of the SHA-256 of all n, a line each.
func TestPythonPermutation(t *testing.T) {
	const documents = 109_739 // of the paper's NQ320K-Title
	for _, c := range []struct {
		n       int
		b, seed uint64
		first   string
		last    uint64
		sum     string
	}{
		{20, 20, 42, "19 5 14 4 9 13 15 18 6 12 17 10 1 11 2 16 7 8 0 3", 3, "a2f8a47fa1f8a3d7"},
		{20, 1000, 42, "776 507 895 922 33 483 85 750 354 523 184 809 418 615 682 501 760 49 732 336", 336, "8ba34a6dadb63ce0"},
		{documents, 320_000, 42, "128964 271951 254459 284000 223762 104881 198384 131121 13413 79170 257114 103957 212408 283815 105180 175277 151325 172302 77621 71709", 94696, "6c793fb205fe237b"},
		{109_229, 320_000, 42, "128964 271951 254459", 110070, "4951a89e524f8238"},
		{documents, 320_000, 43, "97386 141624 298478", 126518, "989e8fd02e92ed07"},
		{documents, 320_000, 44, "52638 90478 152646", 231951, "833672b47b20643e"},
		{documents, 320_000, 45, "119875 175041 192036", 95641, "80b775e2036006fa"},
		{documents, 320_000, 46, "75392 170896 151059", 181811, "b565cf93755a2ac4"},
		{documents, documents, 42, "18174 19130 66235", 83810, "787264ec2ef257e7"},
		{documents, 219_478, 42, "45505 177301 206340", 88598, "f6379e5f0280fa39"},
		{documents, 438_956, 42, "261276 318069 235252", 419189, "d226e0b795a1f964"},
		{documents, 877_912, 42, "493430 401012 109618", 639677, "101d0f7f7b464b42"},
		{documents, 1_755_824, 42, "498655 597077 1598702", 821279, "bdb4035707c5fe12"},
		{documents, 3_511_648, 42, "1327254 838413 1497190", 3384853, "89b23c745a96bd1d"},
		{10, 10, 1 << 40, "7 8 2 4 6 0 3 9 5 1", 1, "4704a2696cfe5f77"},
		{10, 10, 0, "7 8 1 5 3 4 2 0 9 6", 6, "4784182e36f01726"},
	} {
		p := permuted(t, GeneratorPython, c.n, c.b, c.seed)
		h := sha256.New()
		w := bufio.NewWriter(h)
		for _, n := range p {
			fmt.Fprintln(w, n)
		}
		w.Flush()
		if first := spelled(p[:len(strings.Fields(c.first))]); first != c.first || p[c.n-1] != c.last || fmt.Sprintf("%x", h.Sum(nil)[:8]) != c.sum {
			t.Errorf("b %d, seed %d: %s …, %d, %x; want %+v", c.b, c.seed, first, p[c.n-1], h.Sum(nil)[:8], c)
		}
	}
	// The figure's identifier is one of the paper's collection.
	if place := slices.Index(permuted(t, GeneratorPython, documents, 320_000, 42), 141913); place != 105_605 {
		t.Errorf("141913 is document %d", place)
	}
	source := pythonSource(42)
	for _, want := range []uint32{2746317213, 478163327, 107420369, 3184935163} {
		testkit.Is(t, source.Uint32(), want, "draw")
	}
}

// TestPCGPermutation fixes the numbers of a seed: they must never change.
func TestPCGPermutation(t *testing.T) {
	for _, c := range []struct {
		b    uint64
		want string
	}{
		{8, "6 7 2 3 4 1 5 0"},
		{320_000, "274414 307428 43615 28325 59339 309246 297203 116378"},
	} {
		testkit.Is(t, spelled(permuted(t, GeneratorPCG, 8, c.b, 42)), c.want, "budget", c.b)
	}
}

// TestPermutationIsUniform counts where element 0 goes and which element comes first, over many seeds.
func TestPermutationIsUniform(t *testing.T) {
	const b, seeds = 7, 7_000
	for _, g := range []Generator{GeneratorPython, GeneratorPCG} {
		var place, first [b]int
		for seed := range uint64(seeds) {
			p := permuted(t, g, b, b, seed)
			place[slices.Index(p, 0)]++
			first[p[0]]++
			slices.Sort(p)
			for i, v := range p {
				if v != uint64(i) {
					t.Fatalf("%s, seed %d: no permutation", g, seed)
				}
			}
		}
		for i := range b {
			if place[i] < 850 || place[i] > 1150 || first[i] < 850 || first[i] > 1150 {
				t.Errorf("%s, position %d: %d times 0, element %d first %d times; want about 1000", g, i, place[i], i, first[i])
			}
		}
	}
}
