package step

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/errtest"
)

// TestCheckLimits: a number is compared with numbers, with others of its step, and with
// the sum of those of other steps; what is not there fails and says what is.
func TestCheckLimits(t *testing.T) {
	report := []byte(`{"records": {"train": 5, "dev": 2}, "name": "x"}`)
	digest := artifacts.Sum(report)
	opened := 0
	open := Remembered(func(_ context.Context, d artifacts.Digest) (io.ReadCloser, error) {
		if d != digest {
			return io.NopCloser(strings.NewReader("epoch 1")), nil
		}
		opened++
		return io.NopCloser(bytes.NewReader(report)), nil
	})
	file := artifacts.Artifact{Digest: digest, Size: int64(len(report))}
	log, large := artifacts.Artifact{Digest: artifacts.Sum([]byte("epoch 1")), Size: 7}, artifacts.Artifact{Size: mostChecked + 1}
	results := map[string]*artifacts.Result{
		"step.extract.train": {Counts: map[string]int64{"records": 5}, Outputs: map[string]artifacts.Artifact{"report": file}},
		"step.extract.dev":   {Counts: map[string]int64{"records": 2_000_000}},
	}
	own := &artifacts.Result{Counts: map[string]int64{"records": 7, "documents": 5}, Outputs: map[string]artifacts.Artifact{"report": file, "log": log, "large": large}}
	number := func(n float64) *Limit { return &Limit{Number: n} }
	name := func(n string) *Limit { return &Limit{Name: n} }
	for _, c := range []struct {
		check Check
		want  string // of the problem; "" if it holds
	}{
		{Check{Counts: "records", Equals: number(7)}, ""},
		{Check{Counts: "records", Equals: number(0)}, "records is 7, and 0 is what it must be"},
		{Check{Counts: "documents", Min: number(5), Max: name("records")}, ""},
		{Check{Counts: "records", Max: name("documents")}, "records is 7, and 5, its documents, is the most"},
		{Check{Field: "report:records.train", Min: name("documents")}, ""},
		{Check{Counts: "documents", Equals: name("records"), Of: []string{"step.extract.train"}}, ""},
		{Check{Counts: "documents", Equals: name("report:records.train"), Of: []string{"step.extract.train"}}, ""},
		{Check{Counts: "records", Equals: name("records"), Of: []string{"step.extract.dev", "step.extract.train"}},
			"records is 7, and 2000005, the records of step.extract.dev and step.extract.train, is what it must be"},
		{Check{Counts: "records", Min: name("nothing"), Of: []string{"step.extract.train"}}, `step.extract.train: it counted no "nothing", but "records"`},
		{Check{Counts: "records", Min: name("report:records"), Of: []string{"step.extract.dev"}}, "step.extract.dev: it has no output \"report\" that is one file, but nothing"},
		{Check{Counts: "records", Min: name("report:name")}, "name: x is not a number"},
		{Check{Field: "log:loss", Min: number(5)}, "the output is not JSON: invalid character 'e'"},
		{Check{Field: "large:loss", Min: number(5)}, "the output has 16777217 bytes; a check reads at most 16777216"},
	} {
		task, err := Task{Checks: []Check{c.check}}.BindChecks(func(address string) *artifacts.Result { return results[address] })
		errtest.None(t, err)
		stops, _, err := task.Problems(t.Context(), own, open)
		if got := strings.Join(stops, "; "); err != nil || (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q, %v; want %q", c.check, got, err, c.want)
		}
	}
	if opened != 1 {
		t.Errorf("the report was opened %d times, want 1", opened)
	}
	errtest.Says(t, errtest.Of((Task{Checks: []Check{{Name: "c", Equals: name("x"), Of: []string{"step.other"}}}}).BindChecks(func(string) *artifacts.Result { return nil })), `check "c": step.other has no result yet`)
}
