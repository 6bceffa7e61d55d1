package report

import (
	"fmt"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestTitlesOf: a row leaves out the titles that the row above it shows, except the last.
func TestTitlesOf(t *testing.T) {
	for _, c := range []struct {
		titles, above []string
		want          string
	}{
		{[]string{"a", "x"}, nil, "[{a false} {x false}]"},
		{[]string{"a", "y"}, []string{"a", "x"}, "[{a true} {y false}]"},
		{[]string{"b", "x"}, []string{"a", "x"}, "[{b false} {x false}]"},
		{[]string{"b", "x", "2"}, []string{"a", "x", "1"}, "[{b false} {x false} {2 false}]"},
		{[]string{"a"}, []string{"a"}, "[{a false}]"},
	} {
		testkit.Is(t, fmt.Sprint(titlesOf(c.titles, c.above)), c.want, c.titles, c.above)
	}
}
