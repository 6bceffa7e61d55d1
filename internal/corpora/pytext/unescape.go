package pytext

import (
	"html"
	"regexp"
	"strings"

	"github.com/redsi/redsi/internal/system/lists"
)

// dropped matches references to control characters and to code points that are no characters.
var dropped = regexp.MustCompile(`(?i)&#(?:0*(?:[1-8]|1[14-9]|2[0-9]|3[01]|127|6497[6-9]|649[89][0-9]|6500[0-7]|6553[45])|x0*(?:[1-8bef]|1[0-9a-f]|7f|fd[de][0-9a-f]|[0-9a-f]{0,2}fff[ef]))(?:;|\b)`)

// Unescape is Python's html.unescape, which removes dropped references; html.UnescapeString gives their characters.
func Unescape(s string) string {
	if !strings.Contains(s, "&#") {
		return html.UnescapeString(s)
	}
	// The parts are unescaped one by one: joined, they could form new references.
	return strings.Join(lists.Map(dropped.Split(s, -1), html.UnescapeString), "")
}
