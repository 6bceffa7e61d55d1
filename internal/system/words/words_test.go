package words

import (
	"strings"
	"testing"
	"time"
)

func TestWords(t *testing.T) {
	list := strings.Fields("a b c d")
	for got, want := range map[string]string{
		Count(0, "step"): "0 steps", Count(1, "step"): "1 step", Count(1200, "step"): "1200 steps",
		Size(-1): "0 B", Size(82_000): "82 kB", Size(1_500_000_000): "1.5 GB",
		Seconds(440 * time.Millisecond): "0.4 s", Seconds(9970 * time.Millisecond): "10 s", Seconds(119_700 * time.Millisecond): "2 min 0 s",
		Seconds(200 * time.Second): "3 min 20 s", Seconds(312 * time.Minute): "5 h 12 min",
		Clip("four", 4): "four", Clip("größer", 3): "grö…",
		And(nil, 2): "", And(list, 4): "a, b, c, d", And(list, 1): "a and 3 more",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
