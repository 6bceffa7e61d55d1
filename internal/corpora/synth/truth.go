package synth

// Truth is what any correct reading of the corpus must find.
type Truth struct {
	Config Config `json:"config"`
	Files  []File `json:"files"`

	Records Counts `json:"records"`
	// Documents are the distinct targets under each key, as in tab:dedup-counts. An unresolved revision falls back to its
	// URL title, case kept, in a space of its own.
	Documents map[Key]Counts   `json:"documents"`
	Coverage  map[Key]Coverage `json:"coverage"`
	// Titles compares title keys with pages, for Title and NciH1.
	Titles    map[Key]Titles `json:"titles"`
	Revisions Revisions      `json:"revisions"`
	// Texts are distinct flattened texts (document_text).
	Texts Counts `json:"texts"`
	// VaryingRevisions are revision URLs of the union with several texts.
	VaryingRevisions int `json:"varying_revisions"`

	Stub          Stub          `json:"stub"`
	Tokens        Counts        `json:"tokens"` // document_tokens, tags included
	Substitutions Substitutions `json:"substitutions"`
	HTMLNorm      HTMLNorm      `json:"html_norm"`
	Openings      []Opening     `json:"openings"`
}

// File is one generated file.
type File struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`               // train, dev, simplified_train, stub
	Entries int    `json:"entries"`            // records, or pages of a dump
	Bytes   int64  `json:"bytes" unit:"bytes"` // before compression
}

// Counts counts the splits, each on its own, and both together.
type Counts struct {
	Train int `json:"train"`
	Dev   int `json:"dev"`
	Union int `json:"union"`
}

// Coverage says how far train records reach the targets of dev.
type Coverage struct {
	DevTargets   int `json:"dev_targets"`
	InTrain      int `json:"in_train"`      // of these, targets of train records too
	TrainQueries int `json:"train_queries"` // train records whose target is a dev target
	DevQueries   int `json:"dev_queries"`   // dev records whose target is in train
}

// Titles counts a title key's conflicts with resolved pages: a page with several keys is fragmented, a key with several
// pages collides; both affect records.
type Titles struct {
	Fragmented     int `json:"fragmented"`
	Collisions     int `json:"collisions"`
	CollidingPages int `json:"colliding_pages"`
	AffectedTrain  int `json:"affected_train"`
	AffectedDev    int `json:"affected_dev"`
}

// Revisions are the distinct revision URLs of records and whether the dump has them.
type Revisions struct {
	Distinct          int    `json:"distinct"`
	Resolved          int    `json:"resolved"`
	Unresolved        int    `json:"unresolved"`
	UnresolvedRecords Counts `json:"unresolved_records"`
}

// Stub counts the dump.
type Stub struct {
	Pages      int         `json:"pages"`
	Revisions  int         `json:"revisions"`
	Redirects  int         `json:"redirects"`
	Namespaces map[int]int `json:"namespaces"` // pages of each
}

// Substitutions are the stored tokens of dev that differ from their HTML, case aside (tab:nq-token-substitutions).
type Substitutions struct {
	Compared   int64          `json:"compared"` // tokens that are no tags
	Mismatches int64          `json:"mismatches"`
	Pairs      []Substitution `json:"pairs"` // most frequent first
}

// Substitution is one pair.
type Substitution struct {
	HTML    string `json:"html"` // entities resolved
	Stored  string `json:"stored"`
	Count   int64  `json:"count"`
	Records int64  `json:"records"`
}

// HTMLNorm are records, not documents, with the default options.
type HTMLNorm struct {
	PronunciationRemoved Counts `json:"pronunciation_removed"`
}

// Opening is the beginning of a record's HtmlNorm text: heading and first paragraph, a line each.
type Opening struct {
	ExampleID int64  `json:"example_id"`
	Text      string `json:"text"`
}

// maxOpenings is the number of Truth.Openings, of the first train records.
const maxOpenings = 64
