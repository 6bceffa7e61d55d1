package serialize

// Form names one of the paper's serializations.
type Form string

// The paper's four forms, and the unchanged simplified format.
const (
	SimplifiedTags Form = "simplified_tags" // all stored tokens, tags kept: document_text of NQ's simplified format
	Simplified     Form = "simplified"      // stored text tokens, tags dropped
	SimpleNorm     Form = "simplenorm"      // NCI's title, abstract and content
	NciNorm        Form = "ncinorm"         // NCI's title and abstract
	HtmlNorm       Form = "htmlnorm"        // surface text recovered from the HTML
)

// Forms lists the forms, the paper's in the order of its figure.
var Forms = []Form{SimplifiedTags, Simplified, SimpleNorm, NciNorm, HtmlNorm}

// Options are the rules of the forms. Start from Defaults: the paper's configuration and, where the paper is silent, its
// released code's (docs/reproduction.md). Except for NCI's, all concern HtmlNorm.
type Options struct {
	// NCI takes titles from <H1> in train and document_title in dev (paper, section "Document Serialization").
	NCITitle          string `hcl:"nci_title,optional" json:"nci_title" enum:"split,h1,document_title" help:"where the NCI forms take a title from; split: <H1> in train, document_title in dev; the title in the URL, then <H1>, stand in for a document_title that is missing"`
	NCINormalizeTitle bool   `hcl:"nci_normalize_title,optional" json:"nci_normalize_title" help:"ncinorm: put the title through bert-base-uncased, as the key title does; it is trimmed otherwise"`
	NCIContent        bool   `hcl:"nci_content,optional" json:"nci_content" help:"ncinorm: what follows the first paragraph comes behind it, as in simplenorm"`

	// Span recovery (paper, "Byte-Aligned Span Recovery").
	TextSource string `hcl:"text_source,optional" json:"text_source" enum:"spans,stored,html" help:"spans: the HTML bytes of the tokens; stored: NQ's token strings; html: all visible text, tokenised by NQ or not"`
	Gap        string `hcl:"gap,optional" json:"gap" enum:"any,blank" help:"what is a blank between two tokens; any: white space of any kind; blank: exactly one blank, or white space beside markup"`
	Normalize  string `hcl:"normalize,optional" json:"normalize" enum:"nfkc,none" help:"Unicode normalization of each span"`
	Control    string `hcl:"control,optional" json:"control" enum:"drop,keep" help:"characters of Unicode's categories C: soft hyphens, zero-width and control characters, unassigned ones; white space is none of them"`

	// Layout (paper, figure "List of woods").
	Lead          string `hcl:"lead,optional" json:"lead" enum:"paragraphs_first,document_order" help:"what comes before the first section heading; paragraphs_first: paragraphs, then lists; no tables, and no text outside of both, as hatnotes, captions and coordinates are"`
	EmptySections string `hcl:"empty_sections,optional" json:"empty_sections" enum:"drop,keep" help:"headings h2 and h3 with no text before the next one"`

	// Lists (paper, "List Formatting").
	EmptyItems string `hcl:"empty_items,optional" json:"empty_items" enum:"numbered,skipped,kept" help:"numbered, skipped: whether a discarded empty item of an ordered list consumes its number; kept: its marker stays"`

	// Tables (paper, "Table Formatting").
	Tables     string `hcl:"tables,optional" json:"tables" enum:"forms,matrix,drop" help:"forms: by detected layout; matrix: joined cells for every table; drop: no tables"`
	TableFirst string `hcl:"table_first,optional" json:"table_first" enum:"header,key_value" help:"which layout is looked for first; header: rows of th; key_value: rows of a key and its values, as half of the rows of most tables with row heads"`

	// Cleanup (paper, "Wikipedia-Specific Cleanup").
	RemoveIDs      []string `hcl:"remove_ids,optional" json:"remove_ids" help:"elements removed by their id: interface and navigation"`
	RemoveClasses  []string `hcl:"remove_classes,optional" json:"remove_classes" help:"elements removed by one of their classes: interface, navigation, maintenance boxes"`
	Artifacts      []string `hcl:"artifacts,optional" json:"artifacts" help:"words removed where they stand alone in square brackets, as [edit]"`
	Infobox        string   `hcl:"infobox,optional" json:"infobox" enum:"introductory,first,all,first_table,keep" help:"introductory: infobox tables before the first section heading; first: only the first of them; all: anywhere; first_table: the first table before the first paragraph, whatever its class"`
	InfoboxPrefix  string   `hcl:"infobox_prefix,optional" json:"infobox_prefix" help:"a table is an infobox if one of its classes begins so"`
	Footer         string   `hcl:"footer,optional" json:"footer" enum:"stop,section" help:"stop: the document ends at the first footer heading; section: footer sections go, each to the next h2 or h3, and so does text without a heading"`
	FooterHeadings []string `hcl:"footer_headings,optional" json:"footer_headings" help:"footer headings"`
	FooterLevel    int      `hcl:"footer_level,optional" json:"footer_level" min:"2" max:"6" help:"deepest heading level of a footer"`

	// Pronunciation (paper, "Pronunciation Cleanup").
	Pronunciation       string `hcl:"pronunciation,optional" json:"pronunciation" enum:"remove,keep" help:"whether a parenthesis goes when it holds a character unknown to T5"`
	PronunciationSpans  string `hcl:"pronunciation_spans,optional" json:"pronunciation_spans" enum:"first,all" help:"first: only the first parenthesis may go, if it begins within the window; all: each that also ends there"`
	PronunciationWindow int    `hcl:"pronunciation_window,optional" json:"pronunciation_window" min:"0" max:"1048576" help:"code points within which parentheses are looked for"`
	PronunciationScope  string `hcl:"pronunciation_scope,optional" json:"pronunciation_scope" enum:"document,body" help:"where the window starts: at the title line, or after it"`

	MaxBytes int `hcl:"max_bytes,optional" json:"max_bytes" min:"1024" max:"1073741824" help:"bytes of text after which a document is cut: a bound on what spans and headers can repeat"`
}

// Defaults is the configuration of the paper, completed by its released code.
func Defaults() Options {
	return Options{
		NCITitle: "split",

		TextSource: "spans", Gap: "any", Normalize: "nfkc", Control: "drop",

		Lead: "paragraphs_first", EmptySections: "drop",

		EmptyItems: "numbered", // as a browser numbers them

		Tables:     "forms",
		TableFirst: "header", // the paper's example of a header has two columns

		// The appendix names [edit] and [hide]; the figure also drops the table of contents and the jump links, and
		// section "Document Serialization" navigation and other non-article artifacts.
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
		Artifacts:     []string{"edit", "hide"},
		Infobox:       "introductory",
		InfoboxPrefix: "infobox",
		// "Contents" counts only as an article's heading: the contents box goes first, as in the paper's figure.
		Footer: "stop",
		FooterHeadings: []string{
			"See also", "References", "Further reading", "Bibliography", "External links", "Notes",
			"Footnotes", "Citations", "Sources", "Works cited", "Contents", "Notes and references",
		},
		FooterLevel: 6,

		Pronunciation: "remove", PronunciationSpans: "first", PronunciationWindow: 256, PronunciationScope: "document",

		MaxBytes: 16 << 20,
	}
}
