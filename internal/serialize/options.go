package serialize

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Form names one of the paper's serializations.
type Form string

// The four forms.
const (
	Simplified Form = "simplified" // stored text tokens, tags dropped
	SimpleNorm Form = "simplenorm" // NCI's title, abstract and content
	NciNorm    Form = "ncinorm"    // NCI's title and abstract
	HtmlNorm   Form = "htmlnorm"   // surface text recovered from the HTML
)

// Forms lists the forms in the order of the paper's figure.
var Forms = []Form{Simplified, SimpleNorm, NciNorm, HtmlNorm}

// Options are the rules of the forms. Start from Defaults, which holds the
// paper's configuration and, where the paper is silent, the reading named at
// the field (docs/reproduction.md). All but NCITitle concern HtmlNorm.
type Options struct {
	// NCI reads the title of training records from the first <H1> and that of
	// dev records from document_title (paper, section "Document Serialization").
	NCITitle string `hcl:"nci_title,optional" json:"nci_title" enum:"split,h1,document_title" help:"where the NCI forms take a title from; split: <H1> in train, document_title in dev"`

	// Span recovery (paper, "Byte-Aligned Span Recovery").
	TextSource string `hcl:"text_source,optional" json:"text_source" enum:"spans,stored,html" help:"spans: the HTML bytes of the tokens; stored: NQ's token strings; html: all visible text, tokenised by NQ or not"`
	SpanMarkup string `hcl:"span_markup,optional" json:"span_markup" enum:"remove,keep" help:"markup inside a token's span; keep is the paper's formula read literally"`
	Normalize  string `hcl:"normalize,optional" json:"normalize" enum:"nfkc,none" help:"Unicode normalization of each span"`
	LineBreak  string `hcl:"line_break,optional" json:"line_break" enum:"newline,space,none" help:"what <br> stands for between two paragraphs' lines"`

	// Layout (paper, figure "List of woods").
	BlockGap string `hcl:"block_gap,optional" json:"block_gap" enum:"line,blank_line" help:"between two blocks of the body; headings always stand between blank lines"`

	// Lists (paper, "List Formatting").
	Bullet     string `hcl:"bullet,optional" json:"bullet" help:"marker of an item of an unordered list"`
	ListIndent int    `hcl:"list_indent,optional" json:"list_indent" help:"blanks per level of nesting"`
	EmptyItems string `hcl:"empty_items,optional" json:"empty_items" enum:"numbered,skipped" help:"whether a discarded empty item of an ordered list consumes its number"`

	// Tables (paper, "Table Formatting").
	Tables        string `hcl:"tables,optional" json:"tables" enum:"forms,matrix,drop" help:"forms: by detected layout; matrix: joined cells for every table; drop: no tables"`
	RepeatRowspan bool   `hcl:"repeat_rowspan,optional" json:"repeat_rowspan" help:"a cell that spans rows stands in each of them"`
	RepeatColspan bool   `hcl:"repeat_colspan,optional" json:"repeat_colspan" help:"a cell that spans columns stands in each of them"`
	CellSeparator string `hcl:"cell_separator,optional" json:"cell_separator" help:"between the cells of a row"`
	KeySeparator  string `hcl:"key_separator,optional" json:"key_separator" help:"between attribute and value, header and cell, term and definition"`

	// Cleanup (paper, "Wikipedia-Specific Cleanup").
	RemoveIDs      []string `hcl:"remove_ids,optional" json:"remove_ids" help:"elements removed by their id: interface and navigation"`
	RemoveClasses  []string `hcl:"remove_classes,optional" json:"remove_classes" help:"elements removed by one of their classes: interface, navigation, maintenance boxes"`
	RemoveHidden   bool     `hcl:"remove_hidden,optional" json:"remove_hidden" help:"remove elements styled display:none"`
	Artifacts      []string `hcl:"artifacts,optional" json:"artifacts" help:"words removed where they stand alone in square brackets, as [edit]"`
	Infobox        string   `hcl:"infobox,optional" json:"infobox" enum:"introductory,first,all,first_table,keep" help:"introductory: infobox tables before the first section heading; first: only the first of them; all: anywhere; first_table: the first table before the first paragraph, whatever its class"`
	InfoboxPrefix  string   `hcl:"infobox_prefix,optional" json:"infobox_prefix" help:"a table is an infobox if one of its classes begins so"`
	FooterHeadings []string `hcl:"footer_headings,optional" json:"footer_headings" help:"headings that end the document"`
	FooterLevel    int      `hcl:"footer_level,optional" json:"footer_level" help:"deepest heading level (2 to 6) that may end the document"`

	// Pronunciation (paper, "Pronunciation Cleanup").
	Pronunciation       string `hcl:"pronunciation,optional" json:"pronunciation" enum:"remove,keep" help:"whether the first parenthesis goes when it holds a character unknown to T5"`
	PronunciationWindow int    `hcl:"pronunciation_window,optional" json:"pronunciation_window" help:"code points within which that parenthesis begins"`
	PronunciationScope  string `hcl:"pronunciation_scope,optional" json:"pronunciation_scope" enum:"document,body" help:"where the window starts: at the title line, or after it"`

	MaxBytes int `hcl:"max_bytes,optional" json:"max_bytes" help:"bytes of text after which a document is cut: a bound on what spans and headers can repeat"`
}

