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
	ElsewherePrefix    = "elsewhere/"      // BLOB: the URL of a blob that is left out
	FailedPrefix       = "failures/"       // RUN/KEY: how a step failed or was cancelled
	RunsPrefix         = "runs/"           // RUN
	OpenRunPrefix      = "runs-open/"      // RUN: it is in progress, or was killed
	PinsPrefix         = "pins/"           // NAME: what is kept though no run names it
)

// text is how garbage collection takes the digests in a record's text and in the text of its body.
type text int

const (
	rooted text = iota // it keeps what they name
	weak               // it keeps blobs that they name as long as the record, but no result
	bare               // they name no blob
)

// kind is the rules for the records whose names begin alike. Records that a later redsi adds have the
// zero kind.
type kind struct {
	prefix string
	text   text
	about  bool // they are about the result of a key, and go with it
	listed bool // about/KEY lists them

	// stays reports for garbage collection whether a record stays, asked in the order of kinds; rest is
	// its name without the prefix. nil: it stays for good or, of a result, while a root names it.
	stays func(c *contents, r RecordInfo, rest string) bool

	archived bool // an archive may contain them: they are no roots, and not about runs
	copied   bool // a push or pull of everything copies them, beside results and the records about these
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
	// last, when the blobs that records of other kinds name have been collected
	{prefix: ElsewherePrefix, text: bare, stays: ofKey(func(c *contents, blob Digest) bool { return c.freeing || c.kept[blob] }), archived: true},
}

// named keeps records about a key without a result while a root names the key.
var named = ofKey(func(c *contents, key Digest) bool { return c.roots[key] })

// ofKey keeps young records, and records that stay for the key, or blob, that their name begins with. A
// record without one is not ours to delete.
func ofKey(stays func(c *contents, d Digest) bool) func(c *contents, r RecordInfo, rest string) bool {
	return func(c *contents, r RecordInfo, rest string) bool {
		d, ok := keyOf(rest, "")
		return !ok || c.young(r.ModTime) || stays(c, d)
	}
}

// ofRun keeps young records, and records about a run that has a record and is not dropped.
func ofRun(c *contents, r RecordInfo, rest string) bool {
	run, _, _ := strings.Cut(rest, "/")
	_, recorded := c.ages[RunsPrefix+run]
	return c.young(r.ModTime) || recorded && !c.dropped[run]
}

// withdrawnSuffix ends the name of an acceptance's withdrawal.
const withdrawnSuffix = "-withdrawn"

// withdrawn reports whether a record is a withdrawn acceptance, or its withdrawal. Both stay for good and
// keep nothing, so that no copy of the result in another store counts any more.
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

// Copied returns the prefixes of the records that go with a copy of everything, beside results and the
// records about these.
func Copied() (prefixes []string) {
	for _, k := range kinds {
		if k.copied {
			prefixes = append(prefixes, k.prefix)
		}
	}
	return prefixes
}

// isAbout returns the key that a record is about; ok is false if it is about none.
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

// Released is the record "released/<hex key>" of a result whose outputs' bytes may leave the store on
// purpose. Without them the result is no hit, but it is not lost: the keys of the steps that read its
// outputs still follow from it. Running its step again brings the bytes back and removes the record.
type Released struct {
	Format string `json:"format"` // ReleasedFormat
	Key    Digest `json:"key"`
	Bytes  int64  `json:"bytes"` // that left with it; 0: something else needs all of its outputs
}

// ReleasedFormat is the format of Released.
const ReleasedFormat = "redsi-released/1"

// ReleasedName returns the name of the Released of key's result.
func ReleasedName(key Digest) string { return ReleasedPrefix + key.Hex() }

// contents is everything in a store, as of one walk over it.
type contents struct {
	results map[Digest]held
	records []RecordInfo
	said    map[string]said // by record, results excepted
	blobs   map[Digest]BlobInfo
	roots   map[Digest]bool      // that roots name
	kept    map[Digest]bool      // blobs
	ages    map[string]time.Time // of records
	young   func(time.Time) bool
	open    func(r RecordInfo, id string) bool // whether a run without a record counts as in progress
	dropped map[string]bool                    // runs
	freeing bool                               // only so many bytes are deleted
	tell    Tell
}

// held is what garbage collection needs of a result, since a store has many.
type held struct {
	blobs    []Digest // in no set order, each once
	hit      bool
	step     string
	took     time.Duration
	finished time.Time
	damage   error
}

// said is what upkeep needs of a record that is no result.
type said struct {
	names    map[Digest]bool // the digests in its text and in its body's
	study    string          // of a run: its project and pipeline
	keepsRun string          // of a pin: the id of the run that it keeps, if it keeps one
	lost     error           // why its body cannot be read, whoever asks
}
