package nq

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

func TestAbridged(t *testing.T) {
	line := `{"example_id":-6915606477668963399,"question_tokens":["what","do","the"],"document_html":"<!DOCTYPE html>\n<HTML class=\"a\">",` +
		`"document_tokens":[{"token":"Therefore","html_token":false,"start_byte":92},{"token":"sign"}],"annotations":[{"annotation_id":13591449469826568799,"short_answers":[]}],"none":null,"empty":{}}`
	want := `{
  "example_id": -6915606477668963399,
  "question_tokens": ["what", "do", "the"],
  "document_html": "<!DOCTYPE ...",
  "document_tokens": [
    {
      "token": "Therefore",
      "html_token": false,
      "start_byte": 92
    },
    ...
  ],
  "annotations": [
    {
      "annotation_id": 13591449469826568799,
      "short_answers": []
    }
  ],
  "none": null,
  "empty": {}
}
`
	var b strings.Builder
	if err := (Abridged{Items: 1, Characters: 10}).Print(&b, []byte(line)); err != nil || b.String() != want {
		t.Errorf("%v\n%s", err, b.String())
	}
	for _, bad := range []string{"", "{", `{"a":[1,`, `{"a":}`} {
		testkit.Some(t, (Abridged{Items: 1}).Print(&b, []byte(bad)), bad)
	}
}
