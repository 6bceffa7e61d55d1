package synth

import (
	"fmt"
	"strings"
)

// titleAt is the title of a page's revision. Titles of different pages are
// different under every key unless their design says otherwise, because each
// holds the keyword of its page, or of its group's first page.
func (p *page) titleAt(revision int) string {
	second := revision > 0 && p.design.shown() > 1
	key := keyword(uint64(p.cfg.Seed), p.first)
	switch p.design {
	case renamed:
		if second {
			return key + " (" + p.cat.noun + ")"
		}
		return key + " (" + pick(&rng{mix(uint64(p.cfg.Seed), forNames, uint64(p.first), 1)}, nouns) + ")"
	case caseTwin:
		return []string{"It Takes a " + key + " Village", "It takes a " + key + " village", "It Takes A " + key + " Village"}[p.part]
	case accentTwin:
		return []string{"Café " + key, "Cafe " + key}[p.part]
	case unknownTwin:
		return []string{key + " 😀", key + " 🤖"}[p.part]
	case titleGiver:
		if second {
			return "The " + key + " (" + p.cat.noun + ")"
		}
		return "The " + key
	case titleTaker:
		return "The " + key
	case dashed:
		year := 1880 + p.first%120
		return fmt.Sprintf("%d–%02d %s season", year, (year+1)%100, key)
	case quoted:
		return `"` + key + `" (` + p.cat.noun + ")"
	}
	return p.plainTitle(key)
}

func (p *page) plainTitle(key string) string {
	switch r := (&rng{mix(uint64(p.cfg.Seed), forNames, uint64(p.index))}); r.n(18) {
	case 0, 1, 2:
		return key
	case 3, 4, 5:
		return key + " " + p.cat.form
	case 6, 7:
		return key + " (" + p.cat.noun + ")"
	case 8:
		return "The " + name(r) + " of " + key
	case 9:
		return key + " & Sons"
	case 10:
		return "U.S. " + key + " " + p.cat.form
	case 11:
		return key + "'s " + p.cat.form
	case 12:
		return key + ": " + name(r) + "'s Return"
	case 13:
		return "Who Is " + key + "?"
	case 14:
		return key + ", " + name(r)
	case 15:
		return key + "; or, the " + name(r)
	case 16:
		return "100% " + key
	}
	return "List of " + key + " " + p.cat.noun + "s"
}

// urlTitle is the title as MediaWiki writes it into URLs: blanks as "_", and
// percent-encoding but for letters, digits and -_.;@$!*(),/:
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
