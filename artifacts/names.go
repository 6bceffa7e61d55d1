package artifacts

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/system/lists"
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

// RecordPath maps a record's name to the relative path under which every store keeps it, so that
// any tool can copy a directory into a bucket and back. The path is safe and distinct on every file
// system, also where case is ignored, and on servers that keep keys as files: an upper-case letter
// becomes '!' and its lower-case letter (as in Go's module cache), a byte other than a letter, a
// digit, '-', '_' and '.' becomes %xx, and so does a '.' that begins a segment, or that would make
// a folder end like a record.
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

// plain reports whether a record's name is its path, as most names are.
func plain(record string) bool { return !strings.ContainsFunc(record, isSpecial) }

// isSpecial reports a character that a RecordPath may have to escape.
func isSpecial(c rune) bool {
	return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '/'
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
	name, err := url.PathUnescape(upperCase.ReplaceAllStringFunc(enc, func(s string) string { return strings.ToUpper(s[1:]) }))
	return name, err == nil && RecordPath(name) == path && checkRecordName(name) == nil
}

// upperCase is an upper-case letter in a RecordPath.
var upperCase = regexp.MustCompile("![a-z]")

// recordFolder returns the path, with a final slash, below which all records lie
// whose names start with prefix; ok is false if no record can have such a name.
func recordFolder(prefix string) (path string, ok bool) {
	parent, _, ok := strings.CutLast(prefix, "/")
	if !ok {
		return "", true
	}
	if checkRecordName(parent) != nil {
		return "", false
	}
	return strings.TrimSuffix(RecordPath(parent+"/x"), "x"+recordSuffix), true
}

// plainStart returns the start of prefix's last segment that escaping does not change: it narrows
// a listing to a part of a key.
func plainStart(prefix string) string {
	last := prefix[strings.LastIndexByte(prefix, '/')+1:]
	if i := strings.IndexFunc(last, isSpecial); i >= 0 {
		return last[:i]
	}
	return last
}

// The folders of a store.
const (
	blobsFolder   = "blobs/"
	recordsFolder = "records/"
	leasesFolder  = "leases/"
)

func blobPath(d Digest) string { return blobsFolder + BlobPath(d) }

// MaxRecord is the largest record in bytes. Larger things are blobs.
const MaxRecord = 1 << 20

// The longest RecordPath, with a store's prefix under S3's 1,024 bytes, and its longest segment,
// under a file system's 255.
const (
	maxRecordPath    = 800
	maxRecordSegment = 240
)

// CheckRecord reports a record that no store takes: its name is empty or too long, or has an empty,
// "." or ".." segment or a control character, or it has more than MaxRecord bytes. Stores call it
// before they write.
func CheckRecord(name string, data []byte) error {
	if err := checkRecordName(name); err != nil {
		return err
	}
	if len(data) > MaxRecord {
		return &RefusedError{Err: fmt.Errorf("record %s has %d bytes, more than %d: store it as a blob and record its digest", name, len(data), MaxRecord)}
	}
	return nil
}

// checkRecordName is CheckRecord without data.
func checkRecordName(name string) error {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("record name %q is not printable UTF-8", name)
	}
	for seg := range strings.SplitSeq(name, "/") {
		if seg == "" || seg == "." || seg == ".." {
			return fmt.Errorf("record name %q has an empty, \".\" or \"..\" segment", name)
		}
	}
	path := RecordPath(name)
	if len(path) > maxRecordPath {
		return fmt.Errorf("record name %.100q… takes %d bytes when escaped, more than %d", name, len(path), maxRecordPath)
	}
	for seg := range strings.SplitSeq(path, "/") {
		if len(seg) > maxRecordSegment {
			return fmt.Errorf("record name %.100q… has a segment of %d bytes when escaped, more than %d", name, len(seg), maxRecordSegment)
		}
	}
	return nil
}

// spot is what belongs at a path below a store's blobs/ or records/: a file, a folder of files, or
// nothing.
type spot struct {
	file, folder bool
	name         string // for people; empty if nothing belongs there, or nothing that has a name
}

