package artifacts

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/redsi/redsi/internal/system/errtest"
)

// FuzzDecodeResult reads records that anybody may have written to a store. They
// are sealed here, since what has no right seal is refused before anything else.
func FuzzDecodeResult(f *testing.F) {
	golden, err := os.ReadFile(filepath.Join("testdata", "result.json"))
	if err != nil {
		f.Fatal(err)
	}
	body, err := unseal(bytes.TrimSpace(golden))
	errtest.None(f, err)
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
			if err := a.Validate(); err != nil {
				t.Fatalf("output %q is not valid: %v", name, err)
			}
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
