package rates

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
