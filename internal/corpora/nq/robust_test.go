package nq

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

const (
	goodFull = `{"document_html":"<H1>é a</H1>","document_title":"é","document_tokens":[{"end_byte":4,"html_token":true,"start_byte":0,"token":"<H1>"},{"end_byte":6,"html_token":false,"start_byte":4,"token":"é"},{"end_byte":8,"html_token":false,"start_byte":7,"token":"a"},{"end_byte":13,"html_token":true,"start_byte":8,"token":"</H1>"}],"document_url":"u&amp;oldid=1","example_id":-7,"question_text":"q"}`
	goodSimp = `{"document_text":"<H1> é a </H1>","document_url":"u&amp;oldid=1","example_id":-7,"question_text":"q"}`
)

var goodFullRecord = Record{
	ExampleID: -7, Question: "q", URL: "u&amp;oldid=1", Title: "é", HTML: []byte("<H1>é a</H1>"),
	Tokens: []Token{{"<H1>", true, 0, 4}, {"é", false, 4, 6}, {"a", false, 7, 8}, {"</H1>", true, 8, 13}},
}

// published has the blanks of the published files.
func published(line string) string {
	return strings.NewReplacer(`":`, `": `, `,"`, `, "`, `},{`, `}, {`).Replace(line)
}

// readString reads every record of text.
func readString(text string, o Options) ([]*Record, Counts, error) {
	return drain(NewReader(strings.NewReader(text), "f.jsonl", o))
}

// TestShapes: every way to write one full record, and whether the scanner takes it.
func TestShapes(t *testing.T) {
	spaced := published(goodFull)
	escaped := strings.NewReplacer(`<`, `\u003c`, `>`, `\u003E`, `é`, `\u00e9`, `/`, `\/`).Replace(goodFull)
	for _, c := range []struct {
		name, line string
		fallback   bool
	}{
		{"compact", goodFull, false},
		{"spaced", spaced, false},
		{"escaped", escaped, false},
		{"indented", strings.NewReplacer(`{`, "{\t", `,"`, ",\r  \"", `]`, "\t]").Replace(goodFull) + " \r", false},
		{"other order of token fields", strings.Replace(goodFull, `"end_byte":4,"html_token":true,"start_byte":0,"token":"<H1>"`, `"token":"<H1>","start_byte":0,"end_byte":4,"html_token":true`, 1), false},
		{"more token fields", strings.Replace(goodFull, `"token":"a"`, `"token":"a","x":[1,{"y":null}]`, 1), false},
		{"other values", strings.Replace(goodFull, `{`, `{"annotations":[{"annotation_id":13591449469826568799,"x":-1.5e+3,"y":[true,false,null,{}],"z":"\ud83d\ude00"}],"long_answer_candidates":[],`, 1), false},
		{"escaped key", strings.Replace(goodFull, `"example_id"`, `"example\u005fid"`, 1), true},
		{"no blanks around 19 digits", strings.Replace(goodFull, `-7`, ` -7 `, 1), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			all, counts, err := readString(c.line, Options{})
			if err != nil || len(all) != 1 {
				t.Fatal(all, err)
			}
			if d := cmp.Diff(&goodFullRecord, all[0]); d != "" || counts.Fallbacks > 0 != c.fallback {
				t.Error(d, counts)
			}
		})
	}
}

