package alike

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

type report struct {
	Queries int                `json:"queries"`
	Loss    float64            `json:"loss"`
	Best    int                `json:"best"`
	Metrics map[string]float64 `json:"metrics"`
	Points  []struct {
		Seconds float64 `json:"seconds"`
		Loss    float64 `json:"loss"`
	} `json:"points"`
	Name string `json:"name"`
}

// store keeps what tests compare.
type store struct {
	t *testing.T
	artifacts.Store
}

func newStore(t *testing.T) store { return store{t, mem.New()} }

func (s store) blob(text string) artifacts.Artifact {
	s.t.Helper()
	return artifacts.Artifact{Type: "x", Digest: storetest.Put(s.t, s.Store, []byte(text)), Size: int64(len(text))}
}

func (s store) tree(files ...string) artifacts.Artifact {
	s.t.Helper()
	var list []artifacts.File
	for i := 0; i < len(files); i += 2 {
		b := s.blob(files[i+1])
		list = append(list, artifacts.File{Name: files[i], Digest: b.Digest, Size: b.Size})
	}
	a, err := artifacts.Tree("files", list)
	testkit.None(s.t, err)
	return a
}

// one compares two of an output.
func (s store) one(o step.Output, x, y artifacts.Artifact) Found {
	s.t.Helper()
	o.Name = "o"
	c, err := Compare(context.Background(), s.Blobs, []step.Output{o}, map[string]step.Alike{"o": o.Rule()},
		map[string]artifacts.Artifact{"o": x}, map[string]artifacts.Artifact{"o": y}, nil)
	testkit.None(s.t, err)
	if len(c.Outputs) == 0 {
		return Found{Verdict: Same}
	}
	return c.Outputs[0]
}

// change is how an output with other text in place of was compares, and the path of its worst difference.
type change struct {
	was, is string
	verdict Verdict
	path    string
}

// changed compares a text with the same text after a change.
func (s store) changed(name string, o step.Output, text string, c change) {
	s.t.Helper()
	rebuilt := strings.Replace(text, c.was, c.is, 1)
	if rebuilt == text && c.was != "" {
		s.t.Fatalf("%s changes nothing", name)
	}
	s.judged(name, s.one(o, s.blob(text), s.blob(rebuilt)), c.verdict, c.path)
}

// judged checks a verdict, and the path of the worst difference, if there is one.
func (s store) judged(name string, f Found, verdict Verdict, path string) {
	s.t.Helper()
	if f.Verdict != verdict || f.Worst == nil && path != "" || f.Worst != nil && f.Worst.Path != path {
		s.t.Errorf("%s: %s, %+v", name, f.Verdict, f.Worst)
	}
}

func TestNumbers(t *testing.T) {
	s := newStore(t)
	o := step.Output{Fields: step.FieldsOf[report](), Alike: step.Numbers{Margin: step.Margin{Rel: 0.01}, Fields: map[string]step.Margin{
		"points[].seconds": {Skip: true}, "best": {Abs: 25}, "metrics.*": {Abs: 0.1},
	}}}
	const first = `{"queries": 60, "loss": 1, "best": 75, "metrics": {"MRR@10": 0.5}, "points": [{"seconds": 3, "loss": 2.5}], "name": "x"}`
	for name, c := range map[string]change{
		"the same":                 {"", "", Same, ""},
		"white space":              {`"loss": 1,`, `"loss":1,`, Within, ""},
		"another time":             {`"seconds": 3`, `"seconds": 4.5`, Same, ""},
		"a loss nearby":            {`"loss": 1,`, `"loss": 1.005,`, Within, "loss"},
		"a loss far away":          {`"loss": 2.5`, `"loss": 2.6`, Differs, "points.0.loss"},
		"a whole number":           {`"queries": 60`, `"queries": 61`, Differs, "queries"},
		"a whole number of leeway": {`"best": 75`, `"best": 100`, Within, "best"},
		"beyond its leeway":        {`"best": 75`, `"best": 101`, Differs, "best"},
		"a field of a map":         {`0.5`, `0.55`, Within, "metrics.MRR@10"},
		"far off in a map":         {`0.5}`, `0.7}`, Differs, "metrics.MRR@10"},
		"another name in a map":    {`MRR@10`, `MRR@20`, Differs, "metrics.MRR@10"},
		"a text":                   {`"x"`, `"y"`, Differs, "name"},
		"another type":             {`"x"`, `1`, Differs, "name"},
		"a point more":             {`"points": [`, `"points": [{"seconds": 1, "loss": 2.5}, `, Differs, "points"},
		"cut off":                  {`}], "name": "x"}`, `}`, Differs, ""},
		"a document more":          {`"name": "x"}`, `"name": "x"} {}`, Differs, "line 2"},
	} {
		s.changed(name, o, first, c)
	}
	f := s.one(o, s.blob(first), s.blob(strings.Replace(strings.Replace(first, `"loss": 1,`, `"loss": 1.005,`, 1), "75", "99", 1)))
	if f.Worst.Path != "best" || f.Worst.Stands != "75" || f.Worst.Made != "99" || *f.Worst.By != 24 || *f.Worst.Allowed != 25 || f.Worst.Output != "o" {
		t.Errorf("not the worst of two: %+v", f.Worst)
	}
}

