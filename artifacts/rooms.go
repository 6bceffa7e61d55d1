package artifacts

import (
	"strings"
	"time"
)

// The kinds of records: what their names begin with, and what comes after it.
const (
	ResultsPrefix      = "results/"        // KEY: what a finished step left
	SignaturesPrefix   = "signatures/"     // KEY/SIGNER: who stands for its record
	AttestationsPrefix = "attestations/"   // KEY/ID: that somebody rebuilt it, and what came of that
	acceptedPrefix     = "accepted/"       // KEY/ID: that a person takes another result for it
	aboutPrefix        = "about/"          // KEY: a list of the three above
	ReleasedPrefix     = "released/"       // KEY: that its outputs' bytes may leave the store
	nondetPrefix       = "nondeterminism/" // KEY/OUTPUTS: a result that differs from the one in use
	ckptPrefix         = "checkpoints/"    // KEY/N
	ElsewherePrefix    = "elsewhere/"      // BLOB: the URL of one that is left out
	FailedPrefix       = "failures/"       // RUN/KEY: how a step failed or was cancelled
	RunsPrefix         = "runs/"           // RUN
	OpenRunPrefix      = "runs-open/"      // RUN: it is in progress, or was killed
	PinsPrefix         = "pins/"           // NAME: what is kept though no run names it
)

// text is what the digests in a record's text, and in that of its body, are to garbage collection.
type text int

const (
	rooted text = iota // what they name is kept
	weak               // what they name is kept as long as the record, but no result for its sake
	bare               // they name no blob
)

// kind is the rules for the records whose names begin alike. The zero kind is that of whatever
// a later redsi adds.
type kind struct {
	prefix string
	text   text
	about  bool // they say something about the result of a key, and go with it
	listed bool // in the list of these that about/KEY is

	// For garbage collection: whether a record stays, which is asked in the order of the kinds;
	// nil: for good, or, of a result, as long as a root names it. rest is its name without the prefix.
	stays func(c *contents, r RecordInfo, rest string) bool

	archived bool // an archive may contain them: no roots, and nothing of runs
	copied   bool // push and pull copy them where they copy all, beside results and what is about those
}

var kinds = []kind{
	{prefix: OpenRunPrefix, stays: func(c *contents, r RecordInfo, id string) bool { return c.open(r, id) }},
	{prefix: aboutPrefix, text: bare, about: true, stays: named},
	{prefix: acceptedPrefix, text: weak, about: true, listed: true, stays: named}, // but see withdrawn
	{prefix: AttestationsPrefix, text: weak, about: true, listed: true, stays: named, archived: true},
	{prefix: ckptPrefix, text: weak, stays: ofKey(func(c *contents, key Digest) bool { return c.roots[key] && !c.results[key].hit })},
	{prefix: FailedPrefix, text: weak, stays: ofRun, copied: true},
	{prefix: nondetPrefix, text: weak, stays: ofKey((*contents).live)},
	{prefix: ReleasedPrefix, text: bare, about: true, stays: named, archived: true},
	{prefix: ResultsPrefix, text: weak, archived: true},
	{prefix: RunsPrefix, copied: true},
	{prefix: PinsPrefix, copied: true},
	{prefix: SignaturesPrefix, text: bare, about: true, listed: true, stays: named, archived: true},
	// last: what any other names is known by then
	{prefix: ElsewherePrefix, text: bare, stays: ofKey(func(c *contents, blob Digest) bool { return c.freeing || c.kept[blob] }), archived: true},
}

// named keeps what is about a key without a result while a root names the key.
var named = ofKey(func(c *contents, key Digest) bool { return c.roots[key] })

// ofKey keeps what is young and what stays for the key, or blob, that a name begins with. What
// has none is not ours to delete.
func ofKey(stays func(c *contents, d Digest) bool) func(c *contents, r RecordInfo, rest string) bool {
	return func(c *contents, r RecordInfo, rest string) bool {
		d, ok := keyOf(rest, "")
		return !ok || c.young(r.ModTime) || stays(c, d)
	}
}

