package values

import (
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestID: a page or revision is a whole number, not what a text begins with.
func TestID(t *testing.T) {
	for said, want := range map[string]uint64{"12": 12, " 12 ": 12, "12.0": 12, "1e5": 100000, "18446744073709551615": 1<<64 - 1} {
		testkit.Of(t, want, said)(ID(said))
	}
	for _, said := range []string{"12abc", "0x10", "12 34", "12,5", "12.5", "-1", "1e30", "NaN", "Infinity", "18446744073709551616", ""} {
		if n, err := ID(said); err == nil {
			t.Errorf("%q: %d", said, n)
		}
	}
}

// TestAdd: numbers at every depth, and maps that one side lacks.
func TestAdd(t *testing.T) {
	type part struct {
		N    int
		Text string
	}
	type whole struct {
		Part  part
		F     float64
		By    map[string]*part
		Of    map[string]int
		List  []int
		inner int
	}
	a := whole{Part: part{1, "a"}, F: 0.5, List: []int{1}, inner: 1}
	more := whole{Part: part{2, "b"}, F: 1, By: map[string]*part{"x": {3, "c"}}, Of: map[string]int{"y": 4}, List: []int{2}, inner: 1}
	Add(&a, more)
	Add(&a, more)
	if a.Part != (part{5, "a"}) || a.F != 2.5 || *a.By["x"] != (part{6, ""}) || a.Of["y"] != 8 || len(a.List) != 1 || a.inner != 1 || more.By["x"].N != 3 {
		t.Errorf("%+v", a)
	}
}
