package archive

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/internal/system/signature"
)

// Reader is an archive whose table of contents has been checked: every name is where it belongs and means the same file
// on every system, and nothing exceeds the limits. Reading a file verifies its bytes.
type Reader struct {
	Manifest Manifest
	Signer   signature.Public // of the manifest; zero: not signed
	Others   []string         // files that do not belong in an archive; never read

	where    string
	entries  map[string]*zip.File // that belong in an archive, by name
	records  []string             // their names, sorted
	projects int                  // files of the project
	people   int                  // files for people, with the manifest
	blobs    int
	unpacked int64 // bytes of blobs
}

// NewReader reads the table of contents and the manifest of an archive of size bytes; where is its name in messages.
func NewReader(r io.ReaderAt, size int64, l Limits, where string) (*Reader, error) {
	a, err := newReader(r, size, l, where)
	if err != nil {
		return nil, fmt.Errorf("%s is not a readable archive: %w", where, err)
	}
	return a, nil
}

func newReader(r io.ReaderAt, size int64, l Limits, where string) (*Reader, error) {
	if err := directory(r, size, l); err != nil {
		return nil, err
	}
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, bad("", "its table of contents cannot be read: %w", err)
	}
	if err := check(z.File, size, l); err != nil {
		return nil, err
	}
	a := &Reader{where: where, entries: map[string]*zip.File{}}
	if err := a.sort(z.File, l); err != nil {
		return nil, err
	}
	f := a.entries[ManifestName]
	if f == nil {
		return nil, bad("", "it has no %s: archives are written by redsi export --archive", ManifestName)
	}
	b, err := readAll(f, l.File)
	if err != nil {
		return nil, err
	}
	if a.Manifest, a.Signer, err = parseManifest(b); err != nil {
		return nil, bad(ManifestName, "%w", err)
	}
	if err := a.complete(l); err != nil {
		return nil, err
	}
	slices.Sort(a.Others)
	return a, nil
}

func (a *Reader) sort(files []*zip.File, l Limits) error {
	seen := make(map[string]string, len(files))
	for _, f := range files {
		name, folder := strings.CutSuffix(f.Name, "/")
		if err := artifacts.CheckFileName(name); err != nil {
			return err
		}
		key := fold(name)
		if other, twice := seen[key]; twice {
			return bad(f.Name, "%.200q is the same file if case is ignored", other)
		}
		seen[key] = f.Name
		if folder {
			continue
		}
		if err := a.put(f, l); err != nil {
			return err
		}
	}
	for _, f := range files { // none is a folder of another
		for dir := path.Dir(strings.TrimSuffix(f.Name, "/")); dir != "."; dir = path.Dir(dir) {
			if other, ok := seen[fold(dir)]; ok && !strings.HasSuffix(other, "/") {
				return bad(f.Name, "%.200q is a file, not a folder", other)
			}
		}
	}
	slices.Sort(a.records)
	return nil
}

func (a *Reader) put(f *zip.File, l Limits) error {
	a.entries[f.Name] = f
	if name, ok := strings.CutPrefix(f.Name, ProjectDir); ok {
		if err := CheckProjectFile(name); err != nil {
			return err
		}
		if a.projects++; a.projects > l.Files {
			return bad(f.Name, "the project has more than %d files", l.Files)
		}
		if f.UncompressedSize64 > uint64(l.File) {
			return bad(f.Name, "a file of the project may have at most %d bytes, but this one has %d", l.File, f.UncompressedSize64)
		}
		return nil
	}
	if at, ok := strings.CutPrefix(f.Name, BlobsDir); ok {
		d, err := artifacts.ParseHex(strings.Replace(at, "/", "", 1))
		if err != nil || artifacts.BlobPath(d) != at {
			return bad(f.Name, "this is not the path of a blob")
		}
		a.blobs++
		a.unpacked += int64(f.UncompressedSize64)
		return nil
	}
	if at, ok := strings.CutPrefix(f.Name, RecordsDir); ok {
		name, ok := artifacts.RecordName(at)
		if !ok || !artifacts.Archived(name) {
			return bad(f.Name, "an archive must not have such a record")
		}
		if f.UncompressedSize64 > artifacts.MaxRecord {
			return bad(f.Name, "a record may have at most %d bytes, but this one has %d", artifacts.MaxRecord, f.UncompressedSize64)
		}
		a.records = append(a.records, name)
		return nil
	}
	if isForPeople(f.Name) {
		a.people++
	} else {
		delete(a.entries, f.Name)
		a.Others = append(a.Others, f.Name)
	}
	return nil
}

func isForPeople(name string) bool {
	return slices.Contains([]string{ManifestName, ReadmeName, CitationName, CrateName, ReportName}, name) || strings.HasPrefix(name, ResultsDir)
}