// ofRun keeps what is young and what is known of a run that has a record and is not dropped.
func ofRun(c *contents, r RecordInfo, rest string) bool {
	run, _, _ := strings.Cut(rest, "/")
	_, recorded := c.ages[RunsPrefix+run]
	return c.young(r.ModTime) || recorded && !c.dropped[run]
}

// withdrawnSuffix is what the name of an acceptance's end has after its own.
const withdrawnSuffix = "-withdrawn"

// withdrawn reports whether a record is an acceptance that was withdrawn, or says so: both stay
// for good and keep nothing, so that no copy of the result from elsewhere ever counts again.
func (c *contents) withdrawn(name string) bool {
	_, is := c.said[strings.TrimSuffix(name, withdrawnSuffix)+withdrawnSuffix]
	return is && strings.HasPrefix(name, acceptedPrefix)
}

func kindOf(name string) kind {
	for _, k := range kinds {
		if strings.HasPrefix(name, k.prefix) {
			return k
		}
	}
	return kind{}
}

// Archived reports whether an archive may contain records of that name.
func Archived(name string) bool { return kindOf(name).archived }

// Copied are the prefixes of the records that go with a copy of all, beside results and what is about
// those.
func Copied() (prefixes []string) {
	for _, k := range kinds {
		if k.copied {
			prefixes = append(prefixes, k.prefix)
		}
	}
	return prefixes
}

// isAbout returns the key that a record is about, if its name says that it is about one.
func isAbout(name string) (Digest, bool) {
	k := kindOf(name)
	if !k.about {
		return Digest{}, false
	}
	return keyOf(name, k.prefix)
}

// keyOf returns the key that a record under prefix belongs to.
func keyOf(name, prefix string) (Digest, bool) {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return Digest{}, false
	}
	hex, _, _ := strings.Cut(rest, "/")
	d, err := ParseHex(hex)
	return d, err == nil
}

func (c *contents) live(key Digest) bool { return c.roots[key] || c.young(c.ages[ResultName(key)]) }

// runOf returns the id of the run that a record belongs to, or "".
func runOf(name string) string {
	rest, ok := strings.CutPrefix(name, RunsPrefix)
	if !ok {
		return ""
	}
	id, _, _ := strings.Cut(rest, "/")
	return id
}

// ResultName is the name of the record that holds the result of key.
func ResultName(key Digest) string { return ResultsPrefix + key.Hex() }

// Released is the record "released/<hex key>" of a result whose outputs' bytes may leave the
// store on purpose. Without them the result is no hit, but it is not lost either: what it says
// of its outputs still makes the keys of the steps that read them, and running its step again
// brings the bytes back, and removes the record.
type Released struct {
	Format string `json:"format"` // ReleasedFormat
	Key    Digest `json:"key"`
	Bytes  int64  `json:"bytes"` // that left with it; 0: others need all of its outputs
}

// ReleasedFormat is the form of the records of released results.
const ReleasedFormat = "redsi-released/1"

// ReleasedName is the name of the record that says that the result of key was released.
func ReleasedName(key Digest) string { return ReleasedPrefix + key.Hex() }

// contents is all that a store holds, as of one walk over it.
type contents struct {
	results map[Digest]held
	records []RecordInfo
	said    map[string]said // by each record but results
	blobs   map[Digest]BlobInfo
	roots   map[Digest]bool      // that roots name
	kept    map[Digest]bool      // blobs
	ages    map[string]time.Time // of records
	young   func(time.Time) bool
	open    func(r RecordInfo, id string) bool // whether a run without a record counts as in progress
	dropped map[string]bool                    // runs
	freeing bool                               // no more is deleted than some bytes
	tell    Tell
}

// held is what garbage collection goes by of a result: a store has many.
type held struct {
	blobs    []Digest // in no set order, each once
	hit      bool
	step     string
	took     time.Duration
	finished time.Time
	damage   error
}

// said is what upkeep goes by of a record that is no result.
type said struct {
	names    map[Digest]bool // the digests in its text and in that of its body
	study    string          // of a run: its project and pipeline
	keepsRun string          // of a pin: the id of the run that it keeps, if it keeps one
	lost     error           // why its body cannot be read, whoever asks
}
