package report

import (
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/internal/system/words"
)

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{8.799999999: "8.8", -0.00004: "0", 109739: "109,739", 0.12345: "0.1235", -2.5: "−2.5", 1e6 / 3: "333,333.3333"} {
		testkit.Is(t, number(&v), want, v)
	}
	for s, want := range map[float64]string{0.04: "0.0 s", 9.96: "10 s", 119.4: "119 s", 199.7: "3 min 20 s", 7200: "2 h 0 min", 280800: "78 h 0 min"} {
		testkit.Is(t, words.Took(s), want, s)
	}
}
