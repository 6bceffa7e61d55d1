package cards

import (
	"reflect"
	"strings"
	"testing"
)

// TestGPUs: --gpus is a number, all, or a list; of so many cards that there are.
func TestGPUs(t *testing.T) {
	for _, c := range []struct {
		text string
		have int
		want []int
		says string
	}{
		{"1", 4, []int{0}, ""},
		{"3", 4, []int{0, 1, 2}, ""},
		{"all", 3, []int{0, 1, 2}, ""},
		{"0,2", 4, []int{0, 2}, ""},
		{"cuda:3, cuda:1", 4, []int{3, 1}, ""},
		{"cuda:2", 4, []int{2}, ""},
		{"4", 3, nil, "--gpus: this process sees 3 cards, numbered 0 to 2"},
		{"0,7", 1, nil, "this process sees 1 card, numbered 0 to 0"},
		{"0", 4, nil, "--gpus 0: that is not a card"},
		{"-1", 4, nil, "that is not a card"},
		{"two", 4, nil, `"two" is not a card`},
		{"0,", 4, nil, `"" is not a card`},
		{"1,1", 4, nil, "card 1 is listed twice"},
	} {
		got, err := asked(c.text, c.have)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s of %d: %v, %v", c.text, c.have, got, err)
		}
	}
}
