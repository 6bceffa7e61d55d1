package artifacts

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/system/readers"
)

// On returns the store whose files a driver keeps. It does all that Blobs and Records promise besides
// moving bytes: it checks names and sizes, and verifies reads.
func On(d Driver, url string) Store { return on{d, d}.store(url) }

// ReadOn returns the place whose files a driver reads.
func ReadOn(d ReadDriver, url string) Reader { return on{d, nil}.store(url).Reader() }

type on struct {
	ReadDriver
	w Driver // nil in a Reader
}

func (o on) store(url string) Store {
	s := Store{Blobs: blobsOn{o}, Records: recordsOn{o, recordsFolder}, Leases: recordsOn{o, leasesFolder}, URL: url}
	if l, ok := o.ReadDriver.(LocalDriver); ok {
		s.Blobs = localOn{blobsOn{o}, l}
	}
	return s
}

// try calls a driver, unless ctx is over.
func try(ctx context.Context, what string, do func() error) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return onError(ctx, what, do())
}

// onError adds to a driver's error what it is about. Once ctx is over, its cause is the error.
func onError(ctx context.Context, what string, err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return fmt.Errorf("%s: %w", what, err)
}

// Rivals has several writers at once try to be the first in a store whose server may let more than one
// of them be that, and says, for people, what they were told; "" where no server can.
func Rivals(ctx context.Context, s Store) (string, error) {
	if r, is := s.Records.(recordsOn); is {
		if d, is := r.w.(RivalDriver); is {
			return d.Rivals(ctx)
		}
	}
	return "", nil
}

type blobsOn struct{ on }

func (b blobsOn) Put(ctx context.Context, r io.Reader) (d Digest, n int64, err error) {
	err = try(ctx, "store a blob", func() (err error) {
		d, n, err = b.w.Ingest(ctx, readers.WithContext(ctx, r), blobPath)
		return err
	})
	return d, n, err
}

func (b blobsOn) Open(ctx context.Context, d Digest) (rc io.ReadCloser, err error) {
	err = try(ctx, "blob "+d.String(), func() error {
		f, err := b.ReadDriver.Open(ctx, blobPath(d))
		if err == nil {
			rc = VerifyReader(readers.Closing(readers.WithContext(ctx, f), f), d, b.Where(blobPath(d)))
		}
		return err
	})
	return rc, err
}

func (b blobsOn) Missing(ctx context.Context, ds []Digest) ([]Digest, error) {
	var ask []Digest
	var paths []string
	seen := make(map[Digest]bool, len(ds))
	for _, d := range ds {
		if !seen[d] {
			seen[d] = true
			ask, paths = append(ask, d), append(paths, blobPath(d))
		}
	}
	if err := context.Cause(ctx); err != nil || len(ask) == 0 {
		return nil, err
	}
	there, err := b.Has(ctx, paths)
	if err != nil {
		return nil, err
	}
	var missing []Digest
	for i, d := range ask {
		if !there[i] {
			missing = append(missing, d)
		}
	}
	return missing, context.Cause(ctx)
}

func (b blobsOn) List(ctx context.Context) iter.Seq2[BlobInfo, error] {
	return func(yield func(BlobInfo, error) bool) {
		for f, err := range b.list(ctx, blobsFolder) {
			if err != nil {
				yield(BlobInfo{}, onError(ctx, "list blobs", err))
				return
			}
			d, ok := blobAt(strings.TrimPrefix(f.Path, blobsFolder))
			if ok && f.What == "" && !yield(BlobInfo{d, f.Size, f.ModTime}, nil) {
				return
			}
		}
	}
}

// list is List, which ends with an error when ctx is over, or where a link is in the place of a folder:
// files are opened through it, so that a list without them would be wrong.
func (o on) list(ctx context.Context, prefix string) iter.Seq2[FileInfo, error] {
	return func(yield func(FileInfo, error) bool) {
		err := context.Cause(ctx)
		if err == nil {
			for f, err := range o.ReadDriver.List(ctx, prefix) {
				if err == nil && (strings.HasPrefix(prefix, f.Path+"/") || f.Linked && spotAt(f.Path).folder) {
					err = fmt.Errorf("%s is a link, and all folders of a store must be in one file system: put the folder itself there, and link or mount the whole store instead", o.Where(f.Path))
				}
				if !yield(f, err) || err != nil {
					return
				}
			}
			err = context.Cause(ctx)
		}
		if err != nil {
			yield(FileInfo{}, err)
		}
	}
}

func (b blobsOn) Delete(ctx context.Context, d Digest) error {
	return try(ctx, "delete blob "+d.String(), func() error { return b.w.Delete(ctx, blobPath(d)) })
}

// localOn is Blobs that are Local.
type localOn struct {
	blobsOn
	l LocalDriver
}

func (b localOn) LocalPath(d Digest) (string, bool) { return b.l.LocalPath(blobPath(d)) }

func (b localOn) Take(ctx context.Context, path string) (d Digest, n int64, err error) {
	t, ok := b.l.(TakingDriver)
	if !ok {
		return d, 0, errors.ErrUnsupported
	}
	err = try(ctx, "store a blob", func() (err error) {
		d, n, err = t.Take(ctx, path, blobPath)
		return err
	})
	return d, n, err
}

