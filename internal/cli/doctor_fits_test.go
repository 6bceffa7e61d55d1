package cli

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/roofline"
)

// TestTrainsOn: doctor says of a card's memory what plan --hours says: what fits fits, and
// what does not has what to change, if anything helps.
func TestTrainsOn(t *testing.T) {
	needs := roofline.Fits(1<<40, largestUpdate()).Needs
	for _, c := range []struct {
		memory          int64
		level, note, do string
	}{
		{2 * needs, "ok", "computed: it fits", ""},
		{needs, "warn", "it does not fit", "checkpoint_activations = true"},
		{1_000_000_000, "warn", "it does not fit", "a card with "},
	} {
		if f := trainsOn(c.memory); f.level() != c.level || !strings.Contains(f.Note, c.note) || !strings.Contains(f.Do, c.do) || (f.Do == "") != f.OK {
			t.Errorf("%d bytes: %+v", c.memory, f)
		}
	}
}
