package kinds_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestEffectsOfNumbers: what is compared is a number in every run; a text or a truth is
// not taken for 0.
func TestEffectsOfNumbers(t *testing.T) {
	l := newLocal(t)
	runs := func(last string) (list []any) {
		for i, level := range []string{"without", "with"} {
			text := fmt.Sprintf(`{"mrr":%d}`, 10*i)
			if i == 1 {
				text = last
			}
			list = append(list, map[string]any{"group": "atomic", "level": level, "other": "title", "seed": json.Number("42"), "report": l.blob("file", []byte(text))})
		}
		return list
	}
	for text, want := range map[string]string{
		`{"mrr":10}`:     "",
		`{"mrr":"10"}`:   `with, title, seed 42: field "mrr" is not a number`,
		`{"mrr":true}`:   `with, title, seed 42: field "mrr" is not a number`,
		`{"mrr":null}`:   `with, title, seed 42: field "mrr" is not a number`,
		`{"mrr":[1, 2]}`: `with, title, seed 42: field "mrr" is [1,2], not a number or a text`,
	} {
		_, err := l.do("effects", map[string]any{"runs": runs(text), "field": "mrr", "from": "without", "to": "with"})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
