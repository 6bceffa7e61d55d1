package language_test

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline/language"
)

// The library suggests any function whose name is near; which one must not be by chance, since
// equal diagnostics become one.
func TestUnknownFunction(t *testing.T) {
	for expr, want := range map[string]string{
		`[for i in range(50) : set(i)]`:  `There is no function named "set". Did you mean "sort"?`,
		`map("a")`:                       `There is no function named "map". Did you mean "max"?`,
		`templatefile("t", {})`:          `There is no function named "maxx". Did you mean "max"?`,
		`sensitive("x")`:                 `There is no function named "sensitive". A secret is the value of a variable with sensitive = true.`,
		`completely_unlike_any("other")`: `There is no function named "completely_unlike_any".`,
	} {
		_, err := of(t, expr, map[string]string{"t": "${maxx(1)}"}, language.World{})
		if err == nil || !strings.HasSuffix(err.Error(), want) || strings.Count(err.Error(), "Error: ") != 1 {
			t.Errorf("%s: %v", expr, err)
		}
	}
}
