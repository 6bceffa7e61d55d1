package kinds_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/system/errtest"
)

// TestTokensOfTheirOwn: tokens that the tokenizer does not have are shown as what they
// stand for in the identifier.
func TestTokensOfTheirOwn(t *testing.T) {
	f := newTraining(t, newLocal(t))
	for _, kind := range []docid.Kind{docid.KindAtomic, docid.KindResidual} {
		ids := f.ids(kind)
		res, err := f.do("id_tokens", map[string]any{"tokenizer": f.config["tokenizer"], "ids": f.set(ids), "documents": []any{int64(0), int64(7)}})
		errtest.None(t, err)
		var report struct {
			Examples []struct{ Pieces []string }
		}
		f.json(res.Outputs["report"], &report)
		for i, place := range []int{0, 7} {
			want := strings.Split(ids.Identifiers[place].Text, "-")
			if !kind.OneToken() {
				want = append(want, "</s>")
			}
			if got := report.Examples[i].Pieces; !slices.Equal(got, want) {
				t.Errorf("%s: pieces %q, want %q", kind, got, want)
			}
		}
	}
}
