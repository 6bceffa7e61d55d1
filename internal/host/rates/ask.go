package rates

// Call is what a process is asked for rates by.
const Call = "rates"

// Ask asks a process how fast its device does the work of a shape. It answers with []Rate.
type Ask struct {
	Shape     Shape   `json:"shape"`
	Card      bool    `json:"card"`
	Batch     int     `json:"batch"`     // examples of an update
	Documents int     `json:"documents"` // that searches choose from
	Seconds   float64 `json:"seconds"`   // that a measurement may take, about
}
