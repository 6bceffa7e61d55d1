package values

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/system/testkit"
)

type part struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

type whole struct {
	part                 // its fields stand beside the others
	Doc  int32           `json:"doc"`
	When time.Time       `json:"when"`
	Raw  json.RawMessage `json:"raw,omitempty"`
	Skip int             `json:"-"`
	Note string          `json:"note,omitempty"`
	One  *part           `json:"one,omitempty"`
	List []part          `json:"list"`
	By   map[string]part `json:"by,omitzero"`
	Far  [][]*part       `json:"far,omitempty"`
	Kids []whole         `json:"kids,omitempty"`
}

// TestWritten takes whatever encoding/json writes, and names the first field that lacks.
func TestWritten(t *testing.T) {
	full := whole{One: &part{}, List: []part{{}, {Name: "null"}}, By: map[string]part{"a": {}, "b": {}}}
	for _, v := range []whole{{}, full} {
		for _, indent := range []string{"", " "} {
			text, err := json.MarshalIndent(v, "", indent)
			testkit.None(t, err)
			testkit.None(t, Written(text, new(whole)), text)
		}
	}
	const end = ": the text was cut, edited, or written by another program"
	for text, want := range map[string]string{
		`{}`:                      "there is no field name" + end,
		`{"name":"","size":null}`: "there is no field size" + end,
		`{"name":"","size":null,"doc":0,"when":"2026-01-01T00:00:00Z","list":null}`:                                            "there is no field size" + end,
		`{"name":"","size":0,"doc":0,"when":"2026-01-01T00:00:00Z","list":[{"name":"","size":0},{"name":""}]}`:                 "there is no field list.1.size" + end,
		`{"name":"","size":0,"doc":0,"when":"2026-01-01T00:00:00Z","list":[],"one":{"size":0}}`:                                "there is no field one.name" + end,
		`{"name":"","size":0,"doc":0,"when":"2026-01-01T00:00:00Z","list":[],"by":{"b":{"name":""},"a":{"name":"","size":0}}}`: "there is no field by.b.size" + end,
		`{"name":"","size":0,"doc":0,"when":"2026-01-01T00:00:00Z","list":[],"far":[[],[{"name":""}]]}`:                        "there is no field far.1.0.size" + end,
		`{"size":0,"doc":0,"when":"2026-01-01T00:00:00Z","list":[{"name":"","size":0}]}`:                                       "there is no field name" + end,
		`{"name":"","size":0,"doc":0,"when":"2026-01-01T00:00:00Z","list":[],"kids":[{"name":"","size":0,"doc":0}]}`:           "there is no field kids.0.when" + end,
		`{"name":"","size":0,"Doc":0,"when":"2026-01-01T00:00:00Z","list":[]}`:                                                 "there is no field doc" + end,
	} {
		if err := Written([]byte(text), new(whole)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