// TestUndeclared: without declared fields, numbers are integers as they are written, line by line.
func TestUndeclared(t *testing.T) {
	s := newStore(t)
	o := step.Output{Alike: step.Numbers{Margin: step.Margin{Rel: 1e-3}}}
	zipped := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write([]byte(text))
		w.Close()
		return b.String()
	}
	for _, c := range []change{
		{"{\"a\":1.5}\n{\"a\":2.5}\n", "{\"a\":1.5}\n{\"a\":2.5001}\n", Within, "line 2: a"},
		{"{\"a\":1.5}\n{\"a\":2.5}\n", zipped("{\"a\":1.5}\n{\"a\":2.5001}\n"), Within, "line 2: a"},
		{"[1, 2]", "[1, 3]", Differs, "1"},
		{"[1, 2]", "[1, 2.0]", Within, "1"},
		{"[9007199254740993]", "[9007199254740992]", Differs, "0"},
		{"[1e400]", "[1e401]", Differs, "0"},
		{"not JSON", "nor this", Differs, ""},
	} {
		s.judged(c.was+", "+c.is, s.one(o, s.blob(c.was), s.blob(c.is)), c.verdict, c.path)
	}
}

func TestTexts(t *testing.T) {
	s := newStore(t)
	o := step.Output{Alike: step.Texts{Margin: step.Margin{Abs: 0.01}}}
	for _, c := range []change{
		{"a, 0.5\nb, 0.7\n", "a,  0.5\nb, 0.705\n", Within, "line 2"},
		{"a, 0.5\nb, 0.7\n", "a, 0.5\nb, 0.72", Differs, "line 2"},
		{"a,0.5", "a;0.5", Differs, "line 1"},
		{"epoch 3", "epoch 4", Differs, "line 1"},
		{"loss=0.5", "loss=0.501", Within, "line 1"},
		{"één à 0.5", "één à 0.501", Within, "line 1"},
		{"a b", "a b c", Differs, "line 1"},
		{"a b\n", "a b", Within, ""},
		{strings.Repeat("x", longestWord+1), "x", Differs, ""},
	} {
		s.judged(fmt.Sprintf("%.20q, %.20q", c.was, c.is), s.one(o, s.blob(c.was), s.blob(c.is)), c.verdict, c.path)
	}
}

func TestRuns(t *testing.T) {
	s := newStore(t)
	o := step.Output{Alike: step.Runs{Depth: 2, Overlap: 0.75}}
	const first = "q1 Q0 d1 1 3 t\nq1 Q0 d2 2 2 t\nq1 Q0 d3 3 1 t\nq2 Q0 d1 1 3 t\nq2 Q0 !2:nothing 2 2 t\n"
	for name, c := range map[string]struct {
		was, is string
		verdict Verdict
		made    string
	}{
		"another score":        {"d1 1 3", "d1 1 3.01", Within, "1"},
		"beyond the depth":     {"d3", "d4", Within, "1"},
		"one of four":          {"d2", "d9", Within, "0.75"},
		"one place down":       {"!2:nothing 2", "!1:nothing 2", Within, "1"},
		"two of four":          {"d2 2 2 t\nq1 Q0 d3 3 1 t\nq2 Q0 d1", "d8 2 2 t\nq1 Q0 d3 3 1 t\nq2 Q0 d9", Differs, "0.5"},
		"a query less":         {"q2 Q0 d1 1 3 t\nq2 Q0 !2:nothing 2 2 t\n", "", Differs, ""},
		"no run":               {"q1 Q0 d1 1 3 t", "q1", Differs, ""},
		"shorter by an answer": {"q2 Q0 !2:nothing 2 2 t\n", "", Within, "0.75"},
	} {
		made := strings.Replace(first, c.was, c.is, 1)
		f := s.one(o, s.blob(first), s.blob(made))
		testkit.That(t, made != first && f.Verdict == c.verdict && f.Worst.Made == c.made, name, f.Verdict, f.Worst)
	}
}