type recordsOn struct {
	on
	folder string
}

func (r recordsOn) path(name string) string { return r.folder + RecordPath(name) }

func (r recordsOn) Get(ctx context.Context, name string) ([]byte, error) {
	if err := checkRecordName(name); err != nil {
		return nil, err
	}
	b := bytes.NewBuffer(make([]byte, 0, 2<<10)) // room for most records
	if err := try(ctx, "record "+name, func() error {
		f, err := r.Open(ctx, r.path(name))
		if err != nil {
			return err
		}
		_, err = b.ReadFrom(io.LimitReader(readers.WithContext(ctx, f), MaxRecord+1))
		return errors.Join(err, f.Close())
	}); err != nil {
		return nil, err
	}
	if b.Len() > MaxRecord {
		return nil, &DamageError{Name: name, Err: fmt.Errorf("%s is larger than any that redsi writes, %d bytes", r.Where(r.path(name)), MaxRecord)}
	}
	return b.Bytes(), nil
}

// write checks a record and does one write of it.
func (r recordsOn) write(ctx context.Context, name string, data []byte, do func(path string) error) error {
	if err := CheckRecord(name, data); err != nil {
		return err
	}
	return try(ctx, "record "+name, func() error { return do(r.path(name)) })
}

func (r recordsOn) Create(ctx context.Context, name string, data []byte) error {
	return r.write(ctx, name, data, func(path string) error { return r.w.Create(ctx, path, data) })
}

func (r recordsOn) Put(ctx context.Context, name string, data []byte) error {
	return r.write(ctx, name, data, func(path string) error { return r.w.Put(ctx, path, data) })
}

func (r recordsOn) Replace(ctx context.Context, name string, old, data []byte) error {
	return r.write(ctx, name, data, func(path string) error { return r.w.Replace(ctx, path, old, data) })
}

func (r recordsOn) Delete(ctx context.Context, name string) error {
	return r.write(ctx, name, nil, func(path string) error { return r.w.Delete(ctx, path) })
}

func (r recordsOn) List(ctx context.Context, prefix string) iter.Seq2[RecordInfo, error] {
	return func(yield func(RecordInfo, error) bool) {
		found, err := r.find(ctx, prefix)
		if err != nil {
			yield(RecordInfo{}, onError(ctx, "list records", err))
			return
		}
		for _, info := range found {
			if !yield(info, nil) {
				return
			}
		}
	}
}

// find lists records by name: their paths sort differently.
func (r recordsOn) find(ctx context.Context, prefix string) (found []RecordInfo, err error) {
	folder, ok := recordFolder(prefix)
	if !ok {
		return nil, nil
	}
	for f, err := range r.list(ctx, r.folder+folder+plainStart(prefix)) {
		if err != nil {
			return nil, err
		}
		name, ok := RecordName(strings.TrimPrefix(f.Path, r.folder))
		if ok && f.What == "" && strings.HasPrefix(name, prefix) {
			found = append(found, RecordInfo{name, f.Size, f.ModTime})
		}
	}
	slices.SortFunc(found, func(a, b RecordInfo) int { return strings.Compare(a.Name, b.Name) })
	return found, nil
}

// Stray is something among a store's blobs or records that is neither: in a directory, a folder, a link
// or a device in the place of a file, or a file whose name no blob or record has; in a bucket, an object
// with such a name. No read takes it for a blob or a record.
type Stray struct {
	Path  string // for people
	What  string // "a folder", "a file of 12 bytes"
	Place string // the blob or record in whose place it lies; "": it is in nobody's way

	path string // for its driver
}

func (s Stray) String() string {
	if s.Place != "" {
		return fmt.Sprintf("%s is %s in the place of %s", s.Path, s.What, s.Place)
	}
	return fmt.Sprintf("%s is %s, neither blob nor record", s.Path, s.What)
}

// tidied returns the driver of blobs or records, and the folder that these have; ok is false where
// no driver keeps them, or where nobody else can put things.
func tidied(half any) (o on, folder string, ok bool) {
	switch h := half.(type) {
	case blobsOn:
		o, folder = h.on, blobsFolder
	case localOn:
		o, folder = h.on, blobsFolder
	case recordsOn:
		o, folder = h.on, h.folder
	}
	_, ok = o.ReadDriver.(TidyDriver)
	return o, folder, ok
}

// strays yields the strays below a folder, until the first error, but nothing within a stray folder. A
// file in the place of a folder is in its way, also in a bucket: servers that keep objects as files take
// nothing below it.
func (o on) strays(ctx context.Context, folder string) iter.Seq2[Stray, error] {
	return func(yield func(Stray, error) bool) {
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

// setAside moves a stray below the store's aside/ and returns where it is then.
func (o on) setAside(ctx context.Context, s Stray) (to string, err error) {
	err = try(ctx, "set "+s.Path+" aside", func() (err error) {
		to, err = o.ReadDriver.(TidyDriver).SetAside(ctx, s.path)
		return err
	})
	return to, err
}
