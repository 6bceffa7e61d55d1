package words

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/system/testkit"
)

func TestWords(t *testing.T) {
	list := strings.Fields("a b c d")
	for got, want := range map[string]string{
		Count(0, "step"): "0 steps", Count(1, "step"): "1 step", Count(1200, "step"): "1200 steps",
		Size(-1): "0 B", Size(82_000): "82 kB", Size(1_500_000_000): "1.5 GB",
		Seconds(440 * time.Millisecond): "0.4 s", Seconds(9970 * time.Millisecond): "10 s", Seconds(119_700 * time.Millisecond): "2 min 0 s",
		Seconds(40 * time.Millisecond): "0.0 s", Seconds(9949 * time.Millisecond): "9.9 s", Seconds(119_400 * time.Millisecond): "119 s", Seconds(7199_700 * time.Millisecond): "2 h 0 min",
		Seconds(200 * time.Second): "3 min 20 s", Seconds(312 * time.Minute): "5 h 12 min",
		Clip("four", 4): "four", Clip("größer", 3): "grö…",
		strings.Join(Counts(Number{3, "hit"}, Number{0, "ran"}, Number{1, "failed"}), ", "): "3 hit, 1 failed",
		Of(1, "has", "have"): "has", Of(2, "has", "have"): "have",
		And(nil, 2): "", And(list, 4): "a, b, c, d", And(list, 1): "a and 3 more",
	} {
		testkit.Is(t, got, want)
	}
}

func TestFirst(t *testing.T) {
	list := strings.Fields("a b c d")
	for most, want := range map[int]string{0: "+4", 1: "0a+3", 3: "0a1b2c+1", 4: "0a1b2c3d", 9: "0a1b2c3d"} {
		said := ""
		for i, x := range First(list, most, func(left int) { said += fmt.Sprintf("+%d", left) }) {
			said += fmt.Sprint(i) + x
		}
		testkit.Is(t, said, want, "the first", most)
	}
	for range First(list, 2, func(int) { t.Error("more is told to who has stopped") }) {
		break
	}
}
