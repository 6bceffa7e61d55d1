package artifacts

import (
	"cmp"
	"encoding/json"
	jsonv2 "encoding/json/v2"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/values"
)

// ResultFormat is the version of the result record that this code writes.
const ResultFormat = "redsi.result/1"

// Result is the record of a finished step, "results/<hex key>".
type Result struct {
	Format   string              `json:"format"` // ResultFormat; Publish fills it in
	Key      Digest              `json:"key"`
	Preimage json.RawMessage     `json:"preimage"` // of Key
	Outputs  map[string]Artifact `json:"outputs"`
	Took     time.Duration       `json:"-"` // in JSON "took_s", seconds
	Finished time.Time           `json:"finished"`
	Counts   map[string]int64    `json:"counts,omitempty"` // records read, dropped, changed, …
	Env      map[string]string   `json:"env,omitempty"`    // code revision, libtorch, device, host: recorded, not keyed
	Origin   Origin              `json:"origin"`
	Log      *Log                `json:"log,omitempty"`  // nil: none was kept
	Used     *Used               `json:"used,omitempty"` // nil: nothing was measured
	Kept     []File              `json:"kept,omitempty"` // of which the preimage has digests, for people; a result counts without them

	// These are not stored: the other store that has the result; the trusted key that signed it,
	// NAME:BASE64, where that was looked at; and whether the outputs' bytes have left the store on
	// purpose, which is false of a hit.
	From     string `json:"-"`
	Signer   string `json:"-"`
	Released bool   `json:"-"`

	body Digest // the blob of a long record
}

// Log is the log lines of a step and what its program wrote on standard error. It is for people: a
// result counts without it.
type Log struct {
	Digest Digest `json:"digest,omitzero"` // of a blob; zero if nothing was said
	Size   int64  `json:"size"`            // bytes that are kept
	Cut    int64  `json:"cut,omitempty"`   // bytes that were left out of its middle
}

// Validate reports a log that no step can have left.
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

	// Accepted is the text of the Acceptance by which the result stands for its key; "" if it was
	// computed under that key.
	Accepted string `json:"accepted,omitempty"`
}

// Bounds of what a result says.
const (
	maxTook    = 100 * 365 * 24 * time.Hour
	maxOutputs = 1000
	maxKept    = 100
)

