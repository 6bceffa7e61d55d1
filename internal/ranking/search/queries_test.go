package search

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestReadQueries: empty lines are counted and left out, and a line that is no query is named.
func TestReadQueries(t *testing.T) {
	queries, empty, err := ReadQueries(strings.NewReader("who sings\n\n  \nwho asks\n"))
	testkit.That(t, err == nil && empty == 2 && strings.Join(queries, "|") == "who sings|who asks", queries, empty, err)
	for text, want := range map[string]string{"\n\n": "no query in its 2 lines", "a\n\xff\n": "standard input, line 2: "} {
		if _, _, err := ReadQueries(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
