package synth

// Equal symbols mean the same document under a key: tab:dedup-counts is computed from designs instead of strings.

// Key names a comparison operator of tab:dedup-counts as pipelines do.
type Key string

// The ten operators, in the order of the table.
const (
	Text4KCased   Key = "text4k_cased"
	Text4K        Key = "text4k"
	URL           Key = "url"
	URLTitleCased Key = "url_title_cased"
	URLTitle      Key = "url_title"
	H1Cased       Key = "h1_cased"
	H1            Key = "h1"
	NciH1         Key = "nci_h1"
	Title         Key = "title"
	PageID        Key = "page_id"
)

// Keys lists the operators in the order of tab:dedup-counts.
func Keys() []Key {
	return []Key{Text4KCased, Text4K, URL, URLTitleCased, URLTitle, H1Cased, H1, NciH1, Title, PageID}
}

// symbol is the value of a record under a key.
type symbol uint64

// sym returns a symbol with the page in the upper bits and the parts that the key sees in the lower bits.
func sym(page int, parts ...uint64) symbol {
	s := uint64(page)
	for _, part := range parts {
		s = s<<4 | part
	}
	return symbol(s)
}

// titleSymbol tells title strings apart, with their case.
func (p *page) titleSymbol(l look) symbol {
	if p.design == titleTaker {
		return sym(p.first, 0) // the giver's first title
	}
	return sym(p.index, p.variant(l.revision))
}

// lowerSymbol tells lower-cased title strings apart.
func (p *page) lowerSymbol(l look) symbol {
	if p.design == caseTwin {
		return sym(p.first, 0)
	}
	return p.titleSymbol(l)
}

// nciSymbol tells titles apart after BERT's tokenization, which drops accents and knows no emoji.
func (p *page) nciSymbol(l look) symbol {
	if p.design == accentTwin || p.design == unknownTwin {
		return sym(p.first, 0)
	}
	return p.lowerSymbol(l)
}

func (p *page) symbol(k Key, l look, dev bool) symbol {
	edits := p.edits[l.revision]
	switch k {
	case URL:
		return sym(p.index, uint64(l.revision))
	case URLTitleCased:
		return p.titleSymbol(l)
	case URLTitle, H1:
		return p.lowerSymbol(l)
	case H1Cased:
		return p.titleSymbol(l)<<1 | symbol(l.noise&headingNoise)/symbol(headingNoise)
	case NciH1:
		return p.nciSymbol(l)
	case Title:
		// The heading's tokens in train, document_title in dev: they differ where NQ rewrites a character of the title.
		s := p.nciSymbol(l) << 1
		if dev && (p.design == dashed || p.design == quoted) {
			s |= 1
		}
		return s
	case PageID:
		if p.missing(int(l.revision)) {
			return p.titleSymbol(l)<<1 | 1 // "t:" and the title
		}
		return sym(p.index, 0) << 1
	case Text4K:
		return sym(p.index, p.variant(l.revision), uint64(edits[early]), p.rendered(l, early))
	case Text4KCased:
		return sym(p.index, p.variant(l.revision), uint64(edits[early]), p.rendered(l, early), uint64(l.noise))
	}
	panic("synth: no key " + string(k))
}

// rendered is the record's template value if the page shows it at a place.
func (p *page) rendered(l look, at where) uint64 {
	if p.volatile == at {
		return uint64(l.render)
	}
	return 0
}
