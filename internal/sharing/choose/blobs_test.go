package choose

import (
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestBlobs: a blob of several steps is one candidate of all of them; what is too large is
// left out in the order of steps and names, unless people read it.
func TestBlobs(t *testing.T) {
	s := mem.New()
	first := storetest.NewResult(t, s, "first", map[string]string{"b": "a long text", "a": "another long text", "c": "short"})
	second := storetest.NewResult(t, s, "second", map[string]string{"b": "a long text"})
	table := storetest.NewResult(t, s, "table", map[string]string{"text": "a table is long, too"})
	blobs := Blobs{}
	blobs.Outputs(0, &first, false)
	blobs.Outputs(1, &second, false)
	blobs.Outputs(2, &table, true)
	log := artifacts.Sum([]byte("a log that is long"))
	blobs.Add(1, "log", log, 18, Said)
	blobs.Addressed(map[artifacts.Digest]string{first.Outputs["a"].Digest: "https://example.org/a", log: ""})
	blobs.Take(Choice{Which: All, Over: 5})
	left := blobs.LeftOut()
	if len(left) != 2 || left[0].Name != "a" || left[0].URL != "https://example.org/a" || left[1].Name != "b" || len(left[1].Steps) != 2 {
		t.Errorf("%+v", left)
	}
	if !blobs.Has(table.Outputs["text"].Digest) || !blobs.Has(first.Outputs["c"].Digest) || blobs.Has(first.Outputs["b"].Digest) || blobs.Has(artifacts.Digest{}) {
		t.Error("what is taken is wrong")
	}
	gone, err := blobs.Away(t.Context(), s, []artifacts.Digest{first.Outputs["a"].Digest, log})
	testkit.That(t, err == nil && len(gone) == 1 && gone[0] == log, gone, err)
}
