package bm25

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
)

// The stemmers of this file follow the descriptions of Snowball 3.1
// (<https://snowballstem.org/algorithms/>), for the tokens of Words: in lower case, without
// apostrophes. A capital is a letter that counts as no vowel there.

// cutting is a word whose endings are cut.
type cutting struct {
	word   string
	r1, r2 int // where its regions begin, an ending is in one that it begins in; len(word) for none
	limit  int // endings are looked for from here on
}

// cut applies the rule of the longest ending that the word has, and returns that ending; or
// "" where there is none, it is not in the region, or the letter before it is not one of the
// rule's. A rule is ENDING, or ENDING:REPLACEMENT, with LETTERS| before it if it has any.
func (c *cutting) cut(region int, rules string) string {
	var letters, end, by string
	for rule := range strings.FieldsSeq(rules) {
		l, e, ok := strings.Cut(rule, "|")
		if !ok {
			l, e = "", rule
		}
		e, b, _ := strings.Cut(e, ":")
		if len(e) > len(end) && strings.HasSuffix(c.word[min(c.limit, len(c.word)):], e) {
			letters, end, by = l, e, b
		}
	}
	stem := strings.TrimSuffix(c.word, end)
	last, _ := utf8.DecodeLastRuneInString(stem)
	if end == "" || len(stem) < region || letters != "" && !strings.ContainsRune(letters, last) {
		return ""
	}
	c.word = stem + by
	return end
}

// syllable is where the first consonant behind a vowel ends, from an offset on.
func (c *cutting) syllable(vowels string, from int) int {
	at := strings.IndexAny(c.word[from:], vowels)
	if at < 0 {
		return len(c.word)
	}
	rest := strings.TrimLeft(c.word[from+at:], vowels)
	_, n := utf8.DecodeRuneInString(rest)
	return len(c.word) - len(rest) + n
}

// germanic has the regions of German, Norwegian and Swedish: the first begins behind three
// letters or more.
func germanic(word, vowels string) cutting {
	c := cutting{word: word}
	c.r1 = c.syllable(vowels, 0)
	c.r2 = c.syllable(vowels, c.r1)
	n := 0
	for i := range word {
		if n++; n == 4 {
			c.r1 = max(c.r1, i)
			return c
		}
	}
	c.r1 = len(word)
	return c
}

var (
	english3Stems = map[string]string{"skis": "ski", "skies": "sky", "idly": "idl", "gently": "gentl", "ugly": "ugli", "early": "earli", "only": "onli",
		"singly": "singl", "sky": "sky", "news": "news", "howe": "howe", "atlas": "atlas", "cosmos": "cosmos", "bias": "bias", "andes": "andes"}
	english3Whole  = set("proceed proceedly exceed exceedly succeed succeedly inning outing canning herring earring evening")
	english3Region = regexp.MustCompile(`^(gener|commun|arsen|past|univers|later|emerg|organ|inter)`)
	english3Plural = regexp.MustCompile(`[aeiouy].+$`)
	english3Dying  = regexp.MustCompile(`^[^aeiouy]y$`)
	english3Short  = regexp.MustCompile(`([^aeiouy][aeiouy][^aeiouywxY]|^[aeiouy][^aeiouy]|past)$`)
	english3Double = regexp.MustCompile(`(bb|dd|ff|gg|mm|nn|pp|rr|tt)$`)
	english3Y      = regexp.MustCompile(`^(.+[^aeiouy])[yY]$`)
)

func english3(word string) string {
	if stem, ok := english3Stems[word]; ok {
		return stem
	}
	if utf8.RuneCountInString(word) < 3 {
		return word
	}
	const vowels = "aeiouy"
	b := []byte(word)
	for i := range b {
		if b[i] == 'y' && (i == 0 || strings.IndexByte(vowels, b[i-1]) >= 0) {
			b[i] = 'Y'
		}
	}
	c := cutting{word: string(b)}
	if c.r1 = len(english3Region.FindString(c.word)); c.r1 == 0 {
		c.r1 = c.syllable(vowels, 0)
	}
	c.r2 = c.syllable(vowels, c.r1)

	switch c.cut(0, "sses:ss ied:i ies:i s us:us ss:ss") {
	case "ied", "ies":
		if utf8.RuneCountInString(c.word) < 3 {
			c.word += "e"
		}
	case "s":
		if !english3Plural.MatchString(c.word) {
			c.word += "s"
		}
	}
	switch end := c.cut(0, "eed eedly ed edly ing ingly"); {
	case end == "":
	case english3Whole[c.word+end], strings.HasPrefix(end, "eed") && len(c.word) < c.r1:
		c.word += end
	case strings.HasPrefix(end, "eed") && len(c.word) >= c.r1:
		c.word += "ee"
	case end == "ing" && english3Dying.MatchString(c.word):
		c.word = strings.TrimSuffix(c.word, "y") + "ie"
	case !strings.ContainsAny(c.word, vowels):
		c.word += end
	case c.cut(0, "at:ate bl:ble iz:ize") != "":
	case english3Double.MatchString(c.word):
		if len(c.word) > 3 || !strings.ContainsAny(c.word[:1], "aeo") {
			c.word = c.word[:len(c.word)-1]
		}
	case len(c.word) == c.r1 && english3Short.MatchString(c.word):
		c.word += "e"
	}
	c.word = english3Y.ReplaceAllString(c.word, "${1}i")
	c.cut(c.r1, "tional:tion enci:ence anci:ance abli:able entli:ent izer:ize ization:ize ational:ate ation:ate ator:ate alism:al aliti:al alli:al fulness:ful "+
		"ousli:ous ousness:ous iveness:ive iviti:ive biliti:ble bli:ble ogist:og l|ogi:og fulli:ful lessli:less cdeghkmnrt|li")
	if c.cut(c.r1, "tional:tion ational:ate alize:al icate:ic iciti:ic ical:ic ful ness") == "" {
		c.cut(c.r2, "ative")
	}
	c.cut(c.r2, "al ance ence er ic able ible ant ement ment ent ism ate iti ous ive ize st|ion")
	if stem, e := strings.CutSuffix(c.word, "e"); e && len(stem) >= c.r1 && (len(stem) >= c.r2 || !english3Short.MatchString(stem)) {
		c.word = stem
	} else {
		c.cut(c.r2, "l|l")
	}
	return strings.ReplaceAll(c.word, "Y", "y")
}

