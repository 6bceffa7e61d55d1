package doctor

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/host/roofline"
)

// TestTrainsOn: doctor says of a card's memory what plan --hours says: what fits fits, and
// what does not has what to change, if anything helps.
func TestTrainsOn(t *testing.T) {
	var needs int64
	for _, f := range roofline.PaperFits(1 << 40) {
		if f.Paper {
			needs = f.Needs // of the largest, in the end
		}
	}
	for _, c := range []struct {
		memory          int64
		level, note, do string
	}{
		{2 * needs, "ok", "every training of the paper fits, by computation", ""},
		{needs, "warn", "except T5-Base, atomic identifiers, which needs ", "a card with "},
		{1_000_000_000, "warn", "except ", "a card with "},
	} {
		if f := trainsOn(c.memory); f.level() != c.level || !strings.Contains(f.Note, c.note) || !strings.Contains(f.Do, c.do) || (f.Do == "") != f.OK {
			t.Errorf("%d bytes: %+v", c.memory, f)
		}
	}
}
