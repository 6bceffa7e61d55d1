package artifacts

import (
	"cmp"
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

	path string // that its driver knows
}

func (s Stray) String() string {
	if s.Place != "" {
		return fmt.Sprintf("%s is %s in the place of %s", s.Path, s.What, s.Place)
	}
	return fmt.Sprintf("%s is %s, neither blob nor record", s.Path, s.What)
}

// tidier is the half of a store that is where others can put things, too.
type tidier interface {
	// strays yields what is there besides blobs or records. The first error ends it.
	strays(ctx context.Context) iter.Seq2[Stray, error]
	// setAside moves a stray below the store's aside/ and returns where it is then.
	setAside(ctx context.Context, s Stray) (to string, err error)
}

func (b blobsOn) strays(ctx context.Context) iter.Seq2[Stray, error] {
	return b.on.strays(ctx, blobsFolder)
}

func (r recordsOn) strays(ctx context.Context) iter.Seq2[Stray, error] {
	return r.on.strays(ctx, r.folder)
}

// strays yields what is below a folder and should not be there. What is in a folder that is a
// stray is not looked at. A file in the place of a folder is in its way, also in a bucket:
// servers that keep objects as files take nothing below it.
func (o on) strays(ctx context.Context, folder string) iter.Seq2[Stray, error] {
	return func(yield func(Stray, error) bool) {
		if _, ok := o.ReadDriver.(TidyDriver); !ok {
			return
		}
		inside := "" // of a stray
		for f, err := range o.list(ctx, folder) {
			if err != nil {
				yield(Stray{}, onError(ctx, "look for strays", err))
				return
			}
			p := spotAt(f.Path)
			if p.file && f.What == "" || p.folder && f.Folder || inside != "" && strings.HasPrefix(f.Path, inside) {
				continue
			}
			if f.Folder {
				inside = f.Path + "/"
			}
			what := cmp.Or(f.What, fmt.Sprintf("a file of %d bytes", f.Size))
			if !yield(Stray{Path: o.Where(f.Path), What: what, Place: p.name, path: f.Path}, nil) {
				return
			}
		}
	}
}

func (o on) setAside(ctx context.Context, s Stray) (to string, err error) {
	err = try(ctx, "set "+s.Path+" aside", func() (err error) {
		to, err = o.ReadDriver.(TidyDriver).SetAside(ctx, s.path)
		return err
	})
	return to, err
}