// Defaults is the configuration of the paper.
func Defaults() Options {
	return Options{
		NCITitle: "split",

		TextSource: "spans",
		SpanMarkup: "remove", // a stored 's spans '</SPAN>s in the one complete public record
		Normalize:  "nfkc",
		LineBreak:  "newline",

		BlockGap: "line",

		Bullet:     "-",
		ListIndent: 2,
		EmptyItems: "numbered", // as a browser numbers them

		Tables:        "forms",
		RepeatRowspan: true,
		CellSeparator: " ; ",
		KeySeparator:  ": ",

		// The appendix names [edit] and [hide] only; the figure shows that the
		// table of contents and the jump links go too, and section "Document
		// Serialization" adds navigation content and other non-article artifacts.
		// Hatnotes, captions, coordinates and [citation needed] stay.
		RemoveIDs: []string{
			"toc", "siteSub", "contentSub", "jump-to-nav", "siteNotice", "catlinks",
			"mw-navigation", "mw-head", "mw-panel", "footer", // the page's frame after an article without footer sections
		},
		RemoveClasses: []string{
			"toc", "mw-editsection", "toctoggle", "mw-jump", "mw-jump-link",
			"navbox", "vertical-navbox", "sidebar", "navbar",
			"ambox", "mbox-small", "tmbox", "metadata",
			"printfooter",
		},
		Artifacts:     []string{"edit", "hide", "show"},
		Infobox:       "introductory",
		InfoboxPrefix: "infobox",
		// "Contents" stops only as a heading of the article: the contents box is
		// gone before headings are looked at, as the paper's figure shows.
		FooterHeadings: []string{
			"See also", "References", "Further reading", "Bibliography", "External links", "Notes",
			"Footnotes", "Citations", "Sources", "Works cited", "Contents", "Notes and references",
		},
		FooterLevel: 6,

		Pronunciation:       "remove",
		PronunciationWindow: 256,
		PronunciationScope:  "document",

		MaxBytes: 16 << 20,
	}
}

// Validate reports every value that no rule understands.
func (o Options) Validate() error {
	var errs []error
	oneOf := func(name, value string, allowed ...string) {
		if !slices.Contains(allowed, value) {
			errs = append(errs, fmt.Errorf("serialize: %s is %q; use one of %s", name, value, strings.Join(allowed, ", ")))
		}
	}
	between := func(name string, value, low, high int) {
		if value < low || value > high {
			errs = append(errs, fmt.Errorf("serialize: %s is %d; use %d to %d", name, value, low, high))
		}
	}
	oneOf("nci_title", o.NCITitle, "split", "h1", "document_title")
	oneOf("text_source", o.TextSource, "spans", "stored", "html")
	oneOf("span_markup", o.SpanMarkup, "remove", "keep")
	oneOf("normalize", o.Normalize, "nfkc", "none")
	oneOf("line_break", o.LineBreak, "newline", "space", "none")
	oneOf("block_gap", o.BlockGap, "line", "blank_line")
	oneOf("empty_items", o.EmptyItems, "numbered", "skipped")
	oneOf("tables", o.Tables, "forms", "matrix", "drop")
	oneOf("infobox", o.Infobox, "introductory", "first", "all", "first_table", "keep")
	oneOf("pronunciation", o.Pronunciation, "remove", "keep")
	oneOf("pronunciation_scope", o.PronunciationScope, "document", "body")
	between("list_indent", o.ListIndent, 0, 16)
	between("footer_level", o.FooterLevel, 2, 6)
	between("pronunciation_window", o.PronunciationWindow, 0, 1<<20)
	between("max_bytes", o.MaxBytes, 1<<10, 1<<30)
	return errors.Join(errs...)
}
