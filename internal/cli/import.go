package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/artifacts/dir"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/session/fault"
	"github.com/redsi/redsi/internal/sharing/archive"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/signature"
)

// importOptions say what is read, where it goes, and whose keys are trusted.
type importOptions struct {
	dir, most, untrusted string
	trust                []string
}

// imported is the outcome of an import.
type imported struct {
	Folder    string            `json:"folder"`
	Store     string            `json:"store"`
	Pipeline  string            `json:"pipeline"` // what -f is given in the folder
	Files     int               `json:"files"`
	Results   int               `json:"results"`
	There     int               `json:"there"` // results that the store had
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

	given string // the folder as the person named it
	apart bool   // the results are in a store elsewhere
}

func newImportCmd(a *app) *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{
		Use:   "import FILE.zip",
		Short: "Read an archive written by redsi export --archive: pipeline and results, verified, without network",
		Long: `Reads an archive written by redsi export --archive: the pipeline into a new folder, and its
results into the store of that folder. Nothing runs, and no network is used. In that folder,
plan, verify and report then give the same output as where the archive was made.

An archive is not trusted. Its names, links and sizes are checked before anything is
written; files are verified by their SHA-256 and results by their seals. The folder appears
once it is complete, and contains only what came from the archive, so it does not matter who
signed that. Its pipeline is code: read it before you plan or run it.
With --store the results go into that store instead. If it has results already, the archive's
could be taken for yours, so the archive, or each result, must be signed by your own key or
one given with --trust; --untrusted use accepts them unsigned.`,
		Example: `  redsi import paper.zip
  redsi import paper.zip --dir their-paper --trust alice:uyk2NrRFxtvaD6OAknF6Df5l3xlYwSLHLoYBkRsQHVo=
  redsi import paper.zip --store /data/store --untrusted use`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			x, err := a.importArchive(cmd.Context(), args[0], o)
			if err != nil {
				return err
			}
			return a.sayImported(x)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.dir, "dir", "", "folder to make (default: the file's name without .zip)")
	f.StringVar(&o.most, "max-size", "", "largest unpacked size to accept (default: a hundred times the archive's size, plus 1 GiB)")
	f.StringArrayVar(&o.trust, "trust", nil, "trust this public `KEY`; may be repeated")
	f.StringVar(&o.untrusted, "untrusted", "", "use: accept results that no trusted key signed into a store that has other results")
	return cmd
}