func TestBadRecords(t *testing.T) {
	swap := func(old, new string) string {
		if !strings.Contains(goodFull, old) {
			t.Fatalf("%q is not in the record", old)
		}
		return strings.Replace(goodFull, old, new, 1)
	}
	for _, c := range []struct {
		name, line string
		o          Options
		reason     Reason
		want       string
	}{
		{"cut", goodFull[:100], Options{}, BadJSON, "not JSON at byte 100"},
		{"array", `[1]`, Options{}, BadJSON, "not a JSON object"},
		{"two objects", goodFull + goodFull, Options{}, BadJSON, "not JSON at byte"},
		{"not UTF-8", swap("é a", "\xe9 a"), Options{}, BadUTF8, "not UTF-8 at byte 22"},
		{"half surrogate", swap("é a", `\ud83d a`), Options{}, BadUTF8, "document_html has an escape that is half"},
		{"second half in token", swap(`"token":"a"`, `"token":"\ude00"`), Options{}, BadUTF8, "token 2: token has an escape"},
		{"twice", swap(`"question_text":"q"`, `"question_text":"q","question_text":"p"`), Options{}, BadJSON, `"question_text" occurs twice`},
		{"token field twice", swap(`"token":"a"`, `"token":"a","token":"a"`), Options{}, BadJSON, `token 2: field "token" occurs twice`},
		{"no id", swap(`"example_id":-7,`, ``), Options{}, MissingField, "example_id is missing"},
		{"no url", swap(`"document_url":"u&amp;oldid=1",`, ``), Options{}, MissingField, "document_url is missing"},
		{"no html", swap(`"document_html":"<H1>é a</H1>",`, ``), Options{}, MissingField, "document_html is missing"},
		{"no title", swap(`"document_title":"é",`, ``), Options{}, MissingField, "document_title is missing"},
		{"neither", `{"document_url":"u","example_id":1,"question_text":"q"}`, Options{}, MissingField, "neither document_tokens nor document_text"},
		{"simplified as full", goodSimp, Options{Format: Full}, MissingField, "document_title is missing"},
		{"full as simplified", goodFull, Options{Format: Simplified}, MissingField, "document_text is missing"},
		{"token without start", swap(`"start_byte":7,`, ``), Options{}, MissingField, "token 2: start_byte is missing"},
		{"title null", swap(`"document_title":"é"`, `"document_title":null`), Options{}, BadType, "document_title is not a string"},
		{"id as string", swap(`-7`, `"-7"`), Options{}, BadType, "example_id is not an integer"},
		{"id with fraction", swap(`-7`, `-7.0`), Options{}, BadType, "example_id is not an integer that fits 64 bits: -7.0"},
		{"id too large", swap(`-7`, `9223372036854775808`), Options{}, BadType, "9223372036854775808"},
		{"name in capitals", swap(`"example_id"`, `"Example_ID"`), Options{}, MissingField, "example_id is missing"},
		{"tokens null", swap(`"document_tokens":[`, `"document_tokens":null,"x":[`), Options{}, BadType, "document_tokens is not an array"},
		{"html_token as number", swap(`"html_token":false`, `"html_token":0`), Options{}, BadType, "token 1: html_token is not a boolean"},
		{"end before start", swap(`"end_byte":8`, `"end_byte":6`), Options{}, BadOffset, `token 2 "a": bytes 7 to 6`},
		{"negative", swap(`"start_byte":0`, `"start_byte":-1`), Options{}, BadOffset, `bytes -1 to 4`},
		{"beyond", swap(`"end_byte":13`, `"end_byte":14`), Options{}, BadOffset, `bytes 8 to 14 of a document of 13 bytes`},
		{"far beyond", swap(`"end_byte":13`, `"end_byte":4294967309`), Options{}, BadOffset, `beyond any document`},
		{"inside a code point", swap(`"end_byte":6`, `"end_byte":5`), Options{}, BadOffset, "cut a code point"},
		{"overlap", swap(`"start_byte":7`, `"start_byte":6`) + "\n" + swap(`"start_byte":7,"token":"a"`, `"start_byte":4,"token":"a"`), Options{}, Overlap, "starts at byte 4, before the previous one ends at 6"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := goodFull + "\n \r\n" + c.line + "\n" + goodSimp
			all, _, err := readString(text, c.o)
			if c.o.Format != Auto {
				all, _, err = readString(c.line, c.o)
			}
			var e *RecordError
			if !errors.As(err, &e) || e.Reason != c.reason || !strings.Contains(e.Error(), c.want) || e.File != "f.jsonl" {
				t.Fatalf("%v, want %s (%s)", err, c.want, c.reason)
			}
			if c.o.Format != Auto {
				return
			}
			line := int64(3 + strings.Count(c.line, "\n"))
			if len(all) != 1+strings.Count(c.line, "\n") || e.Line != line {
				t.Errorf("%d records, line %d: %v", len(all), e.Line, e)
			}
			if strings.Contains(c.line, `"example_id":-7`) && (!e.HasID || e.ExampleID != -7) && c.name != "cut" && c.name != "id with fraction" {
				t.Errorf("the message has no id: %v", e)
			}
			o := c.o
			o.Skip = true
			all, counts, err := readString(text, o)
			if err != nil || len(all) != int(line)-1 || counts.Skipped[c.reason] != 1 || counts.SkippedTotal() != 1 ||
				len(counts.Named) != 1 || counts.Named[0] != *e || counts.Blank != 1 {
				t.Errorf("skip: %d records, %v, %+v", len(all), err, counts)
			}
		})
	}
}

