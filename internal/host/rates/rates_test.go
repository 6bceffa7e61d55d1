package rates

import (
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

func card() Rates {
	return Rates{Format: format, Device: "NVIDIA H200", Card: true, Memory: 150e9, When: time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC), Revision: "abc", Libtorch: "2.11.0",
		Rates: []Rate{{Unit: step.Updates, Shape: "t5-base", PerSecond: 20, Memory: 9e9}, {Unit: step.Updates, Shape: "t5-base", Identifiers: "atomic", PerSecond: 15}}}
}

// TestKept: what is saved is read again, the newer in place of the older; what is damaged, of another
// version or no number is named with the reason, and what is none of these is ignored.
func TestKept(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "[1]", "rates")
	if all, bad := Read(folder); all != nil || bad != nil {
		t.Error(all, bad)
	}
	old := card()
	old.Rates[0].PerSecond = 1
	for _, r := range []Rates{old, card()} {
		file, err := Save(folder, r)
		if err != nil || filepath.Base(file) != "nvidia-h200.json" {
			t.Fatal(file, err)
		}
	}
	for name, text := range map[string]string{
		"cut":      `{"format":"redsi-rates/1","dev`,
		"other":    `{"format":"redsi-rates/2","device":"x"}`,
		"none":     `{"format":"redsi-rates/1","device":"x","rates":[]}`,
		"negative": `{"format":"redsi-rates/1","device":"x","rates":[{"unit":"updates","per_second":-1}]}`,
		"nobody":   `{"format":"redsi-rates/1","device":"?","rates":[{"unit":"updates","per_second":1}]}`,
	} {
		testkit.Write(t, filepath.Join(folder, name+".json"), text)
	}
	all, bad := Read(folder)
	testkit.Deep(t, all, []Rates{card()})
	want := []string{"cut.json: it is damaged: unexpected end", "negative.json: it is damaged: a rate is no number", "nobody.json: it is damaged: it names no device",
		"none.json: it is damaged: it names no device, or has no rates", `other.json: its format is "redsi-rates/2", this redsi reads redsi-rates/1`}
	for i, err := range bad {
		testkit.That(t, i < len(want) && strings.Contains(err.Error(), want[i]), err)
	}
	testkit.Is(t, len(bad), len(want))
	if r, err := Named(all, "nvidia-h200"); err != nil || r.Device != "NVIDIA H200" {
		t.Error(r, err)
	}
	testkit.ErrSays(t, testkit.Err(Named(all, "h100")), "rates of nvidia-h200, v100-paper")
}

// TestDocuments: between two numbers of documents and beyond the larger, time and memory grow evenly; more
// documents never take less time; one rate alone is of any number.
func TestDocuments(t *testing.T) {
	rate := func(ids string, documents int, seconds float64, memory int64) Rate {
		return Rate{Unit: step.Updates, Shape: "t5-small", Identifiers: ids, Documents: documents, PerSecond: 1 / seconds, Memory: memory}
	}
	r := Rates{Rates: []Rate{rate("", 0, 9, 0), rate("atomic", 1, 1, 10), rate("atomic", 101, 3, 30), rate("odd", 1, 2, 0), rate("odd", 101, 1, 0)}}
	for _, c := range []struct {
		ids                string
		documents, seconds float64
		memory             int64
	}{{"atomic", 1, 1, 10}, {"atomic", 51, 2, 20}, {"atomic", 101, 3, 30}, {"atomic", 201, 5, 50}, {"odd", 51, 2, 0}, {"naive", 51, 9, 0}} {
		x, ok := r.Of(step.Updates, "t5-small", c.ids, c.documents)
		if !ok || math.Abs(1/x.PerSecond-c.seconds) > 1e-9 || x.Memory != c.memory {
			t.Errorf("%+v: %g s, %d bytes", c, 1/x.PerSecond, x.Memory)
		}
	}
}

// TestPaper: the paper's hours come out again.
func TestPaper(t *testing.T) {
	p := V100()
	for _, c := range []struct {
		identifiers    string
		updates, hours float64
	}{{"naive", 900_000, 74.5}, {"semantic", 900_000, 79.1}, {"atomic", 65_000, 6.8}} {
		r, ok := p.Of(step.Updates, "t5-base", c.identifiers, Documents)
		if got := c.updates / r.PerSecond / 3600; !ok || math.Abs(got-c.hours) > 1e-9 {
			t.Errorf("%s: %g hours", c.identifiers, got)
		}
	}
	for _, x := range [][2]string{{"t5-base", "title"}, {"t5-small", "naive"}} {
		if _, ok := p.Of(step.Updates, x[0], x[1], 0); ok {
			t.Errorf("the paper prints no hours of %v", x)
		}
	}
	if got := ShapeOf("google-t5/t5-base"); got != "t5-base" || ShapeOf("google-t5/t5-large") != "" || ShapeOf("t5-base") != "" {
		t.Error(got)
	}
	// Files on the hub: 62, 242 and 892 MB, and 166 of the encoder.
	for i, want := range []float64{166e6, 62e6, 242e6, 892e6} {
		if got := float64(Shapes()[i].Bytes()); math.Abs(got-want) > 0.02*want {
			t.Errorf("%s: %g bytes", Shapes()[i].Name, got)
		}
	}
}
