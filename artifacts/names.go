package artifacts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
)

// recordSuffix ends every record's path, so that records "a" and "a/b" can live
// side by side as the file a.json and the folder a.
const recordSuffix = ".json"

// BlobPath is the relative path under which every store keeps a blob: 256 folders, of
// 400 names each when there are 100,000 blobs.
func BlobPath(d Digest) string {
	h := d.Hex()
	return h[:2] + "/" + h[2:]
}

// RecordPath maps a record's name to the relative path under which every store
// keeps it, so that a directory and a bucket can be copied into each other by
// any tool. It is safe and distinct on every file system, those that ignore case
// included, and on servers that keep keys as files: upper-case letters become
// '!' and the lower-case one (as in Go's module cache), bytes other than
// letters, digits, '-', '_' and '.' become %xx, and so does a '.' that begins a
// segment, or that would make a folder end like a record.
func RecordPath(record string) string {
	if plain(record) {
		return record + recordSuffix
	}
	segs := strings.Split(record, "/")
	for i, s := range segs {
		folder := i < len(segs)-1
		var b strings.Builder
		for j := 0; j < len(s); j++ {
			switch c := s[j]; {
			case c >= 'A' && c <= 'Z':
				b.WriteByte('!')
				b.WriteByte(c | 0x20)
			case c == '.' && (j == 0 || folder && s[j:] == recordSuffix):
				b.WriteString("%2e")
			case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_', c == '.':
				b.WriteByte(c)
			default:
				fmt.Fprintf(&b, "%%%02x", c)
			}
		}
		segs[i] = b.String()
	}
	return strings.Join(segs, "/") + recordSuffix
}

// plain reports whether a record's name is its path, as that of most is.
func plain(record string) bool {
	return !strings.ContainsFunc(record, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '/'
	})
}

// RecordName is the inverse of RecordPath; ok is false for a path that no record has.
func RecordName(path string) (name string, ok bool) {
	enc, ok := strings.CutSuffix(path, recordSuffix)
	if !ok {
		return "", false
	}
	if plain(enc) {
		return enc, checkRecordName(enc) == nil
	}
	var b strings.Builder
	for i := 0; i < len(enc); i++ {
		switch c := enc[i]; {
		case c == '!' && i+1 < len(enc) && enc[i+1] >= 'a' && enc[i+1] <= 'z':
			i++
			b.WriteByte(enc[i] &^ 0x20)
		case c == '%' && i+2 < len(enc):
			var v byte
			if _, err := fmt.Sscanf(enc[i+1:i+3], "%02x", &v); err != nil {
				return "", false
			}
			b.WriteByte(v)
			i += 2
		default:
			b.WriteByte(c)
		}
	}
	name = b.String()
	return name, RecordPath(name) == path && checkRecordName(name) == nil
}

// recordFolder returns the path, with a final slash, below which all records lie
// whose names start with prefix; ok is false if no record can have such a name.
func recordFolder(prefix string) (path string, ok bool) {
	i := strings.LastIndexByte(prefix, '/')
	if i < 0 {
		return "", true
	}
	if checkRecordName(prefix[:i]) != nil {
		return "", false
	}
	return strings.TrimSuffix(RecordPath(prefix[:i]+"/x"), "x"+recordSuffix), true
}

// plainStart returns the part of prefix's last segment that escaping does not change, so
// that a listing is narrowed by part of a key.
func plainStart(prefix string) string {
	last := prefix[strings.LastIndexByte(prefix, '/')+1:]
	n := 0
	for n < len(last) && plain(last[n:n+1]) {
		n++
	}
	return last[:n]
}

// RecordNames lists names first: a store is not changed while it is listed.
func RecordNames(ctx context.Context, records recordLister, prefix string) ([]string, error) {
	var names []string
	for r, err := range records.List(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		names = append(names, r.Name)
	}
	return names, nil
}

// Document is a record with its text.
type Document struct {
	Name string
	Text []byte
}

// DocumentsIn reads the records whose names begin with prefix, which it lists first.
func DocumentsIn(ctx context.Context, records interface {
	recordLister
	recordReader
}, prefix string) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		names, err := RecordNames(ctx, records, prefix)
		if err != nil {
			yield(Document{}, err)
			return
		}
		Documents(ctx, records, names)(yield)
	}
}

// PutJSON stores a value as a document.
func PutJSON(ctx context.Context, records Records, name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return records.Put(ctx, name, b)
}

// Documents reads records in the order of names. One that is deleted meanwhile is left out;
// the first error ends it.
func Documents(ctx context.Context, records recordReader, names []string) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		for _, name := range names {
			text, err := records.Get(ctx, name)
			if errors.Is(err, ErrNotExist) {
				continue
			}
			if !yield(Document{name, text}, err) || err != nil {
				return
			}
		}
	}
}