var (
	german3Spelling = strings.NewReplacer("ß", "ss", "ae", "ä", "oe", "ö", "ue", "ü", "qu", "qu")
	german3Plain    = strings.NewReplacer("U", "u", "Y", "y", "ä", "a", "ö", "o", "ü", "u")
	german3Et       = regexp.MustCompile(`(geordn|intern|plan|tick|tr)$`)
)

// german3 reads ae, oe and ue as umlauts; -in, -innen and -et are endings of it.
func german3(word string) string {
	const vowels = "aeiouyäöü"
	r := []rune(word)
	for i := 1; i+1 < len(r); i++ {
		if (r[i] == 'u' || r[i] == 'y') && strings.ContainsRune(vowels, r[i-1]) && strings.ContainsRune(vowels, r[i+1]) {
			r[i] = unicode.ToUpper(r[i])
		}
	}
	c := germanic(german3Spelling.Replace(string(r)), vowels)
	switch c.cut(c.r1, "em ern er erin erinnen e en es bdfghklmnrt|s ln:l lns:l") {
	case "em":
		if strings.HasSuffix(c.word, "syst") {
			c.word += "em"
		}
	case "e", "en", "es":
		c.cut(0, "niss:nis")
	}
	if end := c.cut(c.r1, "en er est bdfghklmnt|st dfgklmnrstUzä|et"); end == "st" && utf8.RuneCountInString(c.word) < 4 || end == "et" && german3Et.MatchString(c.word) {
		c.word += end
	}
	switch end := c.cut(c.r2, "end ung ig ik isch lich heit keit"); end {
	case "end", "ung":
		if !strings.HasSuffix(c.word, "eig") {
			c.cut(c.r2, "ig")
		}
	case "ig", "ik", "isch":
		if strings.HasSuffix(c.word, "e") {
			c.word += end
		}
	case "lich", "heit":
		c.cut(c.r1, "er en")
	case "keit":
		c.cut(c.r2, "lich ig")
	}
	return german3Plain.Replace(c.word)
}

var norwegian3S = regexp.MustCompile(`([bcdfghjlmnoptvyz]|[^e]r|[^aeêioòóôuyæåø]k)$`)

func norwegian3(word string) string {
	c := germanic(word, "aeêioòóôuyæåø")
	c.limit = c.r1
	switch end := c.cut(0, "a e ede ande ende ane ene hetene en heten ar er heter as es edes endes enes hetenes ens hetens ers ets et het ast s erte:er ert:er"); end {
	case "ers":
		before := cutting{word: c.word}
		switch before.cut(0, "amm ast ind kap kk lt nk omm pp v øst giv hav skap") {
		case "", "giv", "hav", "skap":
		default:
			c.word += end
		}
	case "s":
		if !norwegian3S.MatchString(c.word) {
			c.word += end
		}
	}
	c.cut(0, "dt:d vt:v")
	c.cut(0, "leg eleg ig eig lig elig els lov elov slov hetslov")
	return c.word
}

var (
	swedish3Et   = regexp.MustCompile(`.[aeiouyäåö][^aeiouyäåö]$`)
	swedish3Part = regexp.MustCompile(`(h|iet|uit|fab|cit|dit|alit|ilit|mit|nit|pit|rit|sit|tit|ivit|kvit|xit|kom|rak|pak|stak)$`)
)

func swedish3(word string) string {
	c := germanic(word, "aeiouyäåö")
	c.limit = c.r1
	neuter := func(stem string) bool { return swedish3Et.MatchString(stem) && !swedish3Part.MatchString(stem) }
	switch end := c.cut(0, "a arna erna heterna orna ad e ade ande arne are aste en anden aren heten ern ar er heter or as arnas ernas ornas es ades andes ens "+
		"arens hetens erns at andet het ast s et"); end {
	case "et":
		if !neuter(c.word) {
			c.word += end
		}
	case "s":
		if stem, ok := strings.CutSuffix(c.word, "et"); ok && neuter(stem) {
			c.word = stem
		} else if last := c.word[len(c.word)-1:]; !strings.ContainsAny(last, "bcdfghjklmnoprtvy") {
			c.word += end
		}
	}
	c.cut(0, "dd:d gd:g nn:n dt:d gt:g kt:k tt:t")
	c.cut(0, "lig ig els iklnprtuv|öst:ös fullt:full")
	return c.word
}

// italian3 is the older stemmer, but for divano, whose ending is -o.
func italian3(word string) string {
	if strings.HasPrefix(word, "divan") {
		return "d" + snowball(italian.Stem)(word[1:]) // in ivano, too, -ano begins before its region
	}
	return snowball(italian.Stem)(word)
}

// russian3 is the older stemmer, and ё is е.
func russian3(word string) string {
	return snowball(russian.Stem)(strings.ReplaceAll(word, "ё", "е"))
}

// spanish3 is the older stemmer, and the ending of nacion is that of nación.
func spanish3(word string) string {
	if strings.HasSuffix(word, "acion") || strings.HasSuffix(word, "ucion") {
		word = strings.TrimSuffix(word, "on") + "ón"
	}
	return snowball(spanish.Stem)(word)
}
