package expect

import (
	"encoding/json"
	"fmt"

	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/pipeline"
)

// Asked is what a table or figure's configuration expects of its cells.
type Asked struct {
	Paper, Scale string
	PaperScale   string `json:"paper_scale"`
	Expect       []render.Expectation
	Series       []struct {
		ID    string
		Curve json.RawMessage
	}
}

// AskedBy reads the configuration of a table or figure, as a plan has it: expectations are
// in no key, so no preimage has them.
func AskedBy(config []byte) (a Asked, err error) {
	err = json.Unmarshal(config, &a)
	return a, err
}

// Other reports whether the scale is not the paper's.
func (a Asked) Other() bool { return !render.AtPaperScale(a.Scale, a.PaperScale) }

// curves are the series whose points come with the data.
func (a Asked) curves() (ids []string) {
	for _, s := range a.Series {
		if len(s.Curve) > 0 {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// placed are the expectations that are about the scale, each with its place in the source.
func (a Asked) placed(at map[string]pipeline.Pos, block pipeline.Pos, judge func(render.Expectation) ([]render.Check, error)) ([]Check, error) {
	var list []Check
	for i, e := range a.Expect {
		checks, err := judge(e)
		if err != nil {
			return nil, err
		}
		pos := placeOf(at, block, i)
		for _, c := range checks {
			list = append(list, Check{c, pos})
		}
	}
	return list, nil
}

// placeOf is where the expectation with a number is written: its block, or the attribute
// that lists them.
func placeOf(at map[string]pipeline.Pos, block pipeline.Pos, i int) pipeline.Pos {
	if pos, ok := at[fmt.Sprintf("expect[%d]", i)]; ok {
		return pos
	}
	if pos, ok := at["expect"]; ok {
		return pos
	}
	return block
}
