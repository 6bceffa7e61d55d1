package pack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/local"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/sharing/archive"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/signature"
)

// Incoming is an archive to import, where it goes, and whose keys are trusted.
type Incoming struct {
	File, Folder string // Folder "": named as the file is
	Most         int64  // largest unpacked size; 0: a usual one
	Ring         signature.Ring
	Unsigned     bool // also beside other results, accept results that no trusted key signed

	// Store opens the store that the results go into; nil: the new folder's own.
	Store func(ctx context.Context) (*artifacts.Resolver, error)

	Reading func() (over func()) // called before the archive is read through
	Meter   Meter
}

// Meter begins to show how many of total bytes are done, until over is called.
type Meter func(total int64) (add func(n int64), over func())

// Imported is the outcome of an import.
type Imported struct {
	Folder    string            `json:"folder"`
	Store     string            `json:"store"`
	Pipeline  string            `json:"pipeline"` // what -f is given in the folder
	Files     int               `json:"files"`
	Results   int               `json:"results"`
	There     int               `json:"there"` // results that the store already had
	Blobs     int               `json:"blobs"`
	Bytes     int64             `json:"bytes"`
	Differs   []string          `json:"differs"`  // keys whose outputs in the store differ, and stay
	Damaged   []string          `json:"damaged"`  // results that are incomplete in the archive without explanation
	LeftOut   []archive.LeftOut `json:"left_out"` // not in the archive
	Ignored   []string          `json:"ignored"`  // files that do not belong in an archive
	Variables []string          `json:"variables"`
	Signer    string            `json:"signer,omitempty"` // of the archive
	Trusted   bool              `json:"trusted"`          // the archive's signer
	Believed  bool              `json:"results_trusted"`  // the signers of all results

	Given string `json:"-"` // the folder as the person named it
	Apart bool   `json:"-"` // the results are in a store elsewhere
}

var ownStore = filepath.Join(".redsi", "store")

// Import reads an archive into a new folder, which appears once it is complete.
func Import(ctx context.Context, o Incoming) (x *Imported, err error) {
	given := o.Folder
	if given == "" {
		if given = strings.TrimSuffix(filepath.Base(o.File), ".zip"); given == filepath.Base(o.File) {
			return nil, fault.Input(fmt.Errorf("%s does not end in .zip: name the folder with --dir", o.File))
		}
	}
	folder, err := freeFolder(given)
	if err != nil {
		return nil, err
	}
	in, err := os.Open(o.File)
	if err != nil {
		return nil, fault.Input(err)
	}
	defer in.Close()
	r, err := openArchive(in, o.File, o.Most)
	if err != nil {
		return nil, err
	}
	over := o.Reading()
	err = r.Verify(ctx)
	over()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(folder), ".redsi-import-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp) // gone after the rename
	x = &Imported{Given: given, Folder: folder, Pipeline: r.Manifest.Pipeline, Files: len(r.Manifest.Files) + len(r.Manifest.Sources), Differs: []string{}, Damaged: []string{},
		LeftOut: append([]archive.LeftOut{}, r.Manifest.LeftOut...), Ignored: append([]string{}, r.Others...), Variables: []string{}}
	store, err := x.open(ctx, o, tmp)
	if err != nil {
		return nil, err
	}
	if !r.Signer.IsZero() {
		x.Signer = r.Signer.String()
	}
	x.Trusted = o.Ring.Of(r.Signer) == signature.Trusted
	if x.Believed, err = believed(ctx, r, o.Ring); err != nil {
		return nil, err
	}
	if err := x.admit(ctx, store.Own, o); err != nil {
		return nil, err
	}
	if err := x.takeResults(ctx, r, store.Own, o.Meter); err != nil {
		return nil, err
	}
	if err := r.WriteProject(ctx, tmp, store); err != nil {
		return nil, err
	}
	if err := x.writeVariables(tmp, r.Manifest); err != nil {
		return nil, err
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return nil, err
	}
	if err := os.Remove(folder); err != nil && !errors.Is(err, fs.ErrNotExist) { // it is empty
		return nil, err
	}
	return x, os.Rename(tmp, folder)
}

// open opens the named store, or the store of the new folder, which is written under a temporary name.
func (x *Imported) open(ctx context.Context, o Incoming, tmp string) (*artifacts.Resolver, error) {
	if o.Store != nil {
		store, err := o.Store(ctx)
		if err == nil {
			x.Store, x.Apart = store.Own.URL, true // the new folder is empty
		}
		return store, err
	}
	x.Store = filepath.Join(x.Folder, ownStore)
	store, err := dir.Open(filepath.Join(tmp, ownStore))
	return artifacts.Alone(store), err
}

// freeFolder returns the absolute path of a folder that does not exist or is empty.
func freeFolder(folder string) (string, error) {
	abs, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	have, err := os.ReadDir(abs)
	switch cwd, cerr := os.Getwd(); {
	case cerr == nil && cwd == abs:
		return "", fault.Input(errors.New("the archive's folder must be a new one: name it with --dir"))
	case errors.Is(err, fs.ErrNotExist):
		return abs, nil
	case err != nil:
		return "", fault.Input(err)
	case len(have) > 0:
		return "", fault.Input(fmt.Errorf("%s is not empty: name a new folder with --dir", folder))
	}
	return abs, nil
}

func openArchive(in *os.File, name string, most int64) (*archive.Reader, error) {
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fault.Input(fmt.Errorf("%s is not a file", name))
	}
	limits := archive.Usual(info.Size())
	if most > 0 {
		limits.Size = most
	}
	r, err := archive.NewReader(in, info.Size(), limits, name)
	if err != nil {
		return nil, fault.Input(err)
	}
	return r, nil
}

// writeVariables records the values of the pipeline's variables, as settings next to it.
func (x *Imported) writeVariables(folder string, m archive.Manifest) error {
	if len(m.Variables) == 0 {
		return nil
	}
	text, err := local.Variables(m.Variables)
	if err != nil {
		return fmt.Errorf("the archive's variables: %w", err)
	}
	x.Variables = slices.Sorted(maps.Keys(m.Variables))
	beside := filepath.FromSlash(m.Pipeline)
	if strings.HasSuffix(m.Pipeline, ".hcl") {
		beside = filepath.Dir(beside)
	}
	return atomicfile.WriteFile(filepath.Join(folder, beside, syntax.LocalFile), text, 0o644)
}
