package choose

import (
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestChoice: what is necessary is taken, then what is rendered, then the smallest.
func TestChoice(t *testing.T) {
	for _, c := range []struct {
		choice Choice
		want   string
	}{
		{Choice{Which: All}, "11111"},
		{Choice{Which: Tables}, "11000"},
		{Choice{Which: None}, "10000"},
		{Choice{Which: All, Over: 50}, "11110"},
		{Choice{Which: All, Fit: 1000 + 500 + 15}, "11100"},
		{Choice{Which: All, Fit: 1}, "11000"},
	} {
		all := []*Candidate{{Size: 1000, Use: Necessary}, {Size: 500, Use: Rendered}, {Size: 10, Use: Intermediate}, {Size: 40, Use: Intermediate}, {Size: 60, Use: Intermediate}}
		blobs := Blobs{}
		for i, x := range all {
			x.Digest[0] = byte(i)
			blobs[x.Digest] = x
		}
		blobs.Take(c.choice)
		got := ""
		for _, x := range all {
			got += map[bool]string{true: "1", false: "0"}[x.Taken]
		}
		testkit.Is(t, got, c.want, c.choice)
	}
}
