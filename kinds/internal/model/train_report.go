package model

// TrainReport is the report of a train step. Metrics are fractions; seconds are
// wall clock, evaluations and resumed parts included.
type TrainReport struct {
	Parameters int64              `json:"parameters"` // trainable numbers, tied ones counted once
	Steps      int64              `json:"steps"`      // updates made
	BestStep   int64              `json:"best_step"`
	Metrics    map[string]float64 `json:"metrics" unit:"fraction"` // of the selected checkpoint
	Indexing   int                `json:"indexing_examples"`
	Retrieval  int                `json:"retrieval_examples"`

	Seconds       float64 `json:"seconds" unit:"s"`
	SecondsToBest float64 `json:"seconds_to_best" unit:"s"`

	// The first evaluation whose selecting metric is at least 95 % of the best
	// (figure "model scaling and training", hollow markers).
	StepsTo95   int64   `json:"steps_to_95_percent"`
	SecondsTo95 float64 `json:"seconds_to_95_percent" unit:"s"`
	MRRAt95     float64 `json:"mrr_at_95_percent" unit:"fraction"`

	Device    string `json:"device"`
	Threads   int    `json:"threads"`    // of one operation on the CPU
	ResumedAt int64  `json:"resumed_at"` // step at which the last process went on; 0: at the start

	ContinuedFrom int64  `json:"continued_from,omitempty"` // step of the state that another step with fewer steps had kept
	Stopped       string `json:"stopped,omitempty"`        // why steps are fewer than were asked for
}
