package compare

import (
	"testing"

	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestDiffFields: documents are compared leaf by leaf, whatever their form.
func TestDiffFields(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		want       []Value
	}{
		{"same", `{"x": 1}`, `{ "x":1 }`, nil},
		{"number", `{"metrics": {"MRR@10": 0.601}}`, `{"metrics": {"MRR@10": 0.604}}`, []Value{{At: "metrics.MRR@10", A: "0.601", B: "0.604"}}},
		{"digits", `{"n": 9007199254740993}`, `{"n": 9007199254740992}`, []Value{{At: "n", A: "9007199254740993", B: "9007199254740992"}}},
		{"list", `[1, 2]`, `[1, 3, 4]`, []Value{{At: "1", A: "2", B: "3"}, {At: "2", B: "4"}}},
		{"gone", `{"a": "x", "b": null}`, `{"b": true}`, []Value{{At: "a", A: `"x"`}, {At: "b", A: "null", B: "true"}}},
	} {
		x, isJSON := fromJSON([]byte(c.a))
		y, too := fromJSON([]byte(c.b))
		testkit.Deep(t, diffFields(x, y), c.want)
		testkit.That(t, isJSON && too, c.name)
	}
	for _, text := range []string{"", "1", `"x"`, "{", `{"a": 1}` + "\n" + `{"a": 2}`, "x,y"} {
		if _, ok := fromJSON([]byte(text)); ok {
			t.Errorf("%q is taken for a JSON document", text)
		}
	}
}

// TestDiffCells: cells are compared as printed; a number that differs below the printed digits differs too.
func TestDiffCells(t *testing.T) {
	const head = `{"stubs": ["Form"], "columns": [{"id": "m", "title": "<b>MRR@10</b>", "format": {"style": "fixed", "decimals": 1}}], "rows": [`
	before := head + `{"id": "nci", "titles": ["Nci"], "cells": {"m": {"value": 60.1}}}, {"id": "old", "titles": ["Old"], "cells": {"m": {"value": 2}}}, {"id": "html", "titles": ["Html"], "cells": {"m": {"value": 50.01}}}]}`
	after := head + `{"id": "nci", "titles": ["Nci"], "cells": {"m": {"value": 60.4}}}, {"id": "html", "titles": ["Html"], "cells": {"m": {"value": 50.02}}}, {"id": "new", "titles": ["New"]}]}`
	ds, err := diffCells("table", []byte(before), []byte(after))
	testkit.None(t, err)
	got := lists.Map(ds, func(d Value) string { return d.At + " | " + d.Name + " | " + d.A + " | " + d.After() })
	want := []string{
		"nci.m | MRR@10, row nci | 60.1 | 60.4",
		"html.m | MRR@10, row html | 50.0 | 50.0 (50.01 → 50.02, not rounded)",
		"new.m | MRR@10, row new |  | –",
		"old.m | MRR@10, row old | 2.0 | none",
	}
	testkit.Deep(t, got, want)
}
