package artifacts

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	fastjson "github.com/go-json-experiment/json"

	"github.com/redsi/redsi/internal/system/values"
)

// ResultFormat is the version of the result record that this code writes.
const ResultFormat = "redsi.result/1"

// Result is what a finished step left: the record "results/<hex key>".
type Result struct {
	Format   string              `json:"format"` // ResultFormat; Publish fills it in
	Key      Digest              `json:"key"`
	Preimage json.RawMessage     `json:"preimage"` // what Key is the digest of
	Outputs  map[string]Artifact `json:"outputs"`
	Took     time.Duration       `json:"-"` // in JSON "took_s", seconds
	Finished time.Time           `json:"finished"`
	Counts   map[string]int64    `json:"counts,omitempty"` // records read, dropped, changed, …
	Env      map[string]string   `json:"env,omitempty"`    // code revision, libtorch, device, host: recorded, not keyed
	Origin   Origin              `json:"origin"`
	Log      *Log                `json:"log,omitempty"`  // nil: none was kept
	Used     *Used               `json:"used,omitempty"` // nil: nothing was measured
	Kept     []File              `json:"kept,omitempty"` // what its preimage has a digest of, for people: no result is lost with it

	// From is the other store that the result is in, and Signer the trusted key that signed
	// it, NAME:BASE64, where that was looked at. Neither is stored.
	From   string `json:"-"`
	Signer string `json:"-"`

	// Released says that the bytes of the outputs have left the store on purpose. It is not
	// stored, and false of a hit.
	Released bool `json:"-"`

	body Digest // the blob of a record that is long
}

// Log is what a step said while it ran: its log lines and what its program wrote on
// standard error. It is for people: no result is lost with it.
type Log struct {
	Digest Digest `json:"digest,omitzero"` // of a blob; zero if nothing was said
	Size   int64  `json:"size"`            // bytes that are kept
	Cut    int64  `json:"cut,omitempty"`   // bytes that were left out of its middle
}

// Validate reports a log that no step could have left.
func (l *Log) Validate() error {
	if l != nil && (l.Size < 0 || l.Cut < 0 || l.Digest.IsZero() != (l.Size == 0)) {
		return fmt.Errorf("its log has %d bytes, less %d, and the digest %s", l.Size, l.Cut, l.Digest)
	}
	return nil
}

// Origin says which run produced a result.
type Origin struct {
	RunID      string `json:"run_id,omitempty"`
	WorkflowID string `json:"workflow_id,omitempty"`
	Step       string `json:"step,omitempty"`

	// Accepted is the text of the Acceptance by which the result stands for its key; ""
	// if it was made under it.
	Accepted string `json:"accepted,omitempty"`
}

// Bounds of what a result says.
const (
	maxTook       = 100 * 365 * 24 * time.Hour
	maxOutputs    = 1000
	maxOutputName = 100
	maxKept       = 100
)

// isOutputName reports whether an output of a kind may be called so; files are named by it.
func isOutputName(name string) bool {
	for i := range len(name) {
		c := name[i]
		word := c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_'
		if !word && (i == 0 || c != '.' && c != '-') {
			return false
		}
	}
	return name != "" && len(name) <= maxOutputName
}

// Validate reports a result that no step could have left: a key that is not that
// of the preimage, names that could lead out of a folder, sizes below zero.
func (r *Result) Validate() error {
	if !json.Valid(r.Preimage) {
		return errors.New("the preimage is not JSON")
	}
	return r.validate()
}

// validate is Validate of a result whose preimage is JSON.
func (r *Result) validate() error {
	switch {
	case r.Key.IsZero():
		return errors.New("the result has no key")
	case KeyOf(canonical(r.Preimage)) != r.Key:
		return fmt.Errorf("its preimage has the key %s, not %s", KeyOf(canonical(r.Preimage)), r.Key)
	case r.Took < 0:
		return fmt.Errorf("it took %s", r.Took)
	case len(r.Outputs) > maxOutputs:
		return fmt.Errorf("it has %d outputs, more than %d", len(r.Outputs), maxOutputs)
	}
	for name, a := range r.Outputs {
		if !isOutputName(name) {
			return fmt.Errorf("%.200q is not the name of an output", name)
		}
		if err := a.Validate(); err != nil {
			return fmt.Errorf("output %q: %w", name, err)
		}
	}
	if len(r.Kept) > maxKept {
		return fmt.Errorf("it keeps %d files, more than %d", len(r.Kept), maxKept)
	}
	for _, f := range r.Kept {
		if !isOutputName(f.Name) || f.Digest.IsZero() || f.Size < 0 {
			return fmt.Errorf("it keeps %.200q of %d bytes with the digest %s", f.Name, f.Size, f.Digest)
		}
	}
	return errors.Join(r.Log.Validate(), r.Used.Validate())
}

// aside is what r names beside its outputs: no result is lost with it.
func (r *Result) aside() (files []File) {
	if r.Log != nil && r.Log.Size > 0 {
		files = append(files, File{Digest: r.Log.Digest, Size: r.Log.Size})
	}
	return append(files, r.Kept...)
}

// Bytes is the size of r's outputs.
func (r *Result) Bytes() (n int64) {
	for _, a := range r.Outputs {
		n += a.Size
	}
	return n
}

// resultJSON is Result with Took in seconds. The alias drops Result's methods.
type resultJSON struct {
	resultPlain
	TookS float64 `json:"took_s"`
}

type resultPlain Result

// MarshalJSON writes Took as "took_s" in seconds.
func (r Result) MarshalJSON() ([]byte, error) {
	return json.Marshal(resultJSON{resultPlain(r), r.Took.Seconds()})
}

// UnmarshalJSON reads what MarshalJSON wrote. A plan reads many records: this is several
// times as fast as encoding/json.
func (r *Result) UnmarshalJSON(b []byte) error {
	var w resultJSON
	if err := fastjson.Unmarshal(b, &w); err != nil {
		return err
	}
	if err := values.Lacks(b, w); err != nil {
		return err
	}
	if !(w.TookS >= 0 && w.TookS <= maxTook.Seconds()) {
		return fmt.Errorf("took_s is %v", w.TookS)
	}
	*r = Result(w.resultPlain)
	r.Took = time.Duration(math.Round(w.TookS * float64(time.Second)))
	return nil
}
