package serialize

import (
	"bytes"
	"strings"

	"github.com/redsi/redsi/internal/system/lists"
)

// dropRule says why an element is not in the text.
type dropRule uint8

const (
	keep dropRule = iota
	dropInterface
	dropInfobox
	dropInvisible
	dropFooter // after the end of the document
	dropBeforeTitle
)

// rules are Options with sets for look-ups.
type rules struct {
	*Options
	ids, classes map[string]bool
	footers      map[string]bool
	infobox      []byte
}

func compile(o Options) *rules {
	return &rules{Options: &o, ids: lists.Set(o.RemoveIDs), classes: lists.Set(o.RemoveClasses),
		footers: lists.Set(lists.Map(o.FooterHeadings, normalizeHeading)), infobox: []byte(o.InfoboxPrefix)}
}

// attributes are the attributes that rules read of a tag; the slices live until the next tag.
type attributes struct {
	id, class        []byte
	rowspan, colspan int32 // at least 1
	start            int32 // of ol
}

func (a *attributes) hasClass(f func(class []byte) bool) bool {
	for class := range bytes.FieldsFuncSeq(a.class, isBlank) {
		if f(class) {
			return true
		}
	}
	return false
}

// isBlank reports whether a letter separates classes.
func isBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\f' || r == '\r' }

// drops reports whether an element is removed by its id or class.
func (r *rules) drops(a *attributes) bool {
	return len(a.id) > 0 && r.ids[string(a.id)] || a.hasClass(func(c []byte) bool { return r.classes[string(c)] })
}

func (r *rules) isInfobox(a *attributes) bool {
	return a.hasClass(func(c []byte) bool { return bytes.HasPrefix(c, r.infobox) })
}

// normalizeHeading is a heading for comparison: blanks joined, lower case, without final colon; [edit] went before.
func normalizeHeading(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.TrimSpace(strings.TrimRight(strings.ToLower(s), ":"))
}