func TestBadStreams(t *testing.T) {
	var gz, zst bytes.Buffer
	text := strings.Repeat(goodFull+"\n", 1000)
	zw := gzip.NewWriter(&gz)
	io.WriteString(zw, text)
	zw.Close()
	enc, err := zstd.NewWriter(&zst)
	testkit.None(t, err)
	io.WriteString(enc, text)
	enc.Close()
	two := gz.String() + gz.String()
	for _, c := range []struct {
		name, text string
		records    int
		want       string // error, "" for none
	}{
		{"gzip", gz.String(), 1000, ""},
		{"members", two, 2000, ""},
		{"zstd", zst.String(), 1000, ""},
		{"cut gzip", two[:len(two)-9], -1, "damaged or ends early"},
		{"cut header", gz.String()[:5], 0, "damaged or ends early"},
		{"cut zstd", zst.String()[:zst.Len()-2], -1, "damaged or ends early"},
		{"bad checksum", gz.String()[:gz.Len()-6] + "xx" + gz.String()[gz.Len()-4:], -1, "damaged or ends early"},
		{"empty", "", 0, ""},
		{"blank", "\n\n \n", 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			all, counts, err := readString(c.text, Options{})
			if c.want == "" {
				testkit.None(t, err)
				testkit.Is(t, len(all), c.records)
				testkit.Is(t, counts.BytesIn, int64(len(c.text)))
				return
			}
			var e *RecordError
			if !errors.As(err, &e) || e.Reason != BadStream || !strings.Contains(err.Error(), c.want) {
				t.Fatal(err)
			}
			// Damage is not a bad record: the error says how far the file was read.
			skipped, counts, err := readString(c.text, Options{Skip: true})
			if !errors.As(err, &e) || e.Reason != BadStream || !strings.Contains(err.Error(), fmt.Sprintf("after %d records", len(skipped))) || counts.SkippedTotal() != 0 {
				t.Errorf("skip: %v, %+v", err, counts)
			}
		})
	}
	reset := errors.New("reset")
	for _, c := range []struct {
		text    string
		records int
	}{{goodFull + "\n" + goodFull, 1}, {gz.String()[:20], 0}, {"", 0}} {
		rd := NewReader(io.MultiReader(strings.NewReader(c.text), iotest.ErrReader(reset)), "f", Options{Skip: true})
		var r Record
		var n int
		for err = rd.Next(&r); err == nil; err = rd.Next(&r) {
			n++
		}
		var e *RecordError
		if n != c.records || !errors.As(err, &e) || e.Reason != ReadFailed || !errors.Is(err, reset) || e.Line != int64(n)+1 {
			t.Errorf("a failed read: %d records, %v", n, err)
		}
	}
}

func TestLineLimit(t *testing.T) {
	long := `{"x":"` + strings.Repeat("y", 3<<20) + `"}`
	for _, skip := range []bool{false, true} {
		all, _, err := readString(goodFull+"\n"+long+"\n"+goodFull, Options{MaxLine: 2 << 20, Skip: skip})
		var e *RecordError
		if len(all) != 1 || !errors.As(err, &e) || e.Reason != LineTooLong || e.Line != 2 {
			t.Errorf("%d records, %v", len(all), err)
		}
	}
	if all, _, err := readString(goodSimp[:1]+long[1:len(long)-1]+","+goodSimp[1:], Options{}); err != nil || len(all) != 1 {
		t.Errorf("a long line: %d records, %v", len(all), err)
	}
}

