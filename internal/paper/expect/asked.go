package expect

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/pipeline"
)

// asked is what a plan's table or figure expects of its cells; keys and preimages do not have it.
type asked struct {
	Paper, Scale string
	PaperScale   string `json:"paper_scale"`
	Expect       []render.Expectation
	Series       []struct {
		ID    string
		Curve json.RawMessage
	}
}

// curves returns the series whose points come with the data.
func (a asked) curves() (ids []string) {
	for _, s := range a.Series {
		if len(s.Curve) > 0 {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// placeOf returns where expectation i is written: its block, or the attribute that lists all.
func placeOf(at map[string]pipeline.Pos, block pipeline.Pos, i int) pipeline.Pos {
	return cmp.Or(at[fmt.Sprintf("expect[%d]", i)], at["expect"], block)
}
