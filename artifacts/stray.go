package artifacts

import (
	"context"
	"fmt"
	"iter"
)

// Stray is something in a store's own folders that is neither blob nor record: a
// folder, a link or a device in the place of one, or a file whose name says nothing.
// No read ever takes it for a blob or a record.
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

// Tidier is a Blobs or a Records that lies in folders, where other things can be
// than those that it wrote.
type Tidier interface {
	// Strays yields what is in the folders besides blobs or records. The first error
	// ends it.
	Strays(ctx context.Context) iter.Seq2[Stray, error]
	// SetAside moves a stray out of the folders and returns where it is then.
	SetAside(s Stray) (to string, err error)
}
