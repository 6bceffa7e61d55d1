package kinds_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/kinds"
	"github.com/redsi/redsi/step"
)

// TestReportsDeclareTheirFields: what a kind writes as JSON can be checked before it has.
func TestReportsDeclareTheirFields(t *testing.T) {
	for _, k := range kinds.All() {
		for _, o := range k.Outputs {
			if strings.Contains(o.Help, "JSON") && !o.Tree && !k.Hidden && o.Fields == nil {
				t.Errorf("%s.%s declares no fields", k.Name, o.Name)
			}
		}
	}
}

// declared fails if a result has JSON that its kind, or its configuration, does not declare. Every result that
// these tests make passes it.
func (l *local) declared(address, kind string, outputs []step.Output, r *artifacts.Result) {
	l.t.Helper()
	for _, o := range outputs {
		if o.Fields == nil {
			continue
		}
		rc, err := l.Store.Open(context.Background(), r.Outputs[o.Name].Digest)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a test has taken it away
		} else if err != nil {
			l.t.Fatal(err)
		}
		b, err := io.ReadAll(rc)
		rc.Close()
		var doc any
		if err == nil {
			err = json.Unmarshal(b, &doc)
		}
		if err == nil {
			err = within(o.Fields, doc, nil)
		}
		if err != nil {
			l.t.Errorf("%s.%s of kind %s: %v", address, o.Name, kind, err)
		}
	}
}

// within checks that a value and all below it, at a path, are declared.
func within(f *step.Fields, v any, path []string) error {
	is := f
	if len(path) > 0 {
		if slices.ContainsFunc(path, func(name string) bool { return name == "" || strings.Contains(name, ".") }) {
			return nil // no path can ask for it
		}
		var err error
		if is, err = f.At(strings.Join(path, ".")); err != nil {
			return err
		}
	}
	if is.Type == step.Any || v == nil {
		return nil
	}
	ok := false
	switch v := v.(type) {
	case map[string]any:
		if _, absent := v["absent"]; absent && len(v) == 1 {
			return nil
		}
		ok = is.Type == step.Object || is.Type == step.Map
		for name, e := range v {
			if err := within(f, e, append(slices.Clip(path), name)); err != nil {
				return err
			}
		}
	case []any:
		ok = is.Type == step.List
		for i, e := range v {
			if err := within(f, e, append(slices.Clip(path), strconv.Itoa(i))); err != nil {
				return err
			}
		}
	case string:
		ok = is.Type == step.String
	case bool:
		ok = is.Type == step.Bool
	case float64:
		ok = is.Type == step.Float || is.Type == step.Int
	}
	if !ok {
		return errors.New(strings.Join(path, ".") + " is declared as " + string(is.Type))
	}
	return nil
}
