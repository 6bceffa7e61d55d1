package unpack

import (
	"bytes"
	"errors"
	"fmt"
	"unicode"
)

// ForeignError says that an input is not the text, compressed or not, of a file of records.
type ForeignError struct {
	Format string // "a 7z archive"
	Advice string // what to do
}

func (e *ForeignError) Error() string { return fmt.Sprintf("the file is %s: %s", e.Format, e.Advice) }

var (
	gzipMark = []byte{0x1f, 0x8b}
	zstdMark = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// isZstd also recognises a skippable frame, with which pzstd begins.
func isZstd(head []byte) bool {
	return bytes.HasPrefix(head, zstdMark) || len(head) > 3 && head[0]&0xf0 == 0x50 && string(head[1:4]) == "*M\x18"
}

// isBzip2 checks the level too: a text may begin with "BZh".
func isBzip2(head []byte) bool {
	return bytes.HasPrefix(head, []byte("BZh")) && (len(head) < bzMarkLen || head[3] >= '1' && head[3] <= '9')
}

// bzMarkLen is the length of "BZh", the level and one of bzMarks.
const bzMarkLen = 10

// bzMarks begin the first block of a bzip2 stream, or end an empty stream.
var bzMarks = [2][]byte{[]byte("1AY&SY"), {0x17, 0x72, 0x45, 0x38, 0x50, 0x90}}

const (
	unpackFirst = "unpack it and give the file that is in it, plain or compressed with gzip, bzip2 or zstd"
	fetchFile   = "fetch the file (git lfs pull)"
	fetchAgain  = "a server sent it instead of the file; look at it, and download the file again"
)

// marks lists formats that people give in place of a file of records.
var marks = []struct {
	at     int
	mark   []byte
	format string
	advice string
}{
	{0, []byte("7z\xbc\xaf\x27\x1c"), "a 7z archive", unpackFirst + " (7z x FILE; 7z e -so FILE | gzip > FILE.gz)"},
	{0, []byte("PK\x03\x04"), "a zip archive", unpackFirst + " (unzip FILE)"},
	{0, []byte("PK\x05\x06"), "an empty zip archive", "it holds nothing"},
	{0, []byte("\xfd7zXZ\x00"), "compressed with xz", "compress it with gzip, bzip2 or zstd instead (xz -dc FILE | gzip > FILE.gz)"},
	{0, []byte("Rar!\x1a\x07"), "a rar archive", unpackFirst},
	{0, []byte("\x04\x22\x4d\x18"), "compressed with lz4", "compress it with gzip, bzip2 or zstd instead"},
	{0, []byte("\x1f\x9d"), "compressed with compress (.Z)", "compress it with gzip instead (zcat FILE | gzip > FILE.gz)"},
	{0, []byte("PAR1"), "a Parquet table", "convert it to JSON lines"},
	{0, []byte("%PDF-"), "a PDF document", "give the data file itself"},
	{257, []byte("ustar"), "a tar archive", unpackFirst + " (tar xf FILE)"},
	{0, []byte("version https://git-lfs.github.com/spec/"), "a pointer of Git LFS, not the file itself", fetchFile},
}

// Page is the Format of a web page.
const Page = "an HTML page"

// Instead names, by its first bytes, the content that came in place of a file: "empty", a server's page or error, a pointer
// (of Git LFS, for example); "" for any other.
func Instead(head []byte) string {
	if len(head) == 0 {
		return "empty"
	}
	if e := (*ForeignError)(nil); errors.As(foreign(head), &e) && (e.Advice == fetchAgain || e.Advice == fetchFile) {
		return e.Format
	}
	return ""
}

// foreign looks at the first bytes of a file or of the text in it.
func foreign(head []byte) error {
	for _, m := range marks {
		if len(head) >= m.at && bytes.HasPrefix(head[m.at:], m.mark) {
			return &ForeignError{m.format, m.advice}
		}
	}
	text := bytes.ToLower(bytes.TrimLeftFunc(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), unicode.IsSpace))
	switch {
	case bytes.HasPrefix(text, []byte("<!doctype html")), bytes.HasPrefix(text, []byte("<html")),
		bytes.HasPrefix(text, []byte("<?xml")) && (bytes.Contains(text, []byte("<!doctype html")) || bytes.Contains(text, []byte("<html"))):
		return &ForeignError{Page, fetchAgain}
	case bytes.HasPrefix(text, []byte("<?xml")) && bytes.Contains(text, []byte("<error>")), bytes.HasPrefix(text, []byte("<error>")):
		return &ForeignError{"an error document in XML", fetchAgain}
	}
	return nil
}

// inner looks at the first bytes of decompressed text.
func inner(head []byte) error {
	bz := len(head) >= bzMarkLen && isBzip2(head) && (bytes.HasPrefix(head[4:], bzMarks[0]) || bytes.HasPrefix(head[4:], bzMarks[1]))
	if bytes.HasPrefix(head, gzipMark) || isZstd(head) || bz {
		return &ForeignError{"compressed twice", "decompress it once"}
	}
	return foreign(head)
}
