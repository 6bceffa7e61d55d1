package rates

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/step"
)

const format = "redsi-rates/1"

// Rates is how fast a device is.
type Rates struct {
	Format   string    `json:"format"`
	Device   string    `json:"device"`         // its name; a CPU's has its cores
	Card     bool      `json:"card"`           // it is a GPU
	Memory   int64     `json:"memory"`         // bytes that it has; 0: not known
	When     time.Time `json:"when,omitzero"`  // it was measured
	Load     float64   `json:"load,omitempty"` // load average of the minute before it began
	Revision string    `json:"revision"`       // of redsi
	Libtorch string    `json:"libtorch"`
	Cards    []string  `json:"cards,omitempty"` // of a CPU: its machine's cards on which models could compute
	Rates    []Rate    `json:"rates"`
	// Evaluated: the time of updates includes the evaluations on the way.
	Evaluated bool `json:"evaluated,omitempty"`
}

// Rate is how fast a unit is done.
type Rate struct {
	Unit        step.Unit `json:"unit"`
	Shape       string    `json:"shape,omitempty"`       // of the model, of Shapes
	Identifiers string    `json:"identifiers,omitempty"` // their type; "": any type without its own rate
	Documents   int       `json:"documents,omitempty"`   // with atomic identifiers
	PerSecond   float64   `json:"per_second"`
	Memory      int64     `json:"memory,omitempty"` // bytes at the peak; 0: not known
	Note        string    `json:"note,omitempty"`   // how it was measured, if not plainly
}

// Name returns a short name for files and flags: "nvidia-h200".
func (r *Rates) Name() string {
	return strings.Trim(notNames.ReplaceAllString(strings.ToLower(r.Device), "-"), "-")
}

// String says of which device the rates are, and when they were measured.
func (r *Rates) String() string {
	switch {
	case r.When.IsZero():
		return r.Device + ", as printed"
	case r.Load >= 1 && !r.Card:
		return fmt.Sprintf("%s, measured %s while other work ran (load %.1f), so it may be faster", r.Device, r.When.Format(time.DateOnly), r.Load)
	}
	return r.Device + ", measured " + r.When.Format(time.DateOnly)
}

var notNames = regexp.MustCompile(`[^a-z0-9]+`)

// Of returns the rate of a unit; false if it is not known. Between rates measured with few and with many documents, and
// beyond, time and memory are linear in the number of documents.
func (r *Rates) Of(unit step.Unit, shape, identifiers string, documents float64) (few Rate, ok bool) {
	for _, ids := range []string{identifiers, ""} {
		for _, many := range r.Rates {
			switch {
			case many.Unit != unit || many.Shape != shape || many.Identifiers != ids:
			case !ok:
				few, ok = many, true
			case many.Documents > few.Documents:
				share := (documents - float64(few.Documents)) / float64(many.Documents-few.Documents)
				few.PerSecond = 1 / (1/few.PerSecond + share*max(0, 1/many.PerSecond-1/few.PerSecond))
				few.Memory += int64(share * float64(max(0, many.Memory-few.Memory)))
				return few, true
			}
		}
		if ok {
			return few, true
		}
	}
	return Rate{}, false
}

// Save writes the rates into a folder, in place of older rates of the device.
func Save(folder string, r Rates) (file string, err error) {
	r.Format = format
	file = filepath.Join(folder, r.Name()+".json")
	return file, atomicfile.WriteJSON(file, r, "  ", 0o644)
}

// Read reads the rates of a folder, which may be absent, by name. bad says which files cannot be used, and why.
func Read(folder string) (all []Rates, bad []error) {
	files, _ := fs.Glob(os.DirFS(folder), "*.json") // the pattern is valid
	for _, name := range files {
		f := filepath.Join(folder, name)
		r, err := read(f)
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed meanwhile
		case err != nil:
			bad = append(bad, fmt.Errorf("%s: %w", f, err))
		default:
			all = append(all, r)
		}
	}
	return all, bad
}

func read(file string) (r Rates, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("it is damaged: %w", err)
	}
	switch {
	case r.Format != format:
		return r, fmt.Errorf("its format is %q, this redsi reads %s", r.Format, format)
	case r.Name() == "" || len(r.Rates) == 0:
		return r, errors.New("it is damaged: it names no device, or has no rates")
	case slices.ContainsFunc(r.Rates, func(x Rate) bool { return !(x.PerSecond > 0) || math.IsInf(x.PerSecond, 0) || x.Memory < 0 }):
		return r, errors.New("it is damaged: a rate is no number above 0")
	}
	return r, nil
}

// Documents and TrainQueries are the sizes of the paper's largest collection, NQ320K-Title.
const (
	Documents    = 109_739
	TrainQueries = 307_373
)

// V100 returns what the paper prints of the card that it used, a V100 of 16 GB with transformers: T5-Base makes 900,000
// updates in 74.5 hours with naive identifiers and in 79.1 with semantic identifiers, and 65,000 in 6.8 with atomic
// identifiers, evaluations included. It prints nothing about other models and other work.
func V100() Rates {
	base := func(identifiers string, updates, hours float64) Rate {
		return Rate{Unit: step.Updates, Shape: "t5-base", Identifiers: identifiers, PerSecond: updates / (hours * 3600)}
	}
	return Rates{Format: format, Device: "V100 paper", Card: true, Memory: 16e9, Evaluated: true,
		Rates: []Rate{base("naive", 900_000, 74.5), base("semantic", 900_000, 79.1), base("atomic", 65_000, 6.8)}}
}

// Named returns the rates of a name, among all and the paper's.
func Named(all []Rates, name string) (*Rates, error) {
	names := []string{}
	for _, r := range append(slices.Clone(all), V100()) {
		if r.Name() == name {
			return &r, nil
		}
		names = append(names, r.Name())
	}
	return nil, fmt.Errorf("no rates of %q are kept; there are rates of %s. doctor --rates measures this machine; the file that it writes may be copied", name, strings.Join(names, ", "))
}

// Call is the name of the call that asks a process for rates.
const Call = "rates"

// Ask asks a process how fast its device does the work of a shape. The answer is []Rate.
type Ask struct {
	Shape     Shape   `json:"shape"`
	Card      bool    `json:"card"`
	Batch     int     `json:"batch"`     // examples of an update
	Documents int     `json:"documents"` // from which searches choose
	Seconds   float64 `json:"seconds"`   // which a measurement may take, about
}
