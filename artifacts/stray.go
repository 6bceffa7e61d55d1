package artifacts

import (
	"context"
	"fmt"
	"iter"
	"strings"
)

// Stray is something among a store's blobs or records that is neither: in a folder, a
// folder, a link or a device in the place of one, or a file whose name says nothing; in
// a bucket, an object whose name does. No read ever takes it for a blob or a record.
type Stray struct {
	Path  string // where it is
	What  string // "a folder", "a file of 12 bytes"
	Place string // of the blob or record that it lies in, or empty: it is in nobody's way
}

func (s Stray) String() string {
	if s.Place != "" {
		return fmt.Sprintf("%s is %s in the place of %s", s.Path, s.What, s.Place)
	}
	return fmt.Sprintf("%s is %s, neither blob nor record", s.Path, s.What)
}

// Tidier is a Blobs or a Records that is where others can put things, too: in
// folders, in a bucket.
type Tidier interface {
	// Strays yields what is there besides blobs or records. The first error ends it.
	Strays(ctx context.Context) iter.Seq2[Stray, error]
	// SetAside moves a stray below the store's aside/ and returns where it is then.
	SetAside(ctx context.Context, s Stray) (to string, err error)
}

// Spot is what belongs at a path below a store's blobs/ or records/: a file, or a
// folder of files, or nothing.
type Spot struct {
	File, Folder bool
	Name         string // for people; empty if nothing does, or nothing that is known
}

// BlobSpot says what belongs at a path below blobs/.
func BlobSpot(rel string) Spot {
	if d, err := ParseHex(strings.Replace(rel, "/", "", 1)); err == nil && rel == BlobPath(d) {
		return Spot{File: true, Name: "blob " + d.String()}
	}
	if len(rel) == 2 && strings.Trim(rel, "0123456789abcdef") == "" {
		return Spot{Folder: true, Name: "the folder of blobs " + rel + "…"}
	}
	return Spot{}
}

// RecordSpot says what belongs at a path below records/.
func RecordSpot(rel string) Spot {
	if name, ok := RecordName(rel); ok {
		return Spot{File: true, Name: "record " + name}
	}
	inside, ok := RecordName(rel + "/x" + recordSuffix)
	s := Spot{Folder: ok}
	if ok && !strings.Contains(rel, ".") { // with a dot it is rather somebody's file
		s.Name = "the folder of records " + strings.TrimSuffix(inside, "x")
	}
	return s
}
