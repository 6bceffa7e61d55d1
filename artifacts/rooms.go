package artifacts

import (
	"strings"
	"time"
)

// The rooms of records: what their names begin with, and what comes after it.
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

// room says how upkeep treats the records whose names begin alike. The zero room is that of
// runs, pins, and whatever a later redsi adds: garbage collection keeps what their texts name.
type room struct {
	prefix string
	weak   bool                                // what they name is not kept for their sake
	about  bool                                // they say something about the result of a key, and go with it
	bare   bool                                // their texts name no blob
	keep   func(c *contents, rest string) bool // whether one whose name goes on so stays when it is old; nil: as other rules say
}

var rooms = []room{
	{prefix: ResultsPrefix, weak: true},
	{prefix: SignaturesPrefix, weak: true, about: true, bare: true, keep: named},
	{prefix: AttestationsPrefix, weak: true, about: true, keep: named},
	{prefix: acceptedPrefix, weak: true, about: true, keep: named},
	{prefix: ReleasedPrefix, weak: true, about: true, bare: true, keep: named},
	{prefix: aboutPrefix, weak: true, about: true, bare: true, keep: named},
	{prefix: nondetPrefix, weak: true, keep: ofKey((*contents).live)},
	{prefix: ckptPrefix, weak: true, keep: ofKey(func(c *contents, key Digest) bool { return c.roots[key] && !c.results[key].hit })},
	{prefix: ElsewherePrefix, weak: true, bare: true},
	{prefix: FailedPrefix, weak: true, keep: func(c *contents, rest string) bool {
		run, _, _ := strings.Cut(rest, "/")
		_, recorded := c.ages[RunsPrefix+run]
		return recorded && !c.dropped[run]
	}},
}

// named keeps what is about a key without a result while a root names the key.
var named = ofKey(func(c *contents, key Digest) bool { return c.roots[key] })

// ofKey asks about the key that a name begins with. What has none is not ours to delete.
func ofKey(keep func(c *contents, key Digest) bool) func(c *contents, rest string) bool {
	return func(c *contents, rest string) bool {
		key, ok := keyOf(rest, "")
		return !ok || keep(c, key)
	}
}

func roomOf(name string) room {
	for _, r := range rooms {
		if strings.HasPrefix(name, r.prefix) {
			return r
		}
	}
	return room{}
}

// isAbout returns the key that a record is about, if its name says that it is about one.
func isAbout(name string) (Digest, bool) {
	r := roomOf(name)
	if !r.about {
		return Digest{}, false
	}
	return keyOf(name, r.prefix)
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
	ages    map[string]time.Time // of records
	young   func(time.Time) bool
	dropped map[string]bool // runs
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
	names map[Digest]bool // the digests in its text and in that of its body
	study string          // of a run: its project and pipeline
	lost  error           // why its body cannot be read, whoever asks
}
