package nq

import (
	"bytes"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestScanAgainstLibrary: on every real record the scanner and the library agree.
func TestScanAgainstLibrary(t *testing.T) {
	var scan lineScanner
	for _, file := range []string{
		"nq-full-walking-dead", "nq-simplified-walking-dead", "real-pages-train-simplified", "real-pages-dev-full",
	} {
		for _, line := range lines(t, file+".jsonl.gz") {
			compareDecoders(t, &scan, line, true)
		}
	}
}

// compareDecoders fails if the scanner accepts a line that the library refuses or reads differently.
func compareDecoders(t *testing.T, scan *lineScanner, line []byte, must bool) {
	t.Helper()
	var a, b Record
	have, ok := scan.scan(line, &a)
	if !ok {
		if must {
			t.Fatalf("the scanner did not accept %.80q", line)
		}
		return
	}
	want, err := decodeLibrary(line, &b)
	testkit.None(t, err, "the scanner accepted what the library refuses")
	if have != want || !sameRecord(&a, &b) {
		t.Fatalf("scanner %x %+v\nlibrary %x %+v", have, a, want, b)
	}
}

func FuzzScan(f *testing.F) {
	f.Add([]byte(goodFull))
	f.Add([]byte(goodSimp))
	f.Add(bytes.ReplaceAll([]byte(goodFull), []byte(`":`), []byte(`": `)))
	f.Add([]byte(published(goodFull)))
	f.Add([]byte(`{"a":[1.5e-3,-0,true,null,{"b":"\u00e9\ud83d\ude00\n"}],"example_id":-9223372036854775808,"document_text":"\\\"\/","question_text":"","document_url":"é"}`))
	f.Add([]byte(`{"document_tokens":[{"token":"","start_byte":0,"x":{},"end_byte":2147483647,"html_token":false}]}`))
	var scan lineScanner
	f.Fuzz(func(t *testing.T, line []byte) { compareDecoders(t, &scan, line, false) })
}

// FuzzReader: any input, in any policy, ends without a panic, delivers only
// records that the compact stream takes, and the counts add up.
func FuzzReader(f *testing.F) {
	f.Add([]byte(goodFull+"\n"+goodSimp), false)
	f.Add([]byte(published(goodFull)+"\n\n"+goodFull), true)
	f.Add([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0}, true)
	f.Add([]byte("\x28\xb5\x2f\xfd"), true)
	f.Fuzz(func(t *testing.T, text []byte, skip bool) {
		o := Options{Split: Train}
		if skip {
			o.Skip = true
		}
		records, counts, err := drain(NewReader(bytes.NewReader(text), "f", o))
		if err != nil {
			return
		} else if counts.Records != int64(len(records)) {
			t.Fatalf("%d records counted, %d read", counts.Records, len(records))
		}
		back := NewRecordReader(bytes.NewReader(compact(t, records)))
		defer back.Close()
		for _, want := range records {
			var got Record
			if err := back.Next(&got); err != nil || !sameRecord(want, &got) {
				t.Fatalf("%v\n%+v\n%+v", err, want, got)
			}
		}
	})
}

// FuzzRecordReader: a hostile compact stream gives an error, never a panic.
func FuzzRecordReader(f *testing.F) {
	r := goodFullRecord
	var c recordCodec
	b, err := c.append(nil, &r)
	testkit.None(f, err)
	f.Add(b)
	f.Fuzz(func(t *testing.T, entry []byte) {
		var c recordCodec
		var r Record
		if n, err := c.decode(entry, &r); err == nil && n > len(entry) {
			t.Fatalf("used %d of %d bytes", n, len(entry))
		}
		var h Header
		headerCodec{}.decode(entry, &h)
		rd := NewRecordReader(bytes.NewReader(entry))
		defer rd.Close()
		for rd.Next(&r) == nil {
		}
	})
}
