package nq320k

import (
	"strings"
	"testing"
)

// TestVariantOf: the layout's names are shifted against ours, and what has none is refused with the reason.
func TestVariantOf(t *testing.T) {
	for _, c := range []struct{ form, key, folder, err string }{
		{"simplified_tags", "page_id", "data/simplified/pageid", ""},
		{"simplified", "title", "data/simplenorm/ncititle", ""},
		{"ncinorm", "url", "data/ncinorm/url", ""},
		{"htmlnorm", "text4k", "data/htmlnorm/text4k", ""},
		{"simplenorm", "url", "", "the layout's simplenorm is the form simplified"},
		{"", "url", "", "the layout does not know it"},
		{"htmlnorm", "h1", "", `key "h1" has no name in the released layout; the keys with a name are page_id, title, url, text4k`},
	} {
		v, err := VariantOf(c.form, c.key)
		if c.err == "" && (err != nil || v.Folder() != c.folder) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s, %s: %+v, %v", c.form, c.key, v, err)
		}
	}
}
