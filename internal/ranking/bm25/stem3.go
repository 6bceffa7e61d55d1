package bm25

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
)

// The stemmers of this file follow the descriptions of Snowball 3.1 (<https://snowballstem.org/algorithms/>), for the
// tokens of Words: in lower case, without apostrophes. A capital is a letter that counts as no vowel there.

// pattern compiles an expression with names of sets of letters in it.
func pattern(expr string, sets ...string) *regexp.Regexp {
	return regexp.MustCompile(strings.NewReplacer(sets...).Replace(expr))
}

// germanic has the regions of German, Norwegian and Swedish: the first begins behind three letters or more.
func germanic(word, vowels string) cutting {
	c := cutting{word: word, vowels: vowels}
	c.regions()
	letters := []rune(word)
	c.r1 = max(c.r1, len(string(letters[:min(3, len(letters))])))
	return c
}

var (
	english3Stems = map[string]string{"skis": "ski", "skies": "sky", "idly": "idl", "gently": "gentl", "ugly": "ugli", "early": "earli", "only": "onli",
		"singly": "singl", "sky": "sky", "news": "news", "howe": "howe", "atlas": "atlas", "cosmos": "cosmos", "bias": "bias", "andes": "andes"}
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
	c := cutting{word: string(b), vowels: vowels}
	if c.r1 = len(english3Region.FindString(c.word)); c.r1 == 0 {
		c.r1 = c.syllable(0)
	}
	c.r2 = c.syllable(c.r1)

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
	switch end := c.cut(0, "ed edly ^| proc.eed:! exc.eed:! succ.eed:! proc.eedly:! exc.eedly:! succ.eedly:! 1| eed:ee eedly:ee "+
		"^| inn.ing:! out.ing:! cann.ing:! herr.ing:! earr.ing:! even.ing:! | ing ingly"); {
	case end == "", strings.HasPrefix(end, "eed"):
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
	c.cut(c.r1, "syst.em:! em ern er erin erinnen niss.e:nis e niss.en:nis en niss.es:nis es bdfghklmnrt|s ln:l lns:l")
	if end := c.cut(c.r1, "en er est bdfghklmnt|st geordn.et:! intern.et:! plan.et:! tick.et:! tr.et:! dfgklmnrstUzä|et"); end == "st" && utf8.RuneCountInString(c.word) < 4 {
		c.word += end
	}
	switch c.cut(c.r2, "end ung e.ig:! ig e.ik:! ik e.isch:! isch lich heit keit") {
	case "end", "ung":
		c.cut(c.r2, "e.ig:! ig")
	case "lich", "heit":
		c.cut(c.r1, "er en")
	case "keit":
		c.cut(c.r2, "lich ig")
	}
	return german3Plain.Replace(c.word)
}

func norwegian3(word string) string {
	c := germanic(word, "aeêioòóôuyæåø")
	c.limit = c.r1
	c.cut(0, "a e ede ande ende ane ene hetene en heten ar er heter as es edes endes enes hetenes ens hetens ets et het ast erte:er ert:er "+
		"giv.ers:giv hav.ers:hav skap.ers:skap amm.ers:! ast.ers:! ind.ers:! kap.ers:! kk.ers:! lt.ers:! nk.ers:! omm.ers:! pp.ers:! v.ers:! øst.ers:! ers "+
		"bcdfghjlmnoptvyz|s er.s:! r.s:r C|k.s:k")
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
		"arens hetens erns at andet het ast bcdfghjklmnoprtvy|s et"); end {
	case "et":
		if !neuter(c.word) {
			c.word += end
		}
	case "s":
		if stem, ok := strings.CutSuffix(c.word, "et"); ok && neuter(stem) {
			c.word = stem
		}
	}
	c.cut(0, "dd:d gd:g nn:n dt:d gt:g kt:k tt:t")
	c.cut(0, "lig ig els iklnprtuv|öst:ös fullt:full")
	return c.word
}

