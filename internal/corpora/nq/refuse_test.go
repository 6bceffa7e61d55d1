package nq

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestEndsWithinRecord: a file that was cut between compression and reading, or was never compressed, ends within a line.
func TestEndsWithinRecord(t *testing.T) {
	for _, skip := range []bool{false, true} {
		for _, text := range []string{goodFull + "\n" + goodSimp[:50], goodFull + "\n" + goodFull[:25]} { // the second cuts é
			all, counts, err := readString(text, Options{Skip: skip})
			var e *RecordError
			if len(all) != 1 || !errors.As(err, &e) || e.Reason != BadStream || e.Line != 2 || !strings.Contains(err.Error(), "the file ends within this record") || counts.SkippedTotal() != 0 {
				t.Errorf("%d records, %v, %+v", len(all), err, counts)
			}
		}
	}
	if all, _, err := readString(goodFull+"\n"+goodSimp, Options{}); err != nil || len(all) != 2 {
		t.Errorf("a last line without newline: %d records, %v", len(all), err)
	}
}

// TestForeignFiles: no policy makes a file of another format one bad record.
func TestForeignFiles(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"7z":    {"7z\xbc\xaf\x27\x1c\x00\x04\xff", "the file is a 7z archive: unpack it"},
		"page":  {"<!doctype html>\n<p>404</p>\n", "the file is an HTML page"},
		"words": {"one\ntwo\nthree\n", "none of its 3 lines is JSON"},
	} {
		_, counts, err := readString(c.text, Options{Skip: true, Strict: true})
		var e *RecordError
		if !errors.As(err, &e) || e.Reason != BadStream || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %+v", name, err, counts)
		}
	}
}

// TestStrict: what no later step can use is refused here, where it can be skipped.
func TestStrict(t *testing.T) {
	swap := func(line, old, new string) string {
		if !strings.Contains(line, old) {
			t.Fatalf("%q is not in the record", old)
		}
		return strings.Replace(line, old, new, 1)
	}
	other := swap(goodSimp, "-7", "8")
	for _, c := range []struct {
		name, line string
		reason     Reason
		want       string
	}{
		{"no question", swap(goodFull, `"question_text":"q"`, `"question_text":" "`), Unusable, "question_text is empty"},
		{"no url", swap(goodFull, `"u&amp;oldid=1"`, `""`), Unusable, "document_url is empty"},
		{"no title", swap(goodFull, `"document_title":"é"`, `"document_title":"\u00a0"`), Unusable, "document_title is empty"},
		{"no words", swap(swap(goodFull, `"token":"é"`, `"token":""`), `"token":"a"`, `"token":" "`), Unusable, "none of its 4 tokens is a word"},
		{"no text", swap(goodSimp, "é a", " "), Unusable, "the document has no text"},
		{"seen", other, Duplicate, "the example is on line 1 already"},
		{"by the caller", swap(goodSimp, `"q"`, `"not this one"`), Unusable, "the caller says no"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Options{Strict: true, Split: Dev, Check: func(r *Record) error {
				if r.Question == "not this one" {
					return errors.New("the caller says no")
				}
				return nil
			}}
			text := other + "\n" + c.line + "\n" + swap(goodFull, "-7", "9") + "\n"
			all, _, err := readString(text, o)
			var e *RecordError
			if len(all) != 1 || !errors.As(err, &e) || e.Reason != c.reason || e.Line != 2 || !e.HasID || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%d records, %v", len(all), err)
			}
			o.Skip = true
			all, counts, err := readString(text, o)
			if err != nil || len(all) != 2 || counts.Skipped[c.reason] != 1 || counts.SkippedTotal() != 1 || counts.Named[0] != *e {
				t.Errorf("skip: %d records, %v, %+v", len(all), err, counts)
			}
		})
	}
	for _, text := range []string{"", "\n \n"} {
		_, _, err := readString(text, Options{Strict: true})
		var e *RecordError
		if !errors.As(err, &e) || e.Reason != EmptyFile || !strings.Contains(err.Error(), "the file has no records") {
			t.Errorf("%q: %v", text, err)
		}
		_, counts, err := readString(text, Options{Strict: true, Skip: true})
		testkit.That(t, err == nil && counts.Skipped[EmptyFile] == 1 && len(counts.Named) == 1, text, err, counts)
	}
}

// TestNoOffsets: somebody who has no offsets may write zeros.
func TestNoOffsets(t *testing.T) {
	for _, by := range []string{"0", "4"} {
		line := regexp.MustCompile(`"(start|end)_byte":\d+`).ReplaceAllString(goodFull, `"${1}_byte":`+by)
		_, _, err := readString(line, Options{})
		var e *RecordError
		if !errors.As(err, &e) || e.Reason != BadOffset || !strings.Contains(err.Error(), "the file has no byte offsets") {
			t.Error(err)
		}
	}
}
