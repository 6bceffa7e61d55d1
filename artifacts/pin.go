package artifacts

import (
	"context"
	"encoding/json"
	"strings"
	"time"
)

// Pin is the record "pins/NAME". Garbage collection keeps the run or results that it names until it is
// removed.
type Pin struct {
	Name    string    `json:"name,omitempty"` // "" in the record, whose name says it
	Format  string    `json:"format"`         // PinFormat
	Of      string    `json:"of"`             // what it keeps, for people
	Since   time.Time `json:"since"`
	Run     string    `json:"keeps_run,omitempty"` // the id of a run, whose results and failures stay
	Results int       `json:"results,omitempty"`   // how many keys the body lists
	Body    *Digest   `json:"body,omitempty"`
}

// PinFormat is the format of Pin. The pins of accepted results have none.
const PinFormat = "redsi-pin/1"

// PutPin writes a pin that keeps its run and the results of keys, in place of any pin of that name.
func PutPin(ctx context.Context, s Store, p Pin, keys []Digest) error {
	p.Format, p.Results = PinFormat, len(keys)
	if len(keys) > 0 {
		text, err := json.Marshal(map[string][]Digest{"results": keys})
		if err != nil {
			return err
		}
		body, err := PutBytes(ctx, s.Blobs, text)
		if err != nil {
			return err
		}
		p.Body = &body
	}
	name := PinsPrefix + p.Name
	p.Name = ""
	return PutJSON(ctx, s.Records, name, p)
}

// Pins reads the pins of s, by name. It passes over the pins of accepted results.
func Pins(ctx context.Context, s Store) (pins []Pin, err error) {
	pins = []Pin{}
	for doc, err := range DocumentsIn(ctx, s.Records, PinsPrefix) {
		if err != nil {
			return nil, err
		}
		var p Pin
		if json.Unmarshal(doc.Text, &p) == nil && p.Format == PinFormat {
			p.Name = strings.TrimPrefix(doc.Name, PinsPrefix)
			pins = append(pins, p)
		}
	}
	return pins, nil
}