// danish3 is the older stemmer, which undoubles other consonants, too: danish3 makes them differ before it. The older
// stemmer only shortens words, so the result is a beginning of the word.
func danish3(word string) string {
	r := []rune(word)
	for i := 1; i < len(r); i++ {
		if r[i] == r[i-1] && !strings.ContainsRune("bdfgklmnprstaeiouyæåø", r[i]) {
			r[i-1] = 'A' + rune(i%2)
		}
	}
	stem := snowball(danish.Stem)(string(r))
	return string([]rune(word)[:utf8.RuneCountInString(stem)])
}

const dutch3A, dutch3E, dutch3V = "aäáàâiïíìîoöóòôuüúùû", "eëéèê", dutch3A + dutch3E + "y"

var (
	dutch3Body  = pattern(`[V][^V]`, "V", dutch3V)
	dutch3Kept  = regexp.MustCompile(`^(eft|val([^i]|$)|vaa|vare)`)
	dutch3Plain = strings.NewReplacer("ë", "e", "ï", "i")
	dutch3Long  = pattern(`(?:(^|[^AE])([aäáàâoöóòôuüúùû])|((?:^|^[^AE]|[^A][^A]|(?:^|[AE])[A][^A])[^AE]|^)([eéèê]))([^AEywx])$`, "A", dutch3A, "E", dutch3E)
	dutch3Dots  = pattern(`[ei]ë[^AEywx]$`, "A", dutch3A, "E", dutch3E)
	dutch3Dot   = strings.NewReplacer("eë", "eëe", "ië", "iee")
)

// dutch3 is Kraaij and Pohlmann's stemmer.
func dutch3(word string) string {
	c := cutting{word: word, vowels: dutch3V, pair: "ij"}
	c.regions()
	stemmed := false
	step := func(rules string) bool { // whose replacements that end with + have a long vowel
		if c.cut(0, rules) == "" {
			return false
		}
		stemmed = true
		if stem, ok := strings.CutSuffix(c.word, "+"); ok {
			c.word = dutch3Dots.ReplaceAllStringFunc(dutch3Long.ReplaceAllString(stem, "$1$2$2$3$4$4$5"), dutch3Dot.Replace)
		}
		return true
	}
	step("1|t.s:! 1C|s 1|ies:ie 1C|ar.es:ar+ 1C|er.es:er 1C|es:e 1|és:é 1V|aus:au 1|hed.en:heid nd.en:nd 1C|d.en V|i.en:i V|j.en:j 1C|en:+ nde:nd")
	step("rnt.je:rn 1C|et.je 1X|t.je ink.je:ing mp.je:m 1C|je 1| ge:g lijke:lijk ische:isch te:t se:s re:r le:l+ 1C| de ene:en+ ieve:ief")
	step("rder:r ild.ing:ilder ild.isme:ilder ild.erij:ilder 1| atie:eer iteit:+ heid sel ster ing:+ isme:+ erij:+ 1C| arij:aar tst:t dst:d 2| fie:f+ gie:g+")
	if !step("1| ioneel:ie atief:eer baar tant:teer lijker:lijk lijkst:lijk achtig achtiger achtigst 1V| naar:n laar:l raar:r 1C| eriger:+ erigst:+ erig:+ end:+") {
		step("^| inn.iger:! inn.igst:! inn.ig:! 1C| iger:+ igst:+ ig:+")
	}
	ge := func(at, letter int) {
		rest := c.word[at+2:]
		if utf8.RuneCountInString(rest) < 3 || !dutch3Body.MatchString(strings.ReplaceAll(rest, "ij", "yy")) {
			return
		}
		end := min(letter+2, len(rest))
		c.word = c.word[:at] + rest[:letter] + dutch3Plain.Replace(rest[letter:end]) + rest[end:]
		c.regions()
		stemmed = true
		c.cut(0, "1|n.d:! ^|in.d:inn 1C|d 1|h.t:! ^|en.t:! 1C|t")
	}
	if rest, ok := strings.CutPrefix(c.word, "ge"); ok && !dutch3Kept.MatchString(rest) {
		ge(0, len(rest)-len(strings.TrimPrefix(rest, "vali")))
	}
	_, n := utf8.DecodeRuneInString(c.word)
	if at := strings.Index(c.word[n:], "ge"); at >= 0 {
		ge(n+at, 0)
	}
	if step("kt:k ft:f pt:p"); stemmed {
		c.cut(0, "^|i.nn:! bb:b cc:c dd:d ff:f gg:g hh:h jj:j kk:k ll:l mm:m nn:n pp:p qq:q rr:r ss:s tt:t vv:v ww:w xx:x zz:z v:f z:s")
	}
	return c.word
}

