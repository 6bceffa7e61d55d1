package artifacts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/system/testkit"
)

// written are results in forms that steps leave.
func written(t *testing.T) []Result {
	t.Helper()
	tree, err := Tree("files", []File{{Name: "a/ü.txt", Digest: Sum([]byte("1")), Size: 1}, {Name: "b <c>&.txt", Digest: Sum([]byte("2")), Size: 1 << 40}})
	testkit.None(t, err)
	none, err := Tree("files", nil)
	testkit.None(t, err)
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

// slowly reads a record by encoding/json, which decodeResult stands in for.
func slowly(t *testing.T, b []byte) *Result {
	t.Helper()
	var w resultJSON
	testkit.None(t, json.Unmarshal(b, &w))
	r := Result(w.resultPlain)
	r.Preimage, r.Took = canonical(r.Preimage), time.Duration(math.Round(w.TookS*float64(time.Second)))
	return &r
}

// TestDecodeResult: what encodeResult writes is read as encoding/json reads it.
func TestDecodeResult(t *testing.T) {
	for i, r := range written(t) {
		b, err := encodeResult(r)
		testkit.None(t, err)
		if got, err := decodeResult(r.Key, b); err != nil || !reflect.DeepEqual(got, slowly(t, b)) || got.Took != r.Took || !got.Finished.Equal(r.Finished) {
			t.Errorf("%d: %+v, want %+v, %v", i, got, r, err)
		}
	}
}

// TestDecodeResultRefuses: a record that is whole is not read with what no step leaves; another
// form, and members that a later redsi may add, are no damage.
func TestDecodeResultRefuses(t *testing.T) {
	r := written(t)[0]
	b, err := encodeResult(r)
	testkit.None(t, err)
	body, err := unseal(b)
	testkit.None(t, err)
	for _, c := range []struct {
		from, to string
		ok       bool
	}{
		{`"format":"redsi.result/1"`, `"format":"redsi.result/9"`, false},
		{`,"outputs"`, `, "outputs"`, true},
		{`"size":0`, `"size":-1`, false},
		{`"size":0`, `"size":00`, false},
		{`"counts":{"files":1`, `"counts":{"less":1`, false},
		{`"host":"vm"`, `"host":"vm`, false},
		{`"stdout":`, `"std out":`, false},
		{`"took_s":1.234567`, `"took_s":-1`, false},
		{`"took_s":1.234567`, `"took_s":1.234567,"more":1`, true},
		{`"took_s":1.234567`, `"used":{"cpu_s":-1},"took_s":1.234567`, false},
		{`"took_s":1.234567`, `"used":{"memory":1,"cpu_s":1},"took_s":1.234567`, true},
		{`"took_s":1.234567`, `"used":{"later":1},"took_s":1.234567`, true},
		{`"took_s":1.234567`, `"used":null,"took_s":1.234567`, true},
		{`"finished":"2026`, `"finished":"x026`, false},
		{Sum([]byte("2")).Hex(), Sum([]byte("3")).Hex(), false},
		{Sum(nil).Hex(), strings.ToUpper(Sum(nil).Hex()), false},
		{`"redsi-key/1"}`, `"redsi-key/1"]`, false},
		{`echo`, `print`, false},
	} {
		changed := strings.Replace(string(body), c.from, c.to, 1)
		if changed == string(body) {
			t.Fatalf("%q is not in %s", c.from, body)
		}
		if got, err := decodeResult(r.Key, sealed([]byte(changed+"}"))); (err == nil) != c.ok {
			t.Errorf("with %s: %+v, %v", c.to, got, err)
		}
	}
	testkit.Some(t, testkit.Err(decodeResult(Sum(nil), b)), "the result of another key")
	b[len(b)/2] ^= 1
	testkit.Some(t, testkit.Err(decodeResult(r.Key, b)), "a damaged record")
}

// FuzzDecodeResult reads records that anybody may have written to a store. They
// are sealed here, since what has no right seal is refused before anything else.
func FuzzDecodeResult(f *testing.F) {
	golden, err := os.ReadFile(filepath.Join("testdata", "result.json"))
	if err != nil {
		f.Fatal(err)
	}
	body, err := unseal(bytes.TrimSpace(golden))
	testkit.None(f, err)
	f.Add(body, true)
	f.Add(golden, false)
	f.Add(bytes.Replace(body, []byte(`,"took_s"`), []byte(`,"used":{"cpu_s":1.5,"cpu_of":"program","read":7},"took_s"`), 1), true)
	f.Add([]byte(`{"format":"redsi.result/1","key":"`+Sum(nil).String()+`","outputs":{"a":{"type":"t","digest":"`+Sum(nil).String()+`","size":-1,"files":[{"name":"../x"}]}}`), true)
	f.Add([]byte(`{"format":"redsi.result/2"`), true)
	f.Add([]byte(`{"format":"redsi.result/1","outputs":null`), true)
	f.Fuzz(func(t *testing.T, b []byte, seal bool) {
		if seal {
			b = append(append(bytes.Clone(b), sealOpen+Sum(b).String()...), sealClose...)
		}
		key := Sum([]byte("another"))
		if _, err := decodeResult(key, b); err == nil && !bytes.Contains(b, []byte(key.Hex())) {
			t.Fatalf("the record of another key was taken: %s", b)
		}
		var head struct{ Key Digest }
		if head.Key = keyIn(b); head.Key.IsZero() {
			return
		}
		r, err := decodeResult(head.Key, b)
		if err != nil {
			return
		}
		for name, a := range r.Outputs {
			testkit.None(t, a.Validate(), name)
		}
		again, err := encodeResult(*r)
		if err != nil {
			return // a time that JSON cannot have, say
		}
		back, err := decodeResult(head.Key, again)
		if err != nil || !reflect.DeepEqual(back.Outputs, r.Outputs) {
			t.Fatalf("written again it is %s, %v", again, err)
		}
		if slow := slowly(t, again); !reflect.DeepEqual(slow, back) {
			t.Fatalf("%s is %+v, by encoding/json %+v", again, back, slow)
		}
	})
}

// keyIn is the first digest in a record, which most often is its key.
func keyIn(b []byte) Digest {
	at := bytes.Index(b, []byte("sha256:"))
	if at < 0 || at+71 > len(b) {
		return Digest{}
	}
	d, _ := ParseDigest(string(b[at : at+71]))
	return d
}

// FuzzDecodeCheckpoint reads records of checkpoints that anybody may have written
// to a store: their names are ones of files below a folder.
func FuzzDecodeCheckpoint(f *testing.F) {
	digest := Sum(nil).String()
	f.Add([]byte(`{"state":{"name":"state","digest":"` + digest + `","size":3},"a/b":{"name":"a/b","digest":"` + digest + `","size":0}}`))
	f.Add([]byte(`{"../x":{"name":"../x","digest":"` + digest + `","size":3}}`))
	f.Add([]byte(`{"a":{"name":"a","digest":"` + digest + `","size":-1},"a/b":{"name":"a/b","digest":"` + digest + `","size":1}}`))
	f.Add([]byte(`null`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		files, err := DecodeCheckpoint(b)
		if err != nil {
			return
		}
		for name, file := range files {
			if !filepath.IsLocal(filepath.FromSlash(name)) || file.Size < 0 {
				t.Fatalf("%q of %d bytes was taken", name, file.Size)
			}
		}
	})
}
