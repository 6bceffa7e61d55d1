package tracked

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Data is what DVC has recorded of a path.
type Data struct {
	Path   string // absolute; nothing need be there
	Record string // the file of the record: NAME.dvc, or dvc.lock

	out
	below   string            // the path within the recorded folder, with slashes; "": all of it
	root    string            // the folder that has .dvc; "": none
	objects map[string]string // md5 of each file by its absolute path, once they are listed

	cache   string // folder in which DVC keeps bytes
	address string // of the remote, for people
	remote  func(ctx context.Context, name string) (io.ReadCloser, error)
}

// out is an output in a record, as DVC writes it.
type out struct {
	Name   string `yaml:"path"`
	MD5    string `yaml:"md5"`  // of the bytes, in hex; for a folder, of its list, with .dir
	Hash   string `yaml:"hash"` // md5; "" by DVC before version 3, which took line ends of texts as \n
	Size   int64  `yaml:"size"` // in bytes, of all files; 0: not known
	Files  int    `yaml:"nfiles"`
	Exec   bool   `yaml:"isexec"`
	Remote string `yaml:"remote"`
}

// form is the form of DVC's MD5s, of which names of files are built.
var form = regexp.MustCompile(`^[0-9a-f]{32}(\.dir)?$`)

// Records has the outputs in DVC's files that were read, by absolute paths; none for a missing file.
type Records map[string]map[string]out

// Of returns what DVC has recorded of a path, or of a folder that it is in: in NAME.dvc beside that, or in the dvc.lock
// of a folder around it, up to the folder with .dvc. It is nil if nothing is recorded.
func Of(path string) (*Data, error) { return Records{}.Of(path) }

// Of is the function Of; each file is read once for all paths.
func (r Records) Of(path string) (*Data, error) {
	at, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	d := &Data{Path: at}
	var within, records []string
	for in := at; d.root == "" && in != filepath.Dir(in); in = filepath.Dir(in) {
		above := filepath.Dir(in)
		if _, err := os.Stat(filepath.Join(above, ".dvc")); err == nil {
			d.root = above
		}
		within, records = append(within, in), append(records, in+".dvc", filepath.Join(above, "dvc.lock"))
	}
	for _, in := range within {
		d.below = filepath.ToSlash(strings.TrimPrefix(at[len(in):], string(filepath.Separator)))
		for _, record := range records {
			if err := r.read(record); err != nil {
				return nil, fmt.Errorf("%s: %w", record, err)
			}
			if d.Record, d.out = record, r[record][in]; d.isFolder() || d.MD5 != "" && d.below == "" {
				return d, nil
			}
		}
	}
	return nil, nil
}

func (o out) isFolder() bool { return strings.HasSuffix(o.MD5, ".dir") }

func (r Records) read(record string) error {
	if r[record] != nil {
		return nil
	}
	r[record] = map[string]out{}
	var has struct {
		WDir   string
		Outs   []out
		Stages map[string]struct{ Outs []out }
	}
	var yours struct { // dvc.yaml, the only file that says where stages work
		Stages map[string]struct {
			WDir string
			Do   struct{ WDir string }
		}
	}
	err := decode(record, &has)
	if err == nil && len(has.Stages) > 0 {
		err = decode(filepath.Join(filepath.Dir(record), "dvc.yaml"), &yours)
	}
	tell := func(wdir string, outs []out) {
		for _, o := range outs {
			if form.MatchString(o.MD5) && (o.Hash == "" || o.Hash == "md5") {
				r[record][filepath.Join(filepath.Dir(record), filepath.FromSlash(wdir), filepath.FromSlash(o.Name))] = o
			}
		}
	}
	tell(has.WDir, has.Outs)
	for name, s := range has.Stages {
		name, _, _ = strings.Cut(name, "@")
		tell(path.Join(yours.Stages[name].WDir, yours.Stages[name].Do.WDir), s.Outs)
	}
	return err
}

func decode(file string, to any) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = yaml.Unmarshal(text, to)
	}
	return err
}

// IsFolder reports whether the path is a folder's; within a recorded folder its name decides.
func (d *Data) IsFolder() bool { return d.isFolder() && path.Ext(d.below) == "" }

// Key identifies the recorded names and bytes. It begins with Mark.
func (d *Data) Key() string {
	hash, name := Mark, d.below
	if d.Hash == "" {
		hash += "-dos2unix" // as DVC calls it
	}
	if !d.isFolder() {
		name = filepath.Base(d.Path)
	}
	if d.Exec {
		name += "*"
	}
	return hash + ":" + path.Join(d.MD5, name)
}

// Mark begins each Key, and no digest in hex.
const Mark = "md5"