func finnish3(word string) string {
	const consonants = "bcdfghjklmnpqrstvwxz"
	c := cutting{word: word, vowels: "aeiouyäö"}
	c.regions()
	c.limit = c.r1
	c.cut(0, "2|sti aeiouyäönt| kin kaan kään ko kö han hän pa pä")
	c.cut(0, "k.si:! si kse.ni:ksi ni nsa nsä mme nne ta.an:ta ssa.an:ssa sta.an:sta lla.an:lla lta.an:lta na.an:na "+
		"tä.än:tä ssä.än:ssä stä.än:stä llä.än:llä ltä.än:ltä nä.än:nä lle.en:lle ine.en:ine")
	end := c.cut(0, "ahan:a ehen:e ihin:i ohon:o uhun:u ähän:ä öhön:ö øhön:ø aaseen:aa eeseen:ee iiseen:ii ooseen:oo uuseen:uu ääseen:ää ööseen:öö aisiin:ai eisiin:ei "+
		"iisiin:ii oisiin:oi uisiin:ui äisiin:äi öisiin:öi aiden:ai eiden:ei iiden:ii oiden:oi uiden:ui äiden:äi öiden:öi aitten:ai eitten:ei iitten:ii "+
		"oitten:oi uitten:ui äitten:äi öitten:öi aa.n:a ee.n:e ii.n:i oo.n:o uu.n:u ää.n:ä öö.n:ö ie.n:i n e|tta e|ttä ta tä ssa ssä sta stä lla llä lta ltä "+
		"lle na nä ksi ine "+
		consonants+"| a.a:a e.a:e i.a:i o.a:o u.a:u y.a:y ä.a:ä ö.a:ö a.ä:a e.ä:e i.ä:i o.ä:o u.ä:u y.ä:y ä.ä:ä ö.ä:ö")
	c.limit = c.r2
	c.cut(0, "po.mpi:! mpi po.mpa:! mpa po.mpä:! mpä po.mmi:! mmi po.mma:! mma po.mmä:! mmä impi impa impä immi imma immä eja ejä")
	if c.limit = c.r1; end != "" {
		c.cut(0, "i j")
	} else if c.cut(c.r1+1, "V|t") != "" {
		c.limit = c.r2
		c.cut(0, "po.mma:! mma imma")
		c.limit = c.r1
	}
	c.cut(0, "aa:a ee:e ii:i oo:o uu:u ää:ä öö:ö")
	c.cut(c.r1+1, consonants+"| a ä e i")
	c.cut(c.r1+1, "ou|j")
	c.cut(c.r1+1, "j|o")
	i := strings.LastIndexFunc(c.word, func(r rune) bool { return !strings.ContainsRune(c.vowels, r) })
	if i > 0 && len(c.word) >= c.r1 && c.word[i-1] == c.word[i] && strings.IndexByte(consonants, c.word[i]) >= 0 {
		c.word = c.word[:i] + c.word[i+1:]
	}
	return c.word
}

const french3V = "aeiouyâàëéêèïîôûù"

var (
	french3Marks = strings.NewReplacer("ë", "He", "ï", "Hi")
	french3Verbs = pattern(`^([V][V].|par|col|tap|ni[V]|.[^V]*[V])`, "V", french3V)
	french3Ais   = regexp.MustCompile(`(^.al|auv|épl)$`)
	french3E     = pattern(`[éè]([^V]+)$`, "V", french3V)
	french3Plain = strings.NewReplacer("He", "ë", "Hi", "ï", "H", "", "I", "i", "U", "u", "Y", "y")
)

