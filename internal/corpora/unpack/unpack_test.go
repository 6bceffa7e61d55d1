package unpack

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/redsi/redsi/internal/system/testkit"
)

func gz(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	testkit.None(t, testkit.Err(io.WriteString(w, text)))
	testkit.None(t, w.Close())
	return b.String()
}

// bzHello is "hello\n" as bzip2 writes it.
const bzHello = "BZh91AY&SY\xc1\xc0\x80\xe2\x00\x00\x01\x41\x00\x00\x10\x02\x44\xa0\x00\x30\xcd\x00\xc3F)\x97\x17rE8P\x90\xc1\xc0\x80\xe2"

func TestOpen(t *testing.T) {
	enc, err := zstd.NewWriter(nil)
	testkit.None(t, err)
	long := strings.Repeat("a line of text\n", 1000)
	for name, c := range map[string]struct{ in, want string }{
		"plain":        {"hello\n", "hello\n"},
		"empty":        {"", ""},
		"gzip":         {gz(t, long), long},
		"members":      {gz(t, "he") + gz(t, "llo\n"), "hello\n"},
		"empty gzip":   {gz(t, ""), ""},
		"padded gzip":  {gz(t, "he") + gz(t, "") + "\x00\x00" + gz(t, "llo\n") + strings.Repeat("\x00", 512), "hello\n"},
		"zstd":         {string(enc.EncodeAll([]byte(long), nil)), long},
		"pzstd":        {"\x50*M\x18\x04\x00\x00\x00abcd" + string(enc.EncodeAll([]byte(long), nil)), long},
		"bzip2":        {bzHello, "hello\n"},
		"bzip2, twice": {bzHello + bzHello, "hello\nhello\n"},
		"markup":       {"<mediawiki><page>html</page></mediawiki>", "<mediawiki><page>html</page></mediawiki>"},
		"starts as PK": {"PK is a word", "PK is a word"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in))} {
				u, err := Open(r)
				testkit.None(t, err)
				got, err := io.ReadAll(u)
				u.Close()
				testkit.None(t, err)
				testkit.Is(t, string(got), c.want)
			}
		})
	}
}

func TestForeign(t *testing.T) {
	var tarred, zipped bytes.Buffer
	tw := tar.NewWriter(&tarred)
	testkit.None(t, tw.WriteHeader(&tar.Header{Name: "a.jsonl", Size: 2, Mode: 0o644, Format: tar.FormatUSTAR}))
	io.WriteString(tw, "{}")
	tw.Close()
	zw := zip.NewWriter(&zipped)
	testkit.None(t, testkit.Err(zw.Create("a.jsonl")))
	zw.Close()
	page := "\n<!DOCTYPE html>\n<html><body>404</body></html>"
	for name, c := range map[string]struct{ in, want string }{
		"7z":             {"7z\xbc\xaf\x27\x1c\x00\x04\xff\xfe", "the file is a 7z archive: unpack it"},
		"zip":            {zipped.String(), "a zip archive"},
		"xz":             {"\xfd7zXZ\x00\x00\x04", "compressed with xz"},
		"tar":            {tarred.String(), "a tar archive"},
		"tar.gz":         {gz(t, tarred.String()), "a tar archive"},
		"7z in gzip":     {gz(t, "7z\xbc\xaf\x27\x1c\x00\x04\xff\xfe"), "a 7z archive"},
		"gzip in gzip":   {gz(t, gz(t, "x")), "compressed twice"},
		"bzip2 in gzip":  {gz(t, bzHello), "compressed twice"},
		"page":           {page, "an HTML page"},
		"page in gzip":   {gz(t, page), "an HTML page"},
		"page with BOM":  {"\xef\xbb\xbf<HTML>", "an HTML page"},
		"bucket's error": {`<?xml version='1.0'?><Error><Code>NoSuchKey</Code></Error>`, "an error document"},
		"large file":     {"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "git lfs pull"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(strings.NewReader(c.in))
			var f *ForeignError
			testkit.That(t, errors.As(err, &f) && strings.Contains(err.Error(), c.want), err, "want", c.want)
		})
	}
}

// TestDamage: an input that ends early gives an error.
func TestDamage(t *testing.T) {
	whole := gz(t, strings.Repeat("a line of text\n", 1000))
	for _, in := range []string{whole[:len(whole)-1], whole[:12], bzHello[:len(bzHello)-3], whole + "x"} {
		u, err := Open(strings.NewReader(in))
		if err == nil {
			_, err = io.ReadAll(u)
			u.Close()
		}
		testkit.Some(t, err, len(in))
	}
	reset := errors.New("reset")
	u, err := Open(io.MultiReader(strings.NewReader("ab"), iotest.ErrReader(reset)))
	testkit.None(t, err)
	if got, err := io.ReadAll(u); string(got) != "ab" || !errors.Is(err, reset) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 65<<20)
	text := "a\n\n" + long + "\nb"
	l, whole := NewLines(iotest.HalfReader(strings.NewReader(text))), WholeLines(strings.NewReader(text))
	for i, want := range []string{"a", "", long, "b"} {
		got, err := l.Next()
		if err != nil || string(got) != want || l.Number() != i+1 {
			t.Fatalf("line %d: %d bytes, %v", l.Number(), len(got), err)
		}
		if _, err := whole.Next(); (err == io.ErrUnexpectedEOF) != (want == "b") {
			t.Errorf("whole, line %d: %v", l.Number(), err)
		}
	}
	if _, err := l.Next(); err != io.EOF {
		t.Error(err)
	}
	reset := errors.New("reset")
	if _, err := NewLines(io.MultiReader(strings.NewReader("ab"), iotest.ErrReader(reset))).Next(); !errors.Is(err, reset) {
		t.Errorf("a failed read: %v", err)
	}
}

// FuzzOpen: no input may panic or hang, and how the bytes arrive does not matter.
func FuzzOpen(f *testing.F) {
	for _, seed := range []string{"hello\n", "", bzHello, bzHello + "BZh9", "\x1f\x8b\x08", "\x28\xb5\x2f\xfd", "7z\xbc\xaf\x27\x1c", "<html>"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		outcome := func(r io.Reader) (string, bool) {
			u, err := Open(r)
			if err != nil {
				return "", false
			}
			defer u.Close()
			text, err := io.ReadAll(io.LimitReader(u, 1<<20))
			return string(text), err == nil
		}
		a, okA := outcome(bytes.NewReader(in))
		b, okB := outcome(iotest.HalfReader(bytes.NewReader(in)))
		if okA != okB || okA && a != b {
			t.Errorf("%d bytes, %v; in halves %d bytes, %v", len(a), okA, len(b), okB)
		}
	})
}