func TestVectors(t *testing.T) {
	s := newStore(t)
	o := step.Output{Alike: step.Vectors{Margin: step.Margin{Rel: 0.01}, Cosine: 0.99}}
	matrix := func(cols int, data ...float32) artifacts.Artifact {
		var b bytes.Buffer
		testkit.None(t, npy.Write(&b, npy.Matrix{Rows: len(data) / cols, Cols: cols, Data: data}))
		return s.blob(b.String())
	}
	first := matrix(2, 1, 0, 0, 1)
	for name, c := range map[string]struct {
		made    artifacts.Artifact
		verdict Verdict
		path    string
	}{
		"a rounding":    {matrix(2, 1, 0.001, 0, 1), Within, "row 0, length"},
		"another way":   {matrix(2, 1, 0, 1, 1), Differs, "row 1, length"},
		"turned":        {matrix(2, 0, 1, 0, 1), Differs, "row 0, cosine"},
		"longer":        {matrix(2, 2, 0, 0, 1), Differs, "row 0, length"},
		"nothing":       {matrix(2, 0, 0, 0, 1), Differs, "row 0, length"},
		"another shape": {matrix(1, 1, 0, 0, 1), Differs, "shape"},
		"a row less":    {matrix(2, 1, 0), Differs, "shape"},
		"no vectors":    {s.blob("x"), Differs, ""},
	} {
		s.judged(name, s.one(o, first, c.made), c.verdict, c.path)
	}
}

func TestCells(t *testing.T) {
	s := newStore(t)
	o := step.Output{Alike: step.Cells{Units: 1}}
	const table = `{"name": "t", "stubs": ["Model"], "columns": [{"id": "mrr", "title": "MRR", "format": {"style": "fixed", "decimals": 1}}],
 "rows": [{"id": "tiny", "titles": ["tiny"], "cells": {"mrr": {"value": 62.21, "std": 0.3, "n": 3, "inputs": ["sha256:ab"]}}}],
 "checks": [{"cell": "tiny.mrr", "verdict": "match"}]}`
	const figure = `{"width": 8, "x": {"title": "hours"}, "y": {"title": "MRR"}, "series": [{"id": "s", "color": "blue", "line": "solid",
 "points": [{"id": "p", "x": {"value": 1}, "y": {"value": 62.2}}]}]}`
	const box = `{"width": 8, "x": {"title": "", "categories": ["a"]}, "y": {"title": "MRR"}, "series": [{"id": "s", "color": "blue", "line": "solid", "draw": "box",
 "points": [{"id": "p", "x": {"value": 0, "typed": "a"}, "y": {"value": 62.2}, "low": 61.5, "high": 64, "q1": 62, "q3": 63, "outside": [90]}]}]}`
	for name, c := range map[string]struct {
		of string
		change
	}{
		"a whisker":          {box, change{"61.5", "61.50000000001", Within, "s.p.low"}},
		"another whisker":    {box, change{"61.5", "60.5", Differs, "s.p.low"}},
		"another quartile":   {box, change{`"q3": 63`, `"q3": 63.5`, Differs, "s.p.q3"}},
		"another category":   {box, change{`"typed": "a"`, `"typed": "b"`, Differs, "s.p.x"}},
		"one digit":          {table, change{"62.21", "62.31", Within, "tiny.mrr"}},
		"two digits":         {table, change{"62.21", "62.42", Differs, "tiny.mrr"}},
		"the deviation":      {table, change{"0.3", "0.5", Differs, "tiny.mrr.std"}},
		"where it came from": {table, change{"sha256:ab", "sha256:cd", Within, ""}},
		"a verdict":          {table, change{"match", "differs", Within, ""}},
		"a title":            {table, change{`["tiny"]`, `["base"]`, Differs, ""}},
		"another row":        {table, change{`"id": "tiny"`, `"id": "base"`, Differs, ""}},
		"a point":            {figure, change{"62.2", "62.20000000001", Within, "s.p.y"}},
		"a point elsewhere":  {figure, change{"62.2", "62.3", Differs, "s.p.y"}},
		"an axis":            {figure, change{"hours", "days", Differs, ""}},
		"nothing":            {figure, change{figure, "[]", Differs, ""}},
	} {
		s.changed(name, o, c.of, c.change)
	}
}