// outputName matches the names that an output of a kind may have; files are named by it.
var outputName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$`)

// Validate reports a result that no step can have left: another key than the preimage gives, names that
// could lead out of a folder, sizes below zero.
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
		if !outputName.MatchString(name) {
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
		if !outputName.MatchString(f.Name) || f.Digest.IsZero() || f.Size < 0 {
			return fmt.Errorf("it keeps %.200q of %d bytes with the digest %s", f.Name, f.Size, f.Digest)
		}
	}
	return errors.Join(r.Log.Validate(), r.Used.Validate())
}

// aside returns the files that r names beside its outputs, without which it still counts.
func (r *Result) aside() (files []File) {
	if r.Log != nil && r.Log.Size > 0 {
		files = append(files, File{Digest: r.Log.Digest, Size: r.Log.Size})
	}
	return append(files, r.Kept...)
}

// Bytes returns the size of r's outputs.
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

// UnmarshalJSON reads what MarshalJSON writes: each name once, and in its case.
func (r *Result) UnmarshalJSON(b []byte) error {
	var w resultJSON
	if err := jsonv2.Unmarshal(b, &w); err != nil {
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

// Lost names a blob that a result needs and the store does not have.
type Lost struct {
	Output string
	File   string // of a tree; else ""
	Digest Digest
}

func (l Lost) String() string {
	if l.Output == "" {
		return fmt.Sprintf("the body of its record (%s)", l.Digest)
	}
	if l.File != "" {
		return fmt.Sprintf("%s of output %s (%s)", l.File, l.Output, l.Digest)
	}
	return fmt.Sprintf("output %s (%s)", l.Output, l.Digest)
}

// blobs lists every blob that r needs, with its place in r, by output and file name; none if r is nil.
func (r *Result) blobs() (all []Lost) {
	if r == nil {
		return nil
	}
	if !r.body.IsZero() {
		all = append(all, Lost{Digest: r.body})
	}
	for _, name := range slices.Sorted(maps.Keys(r.Outputs)) {
		for _, f := range r.Outputs[name].Named("") {
			all = append(all, Lost{Output: name, File: f.Name, Digest: f.Digest})
		}
	}
	return all
}

// needs returns the digests of blobs.
func (r *Result) needs() []Digest {
	return lists.Map(r.blobs(), func(l Lost) Digest { return l.Digest })
}

// OutputsDigest returns a digest of the names, types and contents of r's outputs: equal for all results
// of a deterministic step.
func (r Result) OutputsDigest() Digest {
	b, err := json.Marshal(r.Outputs)
	if err != nil {
		panic(fmt.Sprintf("artifacts: outputs of %s: %v", r.Key, err)) // strings and numbers only
	}
	return Sum(b)
}

// withoutOutputs returns r without its outputs.
func (r *Result) withoutOutputs() *Result {
	other := *r
	other.Outputs = nil
	return &other
}

// Sizes returns the sizes of the blobs of r's outputs.
func (r *Result) Sizes() map[Digest]int64 {
	sizes := map[Digest]int64{}
	for _, a := range r.Outputs {
		for _, f := range a.Named("") {
			sizes[f.Digest] = f.Size
		}
	}
	return sizes
}

// Memory returns the most bytes of memory that r's step had at a time; 0 if they were not measured.
func (r *Result) Memory() int64 {
	if u := r.Used; u != nil && (u.MemoryOf == MemoryOfProgram || u.MemoryOf == MemoryOfStep) {
		return u.Memory
	}
	return 0
}

// With adds up what a step and its parts used: a sum is there only if every term is, and the most memory
// is the maximum. It is nil where nothing of a part was measured.
func (u *Used) With(parts []Result) *Used {
	if u == nil || len(parts) == 0 {
		return u
	}
	all := append([]*Used{u}, lists.Map(parts, func(r Result) *Used { return r.Used })...)
	cpu, memory, energy := true, true, true
	for _, x := range all {
		if x == nil {
			return nil
		}
		cpu, memory, energy = cpu && x.CPUOf != "", memory && x.MemoryOf != "", energy && x.EnergyOf != ""
	}
	sum := &Used{}
	var cards, counters []string
	for _, x := range all {
		sum.Read += x.Read
		sum.Written += x.Written
		sum.Beside = max(sum.Beside, x.Beside)
		if cpu {
			sum.CPU += x.CPU
			sum.CPUOf = widest(sum.CPUOf, x.CPUOf)
		}
		if memory && x.Memory > sum.Memory {
			sum.Memory, sum.MemoryOf = x.Memory, x.MemoryOf
		}
		if energy {
			sum.Energy += x.Energy
			counters = append(counters, x.EnergyOf)
		}
		sum.CardMemory = max(sum.CardMemory, x.CardMemory)
		if x.Card != "" {
			cards = append(cards, x.Card)
		}
	}
	sum.Card, sum.EnergyOf = distinct(cards), distinct(counters)
	return sum
}

// widest returns whose processor time the sum of two terms is.
func widest(a, b string) string {
	order := []string{"", CPUOfProgram, CPUOfStep, CPUOfProcess}
	if cmp.Compare(slices.Index(order, b), slices.Index(order, a)) > 0 {
		return b
	}
	return a
}

// distinct joins texts, sorted and each once.
func distinct(list []string) string {
	slices.Sort(list)
	return strings.Join(slices.Compact(list), "; ")
}

// Used is what a step, with its parts, took of the machine that ran it. It is for people: no key has it,
// nothing compares it, and what could not be measured is left out.
type Used struct {
	CPU        float64 `json:"cpu_s,omitempty"`       // seconds of processors, user and system
	CPUOf      string  `json:"cpu_of,omitempty"`      // whose: one of CPUOf…
	Memory     int64   `json:"memory,omitempty"`      // bytes, the most at a time
	MemoryOf   string  `json:"memory_of,omitempty"`   // whose: one of MemoryOf…
	Read       int64   `json:"read,omitempty"`        // bytes of inputs, as they were read from the store
	Written    int64   `json:"written,omitempty"`     // bytes that it gave the store
	Card       string  `json:"card,omitempty"`        // that it computed on
	CardMemory int64   `json:"card_memory,omitempty"` // bytes of tensors on cards, the most at a time
	Energy     float64 `json:"energy_j,omitempty"`    // joules of the machine while the step ran
	EnergyOf   string  `json:"energy_of,omitempty"`   // what of the machine has a counter
	Beside     int     `json:"beside,omitempty"`      // other steps of the process that ran meanwhile, the most at a time
}

// Whose processor time it is.
const (
	CPUOfProgram = "program" // of the step's program and the processes that it waited for
	CPUOfStep    = "step"    // of the process, in which no other step ran meanwhile
	CPUOfProcess = "process" // of the process, in which other steps ran too: no more than that is known
)

// Whose memory it is.
const (
	MemoryOfProgram = "program" // of the largest process of the step's program
	MemoryOfStep    = "step"    // by which redsi's process grew while no other step ran in it
	MemoryOfProcess = "process" // of the process, whatever was in it: no step's
)

// Own reports whether the processor time is the step's and no other step's.
func (u *Used) Own() bool {
	return u != nil && (u.CPUOf == CPUOfProgram || u.CPUOf == CPUOfStep)
}

// Validate reports amounts that no step can have used.
func (u *Used) Validate() error {
	if u == nil {
		return nil
	}
	for _, v := range []float64{u.CPU, u.Energy, float64(u.Memory), float64(u.Read), float64(u.Written), float64(u.CardMemory), float64(u.Beside)} {
		if v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			return fmt.Errorf("it used %v of something", v)
		}
	}
	return nil
}
