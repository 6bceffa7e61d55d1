package glob_test

import (
	"testing"

	"github.com/redsi/redsi/internal/system/glob"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"*.csv", "a.csv", true}, {"*.csv", "b/a.csv", false}, {"**/*.csv", "a.csv", true}, {"**/*.csv", "b/c/a.csv", true},
		{"b/**", "b", false}, {"b/**", "b/c/d", true}, {"b/**/d", "b/d", true}, {"b/**/d", "b/c/c/d", true}, {"**", "x/y", true},
		{"**/**/x", "x", true}, {"[!a]b", "cb", true}, {"[!a]b", "ab", false}, {"?", "ü", true}, {"*", ".hidden", true}, {"a", "a/b", false},
		{`\*`, "*", true}, {"a[", "a[", false}, {"**/**/**/**/**/**/**/z", "a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t", false},
	} {
		if got := glob.Match(c.pattern, c.name); got != c.want {
			t.Errorf("%s fits %s: %v", c.name, c.pattern, got)
		}
	}
	for pattern, want := range map[string][2]string{
		"data/**/*.csv": {"data", "**/*.csv"}, "a/b": {"a/b", ""}, "*.x": {"", "*.x"}, "/a/[b]/c": {"/a", "[b]/c"},
	} {
		if folder, rest := glob.Split(pattern); folder != want[0] || rest != want[1] {
			t.Errorf("%s is %q and %q", pattern, folder, rest)
		}
	}
	for pattern, ok := range map[string]bool{"a/[b": false, "[[:digit:]]": false, "a/[!b]*?": true, `a\`: false} {
		if (glob.Check(pattern) == nil) != ok {
			t.Errorf("%s: %v", pattern, glob.Check(pattern))
		}
	}
}
