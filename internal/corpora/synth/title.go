package synth

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// titleAt returns a revision's title, which holds the keyword of its page or of its group's first page: under every key,
// titles of different pages differ unless their design says otherwise.
func (p *page) titleAt(revision int) string {
	variant := p.variant(uint8(revision))
	switch p.design {
	case renamed:
		return p.key + []string{" (book)", " (novel)"}[variant]
	case caseTwin:
		return []string{"It Takes a " + p.key + " Village", "It takes a " + p.key + " village", "It Takes A " + p.key + " Village"}[p.part]
	case accentTwin:
		return []string{"Café " + p.key, "Cafe " + p.key}[p.part]
	case unknownTwin:
		return []string{p.key + " 😀", p.key + " 🤖"}[p.part]
	case titleGiver:
		return "The " + p.key + []string{"", " (film)"}[variant]
	case titleTaker:
		return "The " + p.key
	case dashed:
		year := 1880 + p.first%120
		return fmt.Sprintf("%d–%02d %s season", year, (year+1)%100, p.key)
	case quoted:
		return `"` + p.key + `" (song)`
	}
	return fmt.Sprintf(pick(newRNG(uint64(p.cfg.Seed), forNames, uint64(p.index)), plainTitles), p.key)
}

var plainTitles = []string{
	"%s", "%s River", "%s Island", "%s (castle)", "The Return of %s", "%s & Sons", "U.S. %s Company", "%s's Letters", "%s: The Sequel",
	"Who Is %s?", "%s, Ohio", "%s; or, the Voyage", "100%% %s", "List of %s museums",
}

// titlePieces returns a title's tokens with Natural Questions' Penn Treebank replacements of quotation marks and dashes.
func titlePieces(title string) (list []piece) {
	quotes := [2]string{"``", "''"}
	for field := range strings.FieldsSeq(title) {
		gap := " "
		for field != "" {
			r, n := utf8.DecodeRuneInString(field)
			end := strings.IndexFunc(field, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			switch {
			case strings.HasPrefix(field, "U.S."):
				n = 4
			case strings.HasPrefix(field, "'s"):
				n = 2
			case end < 0:
				n = len(field)
			case end > 0:
				n = end
			}
			text := field[:n]
			switch r {
			case '"':
				text = quotes[0]
				quotes[0], quotes[1] = quotes[1], quotes[0]
			case '–':
				text = "--"
			}
			list = append(list, piece{Gap: gap, HTML: escaped.Replace(field[:n]), Text: text})
			field, gap = field[n:], ""
		}
	}
	return list
}

// escaped writes text as the HTML of Natural Questions has it.
var escaped = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")

// urlTitle is a title in MediaWiki's URLs: blanks as "_", all except letters, digits and -_.;@$!*(),/: percent-encoded.
func urlTitle(title string) string {
	const safe = "-_.;@$!*(),/:"
	var b strings.Builder
	for i := 0; i < len(title); i++ {
		switch c := title[i]; {
		case c == ' ':
			b.WriteByte('_')
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte(safe, c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