func (a *app) importArchive(ctx context.Context, file string, o importOptions) (x *imported, err error) {
	ring, err := a.importRing(o)
	if err != nil {
		return nil, err
	}
	folder := o.dir
	if folder == "" {
		if folder = strings.TrimSuffix(filepath.Base(file), ".zip"); folder == filepath.Base(file) {
			return nil, fault.Input(fmt.Errorf("%s does not end in .zip: name the folder with --dir", file))
		}
	}
	given := folder
	if folder, err = freeFolder(folder); err != nil {
		return nil, err
	}
	in, err := os.Open(file)
	if err != nil {
		return nil, fault.Input(err)
	}
	defer in.Close()
	r, err := openArchive(in, file, o.most)
	if err != nil {
		return nil, err
	}
	over := a.waiting("reading the archive")
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
	store, shown, err := a.importStore(ctx, tmp, folder)
	if err != nil {
		return nil, err
	}
	x = &imported{given: given, Folder: folder, Store: shown, Pipeline: r.Manifest.Pipeline, Files: len(r.Manifest.Files) + len(r.Manifest.Sources), Differs: []string{}, Damaged: []string{},
		LeftOut: append([]archive.LeftOut{}, r.Manifest.LeftOut...), Ignored: append([]string{}, r.Others...), Variables: []string{}}
	if !r.Signer.IsZero() {
		x.Signer = r.Signer.String()
	}
	x.apart = shown != filepath.Join(folder, ownStore)
	x.Trusted = ring.Of(r.Signer) == signature.Trusted
	if x.Believed, err = believed(ctx, r, ring); err != nil {
		return nil, err
	}
	if err := a.admit(ctx, x, store, o); err != nil {
		return nil, err
	}
	if err := a.takeResults(ctx, x, r, store); err != nil {
		return nil, err
	}
	if err := r.WriteProject(ctx, tmp, store.Blobs); err != nil {
		return nil, err
	}
	if err := writeVariables(x, tmp, r.Manifest); err != nil {
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

// importRing is the keys that the person trusts: their own, and those that they name. What an
// archive says does not matter.
func (a *app) importRing(o importOptions) (ring signature.Ring, err error) {
	if o.untrusted != "" && o.untrusted != string(artifacts.UseUntrusted) {
		return ring, fault.Input(fmt.Errorf("--untrusted %s: want use; without it, such results are not accepted", o.untrusted))
	}
	if ring.Trusted, err = parseTrust(o.trust); err != nil {
		return ring, err
	}
	own, err := a.signer()
	if err == nil && own != nil {
		ring.Trusted = append(ring.Trusted, own.Public())
	}
	return ring, err
}

// freeFolder is the absolute path of a folder that does not exist or is empty.
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

func openArchive(in *os.File, name, most string) (*archive.Reader, error) {
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fault.Input(fmt.Errorf("%s is not a file", name))
	}
	limits := archive.Usual(info.Size())
	if most != "" {
		if limits.Size, err = sizeOf("--max-size", most, "300GB"); err != nil {
			return nil, err
		}
	}
	r, err := archive.NewReader(in, info.Size(), limits, name)
	if err != nil {
		return nil, fault.Input(err)
	}
	return r, nil
}

// ownStore is the store's path in the new folder.
var ownStore = filepath.Join(".redsi", "store")

// importStore is the named store, or that of the new folder.
func (a *app) importStore(ctx context.Context, tmp, folder string) (store artifacts.Store, shown string, err error) {
	flags := a.cmd.Flags()
	if flags.Changed("store") || flags.Changed("state") || os.Getenv("REDSI_STORE") != "" || os.Getenv("REDSI_STATE") != "" || a.local.flags["store"] || a.local.flags["state"] {
		store, err = a.openOwn(ctx)
		return store, store.URL, err
	}
	store, err = dir.Open(filepath.Join(tmp, ownStore))
	return store, filepath.Join(folder, ownStore), err
}

// believed reports whether keys of the ring signed all results.
func believed(ctx context.Context, r *archive.Reader, ring signature.Ring) (bool, error) {
	store := r.Store()
	keys, err := artifacts.ResultKeys(ctx, store)
	if err != nil {
		return false, err
	}
	for _, key := range keys {
		all, err := artifacts.Signatures(ctx, store, key)
		if err != nil {
			return false, err
		}
		if !slices.ContainsFunc(all, func(s artifacts.Signed) bool { return s.Err == nil && ring.Of(s.By) == signature.Trusted }) {
			return false, nil
		}
	}
	return len(keys) > 0, nil
}

// admit refuses to mix what no trusted key signed with results of other origin.
func (a *app) admit(ctx context.Context, x *imported, store artifacts.Store, o importOptions) error {
	if x.Trusted || x.Believed || o.untrusted != "" {
		return nil
	}
	for _, err := range store.Records.List(ctx, "results/") {
		if err != nil {
			return err
		}
		who := "not signed"
		if x.Signer != "" {
			who = "signed by " + x.Signer + ", whose key you do not trust"
		}
		return fault.Input(fmt.Errorf("%s has results, and this archive is %s: leave out --store, so that it gets a store of its own, name a trusted key with --trust KEY, or accept it with --untrusted use", store.URL, who))
	}
	return nil
}

// takeResults copies results, blobs first, and pins them: no run of this store names them.
func (a *app) takeResults(ctx context.Context, x *imported, r *archive.Reader, store artifacts.Store) error {
	from := r.Store()
	keys, err := artifacts.ResultKeys(ctx, from)
	if err != nil {
		return err
	}
	t := &artifacts.Transfer{From: from, To: store}
	name := "archive-" + r.Manifest.Records.Digest.Hex()[:16]
	release, err := t.Hold(ctx, name)
	if err != nil {
		return err
	}
	m := a.newMeter("imported", r.Manifest.Bytes)
	t.Sent = m.add
	err = t.Results(ctx, keys)
	m.close()
	if err != nil {
		return err
	}
	done := t.Done()
	x.Results, x.There, x.Blobs, x.Bytes = done.Results, done.There, done.Blobs, done.Bytes
	for _, d := range done.Differs {
		x.Differs = append(x.Differs, d.String())
	}
	if len(r.Manifest.LeftOut) == 0 {
		for d, why := range done.Lost {
			x.Damaged = append(x.Damaged, d.String()+": "+why)
		}
		slices.Sort(x.Damaged)
	}
	if err := pinResults(ctx, store, name, keys, done.Lost); err != nil {
		return err
	}
	return release()
}

// pinResults keeps results from garbage collection until the record is deleted.
func pinResults(ctx context.Context, store artifacts.Store, name string, keys []artifacts.Digest, lost map[artifacts.Digest]string) error {
	var list struct {
		Results []artifacts.Digest `json:"results"`
	}
	for _, key := range keys {
		if _, gone := lost[key]; !gone {
			list.Results = append(list.Results, key)
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	body, err := artifacts.PutBytes(ctx, store.Blobs, text)
	if err != nil {
		return err
	}
	pin, err := json.Marshal(map[string]any{"format": "redsi-archive-pin/1", "results": len(list.Results), "body": body})
	if err != nil {
		return err
	}
	return store.Records.Put(ctx, "pins/"+name, pin)
}

// writeVariables records the values of the pipeline's variables, as settings next to it.
func writeVariables(x *imported, folder string, m archive.Manifest) error {
	if len(m.Variables) == 0 {
		return nil
	}
	text, err := pipeline.LocalVariables(m.Variables)
	if err != nil {
		return fmt.Errorf("the archive's variables: %w", err)
	}
	for name := range m.Variables {
		x.Variables = append(x.Variables, name)
	}
	slices.Sort(x.Variables)
	beside := filepath.FromSlash(m.Pipeline)
	if strings.HasSuffix(m.Pipeline, ".hcl") {
		beside = filepath.Dir(beside)
	}
	return atomicfile.WriteFile(filepath.Join(folder, beside, pipeline.LocalFile), text, 0o644)
}