func french3(word string) string {
	r := []rune(word)
	vowel := func(i int) bool { return i < len(r) && strings.ContainsRune(french3V, r[i]) }
	for i := range len(r) - 1 {
		if next := r[i+1]; vowel(i) && (next == 'y' || (next == 'u' || next == 'i') && vowel(i+2)) || r[i] == 'q' && next == 'u' {
			r[i+1] = unicode.ToUpper(next)
		}
		if r[i] == 'y' && vowel(i+1) {
			r[i] = 'Y'
		}
	}
	c := cutting{word: french3Marks.Replace(string(r)), vowels: french3V}
	if c.rv = len(french3Verbs.FindString(c.word)); c.rv == 0 {
		c.rv = len(c.word)
	}
	c.regions()
	if c.french() {
		c.cut(0, "Y:i ç:c")
	} else {
		c.cut(0, "Hi.s:Hi a.s:! i.s:! o.s:! u.s:! è.s:! s.s:! s")
		c.limit = c.rv
		c.cut(0, "2st|ion ier:i ière:i Ier:i Ière:i e")
		c.limit = 0
	}
	c.cut(0, "enn:en onn:on ett:et ell:el eill:eil")
	return french3Plain.Replace(french3E.ReplaceAllString(c.word, "e$1"))
}

// french is whether it cut an ending, except the endings that french3 tries without.
func (c *cutting) french() bool {
	const icate = "2|ic ic:iqU"
	switch c.cut(0, "bhjlnp|oux:ou eaux:eau 1|aux:al 1C| issement issements 3| ement ements amment:ant emment:ent 4V| ment ments "+
		"2| ance iqUe isme able iste eux ances iqUes ismes ables istes atrice ateur ation atrices ateurs ations logie:log logies:log "+
		"usion:u ution:u usions:u utions:u ence:ent ences:ent ité ités if ive ifs ives euse 1|euse:eux euses 1|euses:eux") {
	case "atrice", "ateur", "ation", "atrices", "ateurs", "ations":
		c.cut(0, icate)
	case "ement", "ements":
		if c.cut(0, "2| iv eus 1|eus:eux abl iqU 3|ièr:i 3|Ièr:i") == "iv" {
			c.cut(c.r2, "at")
		}
	case "ité", "ités":
		c.cut(0, "2|abil abil:abl 2|iv "+icate)
	case "if", "ive", "ifs", "ives":
		if c.cut(c.r2, "at") != "" {
			c.cut(0, icate)
		}
	case "", "amment", "emment", "ment", "ments":
		c.limit = c.rv
		defer func() { c.limit = 0 }()
		c.vowels += "H"
		if c.cut(0, "4C| îmes ît îtes i ie ies ir ira irai iraIent irais irait iras irent irez iriez irions irons iront is issaIent issais issait "+
			"issant issante issantes issants isse issent isses issez issiez issions issons it") != "" {
			return true
		}
		end := c.cut(0, "2|ions eais é ée ées és èrent er era erai eraIent erais erait eras erez eriez erions erons eront ez iez "+
			"âmes ât âtes a ai aIent ait ant ante antes ants as asse assent asses assiez assions ais aise aises")
		switch {
		case strings.HasPrefix(end, "ais") && french3Ais.MatchString(c.word):
			c.word += end
			return false
		case strings.HasPrefix(end, "a") && !strings.HasPrefix(end, "ais"), strings.HasPrefix(end, "â"):
			c.cut(0, "e")
		}
		return end != ""
	}
	return true
}

// italian3 is the older stemmer, except for divano, whose ending is -o.
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

// spanish3 is the older stemmer, in which the ending of nacion is also the ending of nación.
func spanish3(word string) string {
	if strings.HasSuffix(word, "acion") || strings.HasSuffix(word, "ucion") {
		word = strings.TrimSuffix(word, "on") + "ón"
	}
	return snowball(spanish.Stem)(word)
}
