package questions

import (
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestLists: every number is there once, and is found by its list's name.
func TestLists(t *testing.T) {
	for name, want := range map[string]int{"acl": 18, "neurips": 16} {
		l, ok := Of(name)
		if !ok || len(l.Questions) != want || len(l.Numbers()) != want || l.Title == "" || l.Source == "" {
			t.Fatalf("%s: %v, %d questions", name, ok, len(l.Questions))
		}
		seen := map[string]bool{}
		for _, q := range l.Questions {
			testkit.That(t, !seen[q.Number] && q.Title != "" && l.Has(q.Number), name, q)
			seen[q.Number] = true
		}
		if l.Has("Z9") {
			t.Errorf("%s has Z9", name)
		}
	}
	if _, ok := Of("other"); ok || len(Names()) != 2 {
		t.Error("a list that is not there")
	}
}