// complete compares the table of contents with the manifest.
func (a *Reader) complete(l Limits) error {
	m := a.Manifest
	named := map[string]bool{}
	for _, f := range append(slices.Clone(m.Files), m.Sources...) {
		if err := CheckProjectFile(f.Name); err != nil {
			return err
		}
		if named[fold(f.Name)] {
			return bad(f.Name, "the manifest lists this file of the project twice")
		}
		named[fold(f.Name)] = true
	}
	for name := range named {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if named[dir] {
				return bad(name, "%.200q is a file of the project, not a folder", dir)
			}
		}
	}
	if len(named) > l.Files {
		return bad("", "the project has %d files, more than %d", len(named), l.Files)
	}
	left := l.Size - a.unpacked // one blob may be many files: each is written
	for _, f := range m.Sources {
		b := a.entries[BlobsDir+artifacts.BlobPath(f.Digest)]
		switch leads := artifacts.CheckLink(f.Name, f.Link); {
		case f.Mode == artifacts.Link && leads != nil:
			return bad(f.Name, "%w", leads)
		case b == nil:
			return bad(f.Name, "the archive lacks this file of the project")
		case b.UncompressedSize64 != uint64(f.Size):
			return bad(f.Name, "it has %d bytes, not %d as the manifest says", b.UncompressedSize64, f.Size)
		}
		if left -= f.Size; left < 0 {
			return bad(f.Name, "with it the archive unpacks to more than %d bytes: if that is intended, allow it with --max-size", l.Size)
		}
	}
	for _, f := range m.Files {
		if a.entries[ProjectDir+f.Name] == nil {
			return bad(ProjectDir+f.Name, "the archive lacks this file")
		}
	}
	for _, f := range m.Others {
		if a.entries[f.Name] == nil || f.Name == ManifestName || !isForPeople(f.Name) {
			return bad(f.Name, "the archive lacks this file")
		}
	}
	for _, c := range []struct {
		of      string
		have, m int
	}{{"files of the project", a.projects, len(m.Files)}, {"files for people", a.people - 1, len(m.Others)}, {"records", len(a.records), m.Records.Count}, {"blobs", a.blobs, m.Blobs}} {
		if c.have != c.m {
			return bad("", "it has %d %s, but its manifest says %d", c.have, c.of, c.m)
		}
	}
	return nil
}

// Verify reads all records and all files for people, and compares them with the manifest. Files of the project and blobs
// are verified when they are read.
func (a *Reader) Verify(ctx context.Context) error {
	sum := sha256.New()
	for _, name := range a.records {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		b, err := readAll(a.entries[RecordsDir+artifacts.RecordPath(name)], artifacts.MaxRecord)
		if err != nil {
			return fmt.Errorf("%s: %w", a.where, err)
		}
		fmt.Fprintf(sum, "%s %s\n", name, artifacts.Sum(b))
	}
	if got := artifacts.Digest(sum.Sum(nil)); got != a.Manifest.Records.Digest {
		return fmt.Errorf("%s: its records do not match its manifest: their digest is %s, not %s", a.where, got, a.Manifest.Records.Digest)
	}
	for _, f := range a.Manifest.Others {
		r, err := a.verified(f, a.entries[f.Name])
		if err == nil {
			_, err = io.Copy(io.Discard, readers.WithContext(ctx, r))
			err = errors.Join(err, r.Close())
		}
		if err != nil {
			return fmt.Errorf("%s: %w", a.where, err)
		}
	}
	return nil
}

// WriteProject writes the verified files of the project into an empty folder, taking files that the archive has only in
// its store from store. Names were checked on opening, and no link leads out of the folder.
func (a *Reader) WriteProject(ctx context.Context, folder string, store artifacts.BlobReader) error {
	for _, f := range a.Manifest.Files {
		r, err := a.verified(f, a.entries[ProjectDir+f.Name])
		if err != nil {
			return err
		}
		err = local.Create(folder, f.Name, 0o644, readers.WithContext(ctx, r))
		if err = errors.Join(err, r.Close()); err != nil {
			return fmt.Errorf("%s: %w", a.where, err)
		}
	}
	for _, f := range a.Manifest.Sources {
		r, err := store.Open(ctx, f.Digest)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		err = local.Entry(folder, f.Name, f, 0o644, readers.WithContext(ctx, r))
		if err = errors.Join(err, r.Close()); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

// verified opens the entry of a file that the manifest lists; a reader at io.EOF has read what the manifest says.
func (a *Reader) verified(f artifacts.File, z *zip.File) (io.ReadCloser, error) {
	r, err := open(z)
	if err != nil {
		return nil, err
	}
	return artifacts.VerifyReader(r, f.Digest, a.where+", "+z.Name), nil
}

// open opens an entry, limited to its stated size.
func open(f *zip.File) (io.ReadCloser, error) {
	r, err := f.Open()
	if err != nil {
		return nil, bad(f.Name, "%w", err)
	}
	return &entry{r, f}, nil
}

// entry adds the file's name to errors.
type entry struct {
	io.ReadCloser
	f *zip.File
}

func (e *entry) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = bad(e.f.Name, "its bytes are damaged: %w", err)
	}
	return n, err
}

func readAll(f *zip.File, most int64) ([]byte, error) {
	if f.UncompressedSize64 > uint64(most) {
		return nil, bad(f.Name, "it has %d bytes, more than %d", f.UncompressedSize64, most)
	}
	r, err := open(f)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// Reader returns the archive as a read-only store.
func (a *Reader) Reader() artifacts.Reader { return artifacts.ReadOn(driver{a}, a.where) }

// driver reads the files of an archive's store.
type driver struct{ a *Reader }

func (d driver) Where(string) string { return d.a.where }

func (d driver) Open(_ context.Context, path string) (io.ReadCloser, error) {
	f := d.a.entries[storeDir+path]
	if f == nil {
		return nil, artifacts.ErrNotExist
	}
	return open(f)
}

func (d driver) Has(_ context.Context, paths []string) ([]bool, error) {
	return lists.Map(paths, func(p string) bool { return d.a.entries[storeDir+p] != nil }), nil
}

func (d driver) List(_ context.Context, prefix string) iter.Seq2[artifacts.FileInfo, error] {
	return func(yield func(artifacts.FileInfo, error) bool) {
		for name, f := range d.a.entries {
			path, ok := strings.CutPrefix(name, storeDir)
			if ok && strings.HasPrefix(path, prefix) && !yield(artifacts.FileInfo{Path: path, Size: int64(f.UncompressedSize64)}, nil) {
				return
			}
		}
	}
}