// blobAt returns the digest of the blob whose path below blobs/ this is.
func blobAt(rel string) (Digest, bool) {
	d, err := ParseHex(strings.Replace(rel, "/", "", 1))
	return d, err == nil && rel == BlobPath(d)
}

// spotAt says what belongs at a path below one of a store's folders.
func spotAt(path string) spot {
	if rel, ok := strings.CutPrefix(path, blobsFolder); ok {
		if d, ok := blobAt(rel); ok {
			return spot{file: true, name: "blob " + d.String()}
		}
		if len(rel) == 2 && strings.Trim(rel, "0123456789abcdef") == "" {
			return spot{folder: true, name: "the folder of blobs " + rel + "…"}
		}
		return spot{}
	}
	_, rel, _ := strings.Cut(path, "/")
	if name, ok := RecordName(rel); ok {
		return spot{file: true, name: "record " + name}
	}
	inside, ok := RecordName(rel + "/x" + recordSuffix)
	p := spot{folder: ok}
	if ok && !strings.Contains(rel, ".") { // with a dot it is rather somebody's file
		p.name = "the folder of records " + strings.TrimSuffix(inside, "x")
	}
	return p
}

// aboutFormat is the form of the record "about/<hex key>", which lists the records about a key for
// readers that cannot list a store, such as a static host's:
//
//	{"format":"redsi-about/1","records":["signatures/<hex key>/<key id>",…]}
const aboutFormat = "redsi-about/1"

// maxAbout bounds the records about a key that are read from others.
const maxAbout = 1000

type aboutList struct {
	Format  string   `json:"format"`
	Records []string `json:"records"`
}

// ListAbout writes, for each key, the record that lists the records about its result. Only a store
// that a static host serves as files needs it.
func ListAbout(ctx context.Context, s Store, keys []Digest) error {
	all, err := aboutOf(ctx, s.Records, keys)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if len(all[key]) == 0 {
			continue
		}
		if err := PutJSON(ctx, s.Records, aboutPrefix+key.Hex(), aboutList{aboutFormat, all[key]}); err != nil {
			return fmt.Errorf("list what is said about %s: %w", key, err)
		}
	}
	return nil
}

// listEach is for how many keys at most one list each is asked for; for more, all is listed once.
const listEach = 16

// aboutOf lists the records about keys.
func aboutOf(ctx context.Context, records RecordReader, keys []Digest) (map[Digest][]string, error) {
	wanted := lists.Set(keys)
	found := map[Digest][]string{}
	for _, k := range kinds {
		if !k.listed {
			continue
		}
		prefix := k.prefix
		lists := []string{prefix}
		if len(wanted) <= listEach {
			lists = nil
			for key := range wanted {
				lists = append(lists, prefix+key.Hex()+"/")
			}
		}
		for _, list := range lists {
			for info, err := range records.List(ctx, list) {
				if err != nil {
					return nil, err
				}
				if key, ok := keyOf(info.Name, prefix); ok && wanted[key] {
					found[key] = append(found[key], info.Name)
				}
			}
		}
	}
	return found, nil
}

// about lists the records about a key in a tier: by a listing where the tier has one, else as the
// record about/<key> says. Where neither answers it lists none: no result depends on these records.
func (t *tier) about(ctx context.Context, key Digest) []string {
	if t.away("") != nil {
		return nil
	}
	if all, err := aboutOf(ctx, t.records, []Digest{key}); err == nil { // many stores let nobody list
		return all[key][:min(len(all[key]), maxAbout)]
	}
	b, err := t.Get(ctx, aboutPrefix+key.Hex())
	if err != nil {
		return nil
	}
	var list aboutList
	if json.Unmarshal(b, &list) != nil || list.Format != aboutFormat || len(list.Records) > maxAbout {
		return nil
	}
	return slices.DeleteFunc(list.Records, func(name string) bool {
		k, ok := isAbout(name)
		return !ok || k != key || strings.HasPrefix(name, aboutPrefix) || checkRecordName(name) != nil
	})
}