func TestFiles(t *testing.T) {
	s := newStore(t)
	o := step.Output{Tree: true, Alike: step.Files{"*.json": step.Numbers{Margin: step.Margin{Abs: 1}}, "times.json": step.OfTheRun{}}}
	first := s.tree("a.json", "[1.5]", "times.json", "[1]", "b.txt", "b")
	for name, c := range map[string]struct {
		made    artifacts.Artifact
		verdict Verdict
		file    string
	}{
		"a time":           {s.tree("a.json", "[1.5]", "times.json", "[9]", "b.txt", "b"), Same, ""},
		"a number":         {s.tree("a.json", "[2.5]", "times.json", "[1]", "b.txt", "b"), Within, "a.json"},
		"another file":     {s.tree("a.json", "[1.5]", "times.json", "[1]", "b.txt", "c"), Differs, "b.txt"},
		"a file less":      {s.tree("a.json", "[1.5]", "times.json", "[1]"), Differs, "b.txt"},
		"a file more":      {s.tree("a.json", "[1.5]", "times.json", "[1]", "b.txt", "b", "c", ""), Differs, "c"},
		"no tree any more": {s.blob("x"), Differs, ""},
	} {
		c.made.Type = "files"
		f := s.one(o, first, c.made)
		if f.Verdict != c.verdict || c.file != "" && f.Worst.File != c.file {
			t.Errorf("%s: %s %+v", name, f.Verdict, f.Worst)
		}
	}
}

// TestFollows: an output that is computed from another is judged by the other.
func TestFollows(t *testing.T) {
	s := newStore(t)
	rules := map[string]step.Alike{"svg": step.Follows{Output: "json"}, "json": step.Numbers{Margin: step.Margin{Abs: 1}}}
	outputs := func(json, svg string) map[string]artifacts.Artifact {
		return map[string]artifacts.Artifact{"json": s.blob(json), "svg": s.blob(svg)}
	}
	for _, c := range []struct {
		json, svg string
		verdict   Verdict
	}{{"[1.5]", "a", Same}, {"[1.6]", "b", Within}, {"[9.5]", "b", Differs}, {"[1.5]", "b", Differs}} {
		got, err := Compare(context.Background(), s.Blobs, nil, rules, outputs("[1.5]", "a"), outputs(c.json, c.svg), nil)
		testkit.That(t, err == nil && got.Verdict == c.verdict, c.json, c.svg, got, err)
	}
	one := map[string]artifacts.Artifact{"json": s.blob("[1.5]")}
	if got, err := Compare(context.Background(), s.Blobs, nil, rules, outputs("[1.5]", "a"), one, nil); err != nil || got.Verdict != Differs {
		t.Errorf("an output less: %+v %v", got, err)
	}
}

func TestEvaluated(t *testing.T) {
	s := newStore(t)
	rule := step.Evaluated{By: "evaluate", Output: "report", Fields: map[string]step.Margin{"percent.mrr": {Abs: 1}}, Of: "queries", Chance: 0.5}
	compare := func(x, y string) Found {
		f, err := CompareEvaluated(context.Background(), s.Blobs, "step.evaluate.e", rule, s.blob(x), s.blob(y))
		testkit.None(t, err)
		return f
	}
	for _, c := range []struct {
		x, y    string
		verdict Verdict
	}{
		{`{"queries": 10000, "percent": {"mrr": 50, "else": 1}}`, `{"queries": 10000, "percent": {"mrr": 50.9, "else": 2}}`, Within},
		{`{"queries": 10000, "percent": {"mrr": 50}}`, `{"queries": 10000, "percent": {"mrr": 51.1}}`, Differs},
		{`{"queries": 100, "percent": {"mrr": 50}}`, `{"queries": 100, "percent": {"mrr": 54.9}}`, Within}, // 50/√100
		{`{"queries": 100, "percent": {"mrr": 50}}`, `{"queries": 100, "percent": {"mrr": 55.1}}`, Differs},
		{`{"queries": 100, "percent": {"mrr": 50}}`, `{"queries": 100, "percent": {}}`, Differs},
		{`{"percent": {}}`, `{"percent": {}}`, Differs},
		{`{"percent": {"mrr": 50}}`, `{"percent": {"mrr": 50}}`, Within},
		{`x`, `{"percent": {"mrr": 50}}`, Differs},
	} {
		if f := compare(c.x, c.y); f.Verdict != c.verdict {
			t.Errorf("%s, %s: %s %+v", c.x, c.y, f.Verdict, f.Worst)
		}
	}
}

// TestDamage: bytes that are not what their digest says are not a verdict.
func TestDamage(t *testing.T) {
	s := newStore(t)
	x, y := s.blob(`{"a": 1, "b": 2}`), s.blob(`{"a": 2.5}`)
	for _, rule := range []step.Alike{step.Numbers{}, step.Texts{}, step.Runs{Depth: 1}, step.Vectors{}, step.Cells{}} {
		_, err := Compare(context.Background(), s.damaged(y.Digest), nil, map[string]step.Alike{"o": rule},
			map[string]artifacts.Artifact{"o": x}, map[string]artifacts.Artifact{"o": y}, nil)
		if _, ok := errors.AsType[*artifacts.IntegrityError](err); !ok {
			t.Errorf("%s: %v", rule, err)
		}
	}
}
