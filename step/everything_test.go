package step

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/redsi/redsi/artifacts"
)

// everything has an attribute of every form.
type everything struct {
	Text     string              `hcl:"text" help:"h"`
	Choice   string              `hcl:"choice,optional" help:"h" enum:"a,b,c"`
	Choices  []string            `hcl:"choices,optional" help:"h" enum:"a,b,c"`
	Flag     bool                `hcl:"flag,optional" help:"h"`
	Count    int                 `hcl:"count,optional" help:"h"`
	Rate     float64             `hcl:"rate,optional" help:"h"`
	Maybe    *float64            `hcl:"maybe,optional" help:"h"`
	Steps    []int               `hcl:"steps,optional" help:"h"`
	Required []string            `hcl:"required" help:"h"`
	Words    map[string]string   `hcl:"words,optional" help:"h"`
	Lists    map[string][]string `hcl:"lists,optional" help:"h"`
	Grid     [][]float64         `hcl:"grid,optional" help:"h"`
	One      Input               `hcl:"one" help:"h" accepts:"a"`
	Other    *Input              `hcl:"other,optional" help:"h"`
	Many     Inputs              `hcl:"many,optional" help:"h"`
	Named    map[string]Input    `hcl:"named,optional" help:"h"`
	Options  options             `hcl:"options,optional" help:"h"`
	Rows     []options           `hcl:"rows,block" help:"h"`
	Extra    options             `hcl:"extra,added" help:"h"`
	Later    int                 `hcl:"later,added" help:"h"`
	Mirror   string              `hcl:"mirror,optional,nokey" help:"h"`
	Source   *Input              `hcl:"source,optional,nokey" help:"h"`
}

type options struct {
	Name  string   `hcl:"name,label,optional" help:"h"`
	Lists []string `hcl:"lists,optional" help:"h"`
	Gap   int      `hcl:"gap,optional" help:"h"`
	New   string   `hcl:"new,added" help:"h"`
	Note  string   `hcl:"note,optional,nokey" help:"h"`
	From  *Input   `hcl:"from,optional" help:"h"`
}

func everythingKind() Kind[everything] {
	return Kind[everything]{
		Name: "everything", Version: 3, Doc: "d", Outputs: []Output{{Name: "out", Type: "a"}, {Name: "files", Type: "b", Tree: true}},
		Defaults: everything{
			Choice: "a", Count: 7, Rate: 0.1, Steps: []int{1, 2}, Words: map[string]string{"k": "v"}, Later: 5,
			Options: options{Name: "n", Lists: []string{"x"}, New: "dash"},
			Extra:   options{Lists: []string{"y"}, Gap: 2},
		},
		Check: func(c everything) error {
			if c.Count > 1000 {
				return Problem{"count", "more than 1000"}
			}
			return nil
		},
		Run: func(context.Context, *IO, everything) error { return nil },
	}
}

func artifactOf(text string) artifacts.Artifact {
	return artifacts.Artifact{Type: "a", Digest: artifacts.Sum([]byte(text)), Size: int64(len(text))}
}

// minimal is what must be given.
func minimal() map[string]any {
	return map[string]any{"text": "t", "required": []any{"r"}, "one": In(artifactOf("one"))}
}

// random makes a value of a type. Of what is optional it gives some.
func random(rng *rand.Rand, t Type, enum []string) any {
	switch t.Kind {
	case String:
		if len(enum) > 0 {
			return enum[rng.IntN(len(enum))]
		}
		return strings.Repeat(string(rune('a'+rng.IntN(26))), rng.IntN(4)) + []string{"", "é", "\"", "<&>", "\x01", "$ref"}[rng.IntN(6)]
	case Bool:
		return rng.IntN(2) == 0
	case Int:
		return int64(rng.IntN(2000) - 1000)
	case Float:
		return []float64{0, 1, -1, 0.1, 1e-9, 1e30, rng.Float64(), float64(rng.IntN(100))}[rng.IntN(8)]
	case InputOne:
		return In(artifactOf(fmt.Sprint(rng.IntN(1000))))
	case InputMany:
		list := make([]any, rng.IntN(3))
		for i := range list {
			list[i] = random(rng, Type{Kind: InputOne}, nil)
		}
		return list
	case List:
		list := make([]any, rng.IntN(3))
		for i := range list {
			list[i] = random(rng, *t.Elem, enum)
		}
		return list
	case Map:
		m := map[string]any{}
		for range rng.IntN(3) {
			m[fmt.Sprintf("k%d", rng.IntN(5))] = random(rng, *t.Elem, enum)
		}
		return m
	}
	return randomObject(rng, t.Attrs)
}

func randomObject(rng *rand.Rand, attrs []Attr) map[string]any {
	m := map[string]any{}
	for _, a := range attrs {
		if !a.Optional || rng.IntN(2) == 0 {
			m[a.Name] = random(rng, a.Type, a.Enum)
		}
	}
	return m
}
