package artifacts

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// written are results in forms that steps leave.
func written(t testing.TB) []Result {
	t.Helper()
	tree, err := Tree("files", []File{{"a/ü.txt", Sum([]byte("1")), 1}, {"b <c>&.txt", Sum([]byte("2")), 1 << 40}})
	if err != nil {
		t.Fatal(err)
	}
	none, err := Tree("files", nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]Artifact{"out": tree, "none": none, "stdout": {Type: "file", Digest: Sum(nil)}}
	results := []Result{
		{Outputs: out, Took: 1234567 * time.Microsecond, Finished: time.Date(2026, 11, 22, 12, 46, 31, 897253663, time.UTC), Counts: map[string]int64{"files": 1, "less": -2},
			Env: map[string]string{"host": "vm", "odd": "a\"b\\c\n\u2028<é>"}, Origin: Origin{"run", "step/x", `step.command.w["3"]`, `{"format":"x<\u2028"}`}},
		{Outputs: map[string]Artifact{}, Origin: Origin{WorkflowID: "w"}},
		{Origin: Origin{Step: "s"}},
		{Took: time.Hour, Finished: time.Now(), Log: &Log{}},
		{Origin: Origin{Step: "s"}, Log: &Log{Digest: Sum([]byte("said")), Size: 4}},
		{Log: &Log{Digest: Sum([]byte("said")), Size: 4, Cut: 1 << 40}},
		{Used: &Used{}},
		{Used: &Used{Written: 7}, Log: &Log{}, Kept: []File{{Name: "libraries", Digest: Sum([]byte("list")), Size: 4}}},
		{Used: &Used{CPU: 1e-7, CPUOf: CPUOfProgram, Memory: 1 << 40, MemoryOf: MemoryOfProcess, Read: 1, Written: 2, Card: "é <card>", CardMemory: 3,
			Energy: 1234.5, EnergyOf: "processors", Beside: 4}},
	}
	for i := range results {
		r := &results[i]
		r.Format, r.Preimage = ResultFormat, fmt.Appendf(nil, `{"config":{"argv":["sh","-c","echo %d > out/x # \"}{"]},"format":"redsi-key/1"}`, i)
		r.Key = KeyOf(r.Preimage)
	}
	return results
}

// TestQuickResult: what encodeResult writes is read the quick way, and as decodeResult
// reads it.
func TestQuickResult(t *testing.T) {
	for i, r := range written(t) {
		b, err := encodeResult(r)
		if err != nil {
			t.Fatal(err)
		}
		quick, ok := quickResult(r.Key, b)
		slow, err := decodeResult(r.Key, b)
		if !ok || err != nil || !reflect.DeepEqual(quick, slow) {
			t.Errorf("%d: %v, %+v, want %+v, %v", i, ok, quick, slow, err)
		}
	}
}

// TestQuickResultRefuses: a record that is whole, in another form or with what no step
// leaves, is decodeResult's to judge.
func TestQuickResultRefuses(t *testing.T) {
	r := written(t)[0]
	b, err := encodeResult(r)
	if err != nil {
		t.Fatal(err)
	}
	body, err := unseal(b)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to string }{
		{`"format":"redsi.result/1"`, `"format":"redsi.result/9"`},
		{`,"outputs"`, `, "outputs"`},
		{`"size":0`, `"size":-1`},
		{`"size":0`, `"size":00`},
		{`"counts":{"files":1`, `"counts":{"less":1`},
		{`"host":"vm"`, `"host":"vm`},
		{`"stdout":`, `"std out":`},
		{`"took_s":1.234567`, `"took_s":-1`},
		{`"took_s":1.234567`, `"took_s":1.234567,"more":1`},
		{`"took_s":1.234567`, `"used":{"cpu_s":-1},"took_s":1.234567`},
		{`"took_s":1.234567`, `"used":{"memory":1,"cpu_s":1},"took_s":1.234567`},
		{`"took_s":1.234567`, `"used":{"later":1},"took_s":1.234567`},
		{`"took_s":1.234567`, `"used":null,"took_s":1.234567`},
		{`"finished":"2026`, `"finished":"x026`},
		{Sum([]byte("2")).Hex(), Sum([]byte("3")).Hex()},
		{Sum(nil).Hex(), strings.ToUpper(Sum(nil).Hex())},
		{`"redsi-key/1"}`, `"redsi-key/1"]`},
		{`echo`, `print`},
	} {
		changed := strings.Replace(string(body), c.from, c.to, 1)
		if changed == string(body) {
			t.Fatalf("%q is not in %s", c.from, body)
		}
		if quick, ok := quickResult(r.Key, sealed([]byte(changed+"}"))); ok {
			t.Errorf("with %s: %+v", c.to, quick)
		}
	}
	if _, ok := quickResult(Sum(nil), b); ok {
		t.Error("the result of another key")
	}
	b[len(b)/2] ^= 1
	if _, ok := quickResult(r.Key, b); ok {
		t.Error("a damaged record")
	}
}

func BenchmarkQuickResult(b *testing.B) {
	r := written(b)[0]
	record, err := encodeResult(r)
	if err != nil {
		b.Fatal(err)
	}
	for name, read := range map[string]func() bool{
		"quick": func() bool { _, ok := quickResult(r.Key, record); return ok },
		"any":   func() bool { _, err := decodeResult(r.Key, record); return err == nil },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !read() {
					b.Fatal("not read")
				}
			}
		})
	}
}
