package step

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/internal/system/errtest"
)

type inner struct {
	Train int `json:"train"`
	Dev   *int
}

// written is a document of every form that a report has.
type written struct {
	inner
	Name     string             `json:"name,omitempty"`
	Flag     bool               `json:"flag"`
	Percent  float64            `json:"percent" unit:"percent"`
	Of       map[string]inner   `json:"of" unit:"s"`
	Points   []*point           `json:"points"`
	Skip     int                `json:"-"`
	Any      any                `json:"any"`
	When     time.Time          `json:"when"`
	Raw      json.RawMessage    `json:"raw"`
	Bytes    []byte             `json:"bytes"`
	ByLength [][]float64        `json:"by_length"`
	Self     *written           `json:"self"`
	Own      ownJSON            `json:"own"`
	Rates    map[string]float64 `json:"rates"`
	//lint:ignore U1000 that it is no field of the JSON is what is tested
	hidden int
}

type point struct {
	Step    int64   `json:"step"`
	Seconds float64 `json:"seconds" unit:"s"`
}

type ownJSON struct{}

func (ownJSON) MarshalJSON() ([]byte, error) { return []byte(`{"x":1}`), nil }
func (ownJSON) JSONFields() *Fields          { return FieldsOf[struct{ X int }]() }

func TestFieldsOf(t *testing.T) {
	var got []string
	for pattern, f := range FieldsOf[written]().All() {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s", pattern, f.Type, f.Unit)))
	}
	want := []string{"train integer", "Dev integer", "name string", "flag bool", "percent number percent", "of.*.train integer s", "of.*.Dev integer s",
		"points[].step integer", "points[].seconds number s", "any any", "when any", "raw any", "bytes string", "by_length[][] number", "self any",
		"own.X integer", "rates.* number"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestFieldsAt(t *testing.T) {
	fields := FieldsOf[written]()
	for path, want := range map[string]TypeKind{
		"train": Int, "of.x.train": Int, "of.x": Object, "points": List, "points.0": Object, "points.17.step": Int, "any.what.ever": Any,
		"raw.0": Any, "own.X": Int, "rates.MRR@10": Float, "by_length.0.1": Float,
		"of.'lr=0.01'.train": Int, "'train'": Int, "rates.'map@0.5'": Float, "rates.it's": Float, "of.'a'b'.train": Int,
	} {
		f, err := fields.At(path)
		if err != nil || f.Type != want {
			t.Errorf("%s is %+v, %v; want %s", path, f, err, want)
		}
	}
	for path, want := range map[string]NoFieldError{
		"trian":         {Name: "trian", Is: Object},
		"points.0.stop": {Name: "stop", Within: "points.0", Is: Object, Names: []string{"step", "seconds"}},
		"points.first":  {Name: "first", Within: "points", Is: List},
		"points.-1":     {Name: "-1", Within: "points", Is: List},
		"train.x":       {Name: "x", Within: "train", Is: Int},
		"":              {Name: "", Is: Object},
		"Skip":          {Name: "Skip", Is: Object},
		"hidden":        {Name: "hidden", Is: Object},
		"of.'a.b'.c":    {Name: "c", Within: "of.'a.b'", Is: Object},
		"'train":        {Name: "'train", Is: Object},
		"'tr.ain":       {Name: "'tr", Is: Object},
	} {
		_, err := fields.At(path)
		var lost *NoFieldError
		if !errors.As(err, &lost) {
			t.Errorf("%q: %v", path, err)
			continue
		}
		want.Path = path
		if want.Names == nil {
			lost.Names = nil
		}
		if d := cmp.Diff(&want, lost); d != "" {
			t.Errorf("%q: %s", path, d)
		}
	}
}

// Fields are not part of keys.
func TestFieldsAreNoKey(t *testing.T) {
	plain, declared := everythingKind(), everythingKind()
	declared.Outputs = append([]Output(nil), declared.Outputs...)
	declared.Outputs[0].Fields = FieldsOf[written]()
	declared.Reads = func(everything) []Read { return []Read{{Path: "train"}} }
	var keys [2]string
	for i, k := range []Kind[everything]{plain, declared} {
		spec := Define(k)
		task, err := NewTask(&spec, minimal())
		errtest.None(t, err)
		key, _, err := NewRegistry(spec).Key(task)
		errtest.None(t, err)
		keys[i] = key.Hex()
	}
	if keys[0] != keys[1] {
		t.Errorf("%s, %s", keys[0], keys[1])
	}
}