// TestOrder: many small batches, several decoders, one order; and Next may be given the same record or a new one.
func TestOrder(t *testing.T) {
	var b strings.Builder
	for i := range 30000 {
		fmt.Fprintf(&b, `{"document_text":"text %d","document_url":"u","example_id":%d,"question_text":"q"}`+"\n", i, i)
	}
	for _, workers := range []int{1, 3} {
		var calls, last int64
		rd := NewReader(strings.NewReader(b.String()), "f", Options{Workers: workers, Split: Dev, Progress: func(n int64) { calls, last = calls+1, n }})
		same := new(Record)
		for i := range int64(30000) {
			r := same
			if i%3 == 0 {
				r = new(Record)
			}
			testkit.None(t, rd.Next(r))
			if r.ExampleID != i || r.Text != fmt.Sprint("text ", i) || r.Split != Dev {
				t.Fatalf("record %d: %+v", i, r)
			}
		}
		testkit.Is(t, rd.Next(same), io.EOF)
		if calls < 2 || last != int64(b.Len()) {
			t.Errorf("%d progress calls, the last with %d of %d", calls, last, b.Len())
		}
	}
	rd := NewReader(strings.NewReader(b.String()), "f", Options{})
	var r Record
	testkit.None(t, rd.Next(&r))
	rd.Close()
	rd.Close()
}

func TestCountsAdd(t *testing.T) {
	_, a, _ := readString(goodFull+"\nx\n", Options{Skip: true})
	_, b, _ := readString("y\n\n"+goodSimp, Options{Skip: true})
	a.Add(b)
	testkit.That(t, a.Records == 2 && a.Blank == 1 && a.Skipped[BadJSON] == 2 && len(a.Named) == 2, a)
}

func TestHeadings(t *testing.T) {
	for _, c := range []struct {
		text, h1 string
		has      bool
	}{
		{"A - Wikipedia <H1> A ( b ) </H1> x <H1> C </H1>", "A ( b )", true},
		{"<H1> A\u00a0B\u180e </H1>", "A\u00a0B\u180e", true},
		{"<H1> </H1>", "", true},
		{"<H1> A", "", false},
		{"A </H1> <H1>", "", false},
		{"a<H1> B <H1>b </H1>", "", false},
		{"x<H1> <H1> B </H1>", "B", true},
		{"", "", false},
	} {
		h := HeaderOf(&Record{Text: c.text})
		if h.HasH1 != c.has || c.has && h.H1 != c.h1 {
			t.Errorf("%q: %q %v", c.text, h.H1, h.HasH1)
		}
	}
}

// TestFlatMemory: what is alive while records go by does not depend on their number.
func TestFlatMemory(t *testing.T) {
	text := append(bytes.Join(lines(t, "real-pages-dev-full.jsonl.gz"), []byte("\n")), '\n')
	var live []uint64
	src := &goldens.Repeated{Text: text, Times: 20, Before: func(i int) {
		if i == 18 || i == 1 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			live = append(live, m.HeapAlloc)
		}
	}}
	rd := NewReader(src, "f", Options{Workers: 1})
	w, err := NewRecordWriter(io.Discard)
	testkit.None(t, err)
	var r Record
	for n := 0; ; n++ {
		if err := rd.Next(&r); err == io.EOF {
			testkit.Is(t, n, 20*11, "records")
			break
		} else if err != nil {
			t.Fatal(err)
		}
		testkit.None(t, w.Write(&r))
	}
	testkit.None(t, w.Close())
	if live[1] > live[0]+32<<20 {
		t.Errorf("%d MiB alive after 2 repetitions, %d after 19", live[0]>>20, live[1]>>20)
	}
}
