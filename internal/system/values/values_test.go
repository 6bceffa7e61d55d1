package values

import "testing"

// TestID: a page or revision is a whole number, not what a text begins with.
func TestID(t *testing.T) {
	for said, want := range map[string]uint64{"12": 12, " 12 ": 12, "12.0": 12, "1e5": 100000, "18446744073709551615": 1<<64 - 1} {
		if n, err := ID(said); err != nil || n != want {
			t.Errorf("%q: %d, %v", said, n, err)
		}
	}
	for _, said := range []string{"12abc", "0x10", "12 34", "12,5", "12.5", "-1", "1e30", "NaN", "Infinity", "18446744073709551616", ""} {
		if n, err := ID(said); err == nil {
			t.Errorf("%q: %d", said, n)
		}
	}
}
