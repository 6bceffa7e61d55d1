package serialize

import "github.com/redsi/redsi/internal/system/values"

// Removed counts by rule the parts of a document that HtmlNorm left out; other forms set only Tags. Each text token is in
// the text, in a count marked "tokens", or in an empty section's heading.
type Removed struct {
	Tags int `json:"tags,omitempty"` // simplified: HTML tokens dropped

	BeforeTitle  int `json:"before_title,omitempty"`  // tokens before and in elements around the first heading
	Interface    int `json:"interface,omitempty"`     // tokens of removed ids and classes
	Infobox      int `json:"infobox,omitempty"`       // tokens of removed infoboxes
	Invisible    int `json:"invisible,omitempty"`     // tokens in scripts, styles, comments and tags
	Lead         int `json:"lead,omitempty"`          // tokens of the lead's tables and loose text
	AfterFooter  int `json:"after_footer,omitempty"`  // tokens from the heading that ended the document, or of footer sections
	SpansOutside int `json:"spans_outside,omitempty"` // tokens whose span is no part of the HTML, or goes back
	DroppedTable int `json:"dropped_table,omitempty"` // tokens of discarded tables

	InterfaceElements int    `json:"interface_elements,omitempty"`
	Infoboxes         int    `json:"infoboxes,omitempty"`
	EmptySections     int    `json:"empty_sections,omitempty"` // headings with no text below them
	Footer            string `json:"footer,omitempty"`         // the heading that ended the document, or the first footer section's
	Artifacts         int    `json:"artifacts,omitempty"`      // [edit], [hide]
	EmptyItems        int    `json:"empty_items,omitempty"`    // list items without text
	EmptyTables       int    `json:"empty_tables,omitempty"`   // tables without a non-empty cell
	Pronunciation     string `json:"pronunciation,omitempty"`  // the parentheses removed
	Truncated         bool   `json:"truncated,omitempty"`      // max_bytes reached
	NoTitle           bool   `json:"no_title,omitempty"`       // no <H1>: document_title stands in
	NoAbstract        bool   `json:"no_abstract,omitempty"`    // NCI forms: no <P> … </P>
}

// Tally sums Removed over documents.
type Tally struct {
	Documents int     `json:"documents"`
	Sum       Removed `json:"sum"`

	// Documents in which a rule applied.
	WithInfobox       int `json:"with_infobox"`
	WithFooter        int `json:"with_footer"`
	WithPronunciation int `json:"with_pronunciation"`
	WithoutTitle      int `json:"without_title"`
	WithoutAbstract   int `json:"without_abstract"`
	WithTruncation    int `json:"with_truncation"`

	Footers map[string]int `json:"footers,omitempty"` // documents by normalized heading
}

// Add counts one document.
func (t *Tally) Add(r Removed) {
	count := func(applied bool) int {
		if applied {
			return 1
		}
		return 0
	}
	one := Tally{Documents: 1, Sum: r,
		WithInfobox: count(r.Infoboxes > 0), WithFooter: count(r.Footer != ""), WithPronunciation: count(r.Pronunciation != ""),
		WithoutTitle: count(r.NoTitle), WithoutAbstract: count(r.NoAbstract), WithTruncation: count(r.Truncated)}
	if r.Footer != "" {
		one.Footers = map[string]int{normalizeHeading(r.Footer): 1}
	}
	values.Add(t, one)
}
