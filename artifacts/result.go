package artifacts

import (
	"encoding/json"
	"math"
	"time"
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
}

// Origin says which run produced a result.
type Origin struct {
	RunID      string `json:"run_id,omitempty"`
	WorkflowID string `json:"workflow_id,omitempty"`
	Step       string `json:"step,omitempty"`
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

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Result) UnmarshalJSON(b []byte) error {
	var w resultJSON
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*r = Result(w.resultPlain)
	r.Took = time.Duration(math.Round(w.TookS * float64(time.Second)))
	return nil
}
