package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/sharing/pack"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/signature"
)

// importOptions say where an archive goes, and whose keys are trusted.
type importOptions struct {
	dir, untrusted string
	most           size
	trust          []string
}

func newImportCmd(a *app) *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{
		Use:   "import FILE.zip",
		Short: "Read an archive written by redsi export --archive: pipeline and results, verified, without network",
		Long: `The pipeline goes into a new folder, and its results into the store of that folder. Nothing runs,
and no network is used. In that folder, plan, verify and report then give the same output as where
the archive was made.

An archive is not trusted. Its names, links and sizes are checked before anything is written; files
are verified by their SHA-256 and results by their seals. The folder appears once it is complete,
and contains only what came from the archive, so it does not matter who signed that. Its pipeline is
code: read it before you plan or run it. With --store the results go into that store instead. If it
has results already, the archive's could be taken for yours, so the archive, or each result, must be
signed by your own key or one given with --trust; --untrusted use accepts them unsigned.`,
		Example: `  redsi import paper.zip
  redsi import paper.zip --dir their-paper --trust alice:uyk2NrRFxtvaD6OAknF6Df5l3xlYwSLHLoYBkRsQHVo=
  redsi import paper.zip --store /data/store --untrusted use`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ring, err := a.importRing(o)
			if err != nil {
				return err
			}
			in := pack.Incoming{File: args[0], Folder: o.dir, Most: o.most.n, Ring: ring, Unsigned: o.untrusted != "",
				Reading: func() func() { return a.Waiting("reading the archive") },
				Meter:   func(total int64) (func(int64), func()) { return a.Copying("imported", total) }}
			if a.namesStore() {
				in.Store = a.OpenOwn
			}
			x, err := pack.Import(cmd.Context(), in)
			if err != nil {
				return err
			}
			var failed error
			if n := len(x.Damaged); n > 0 {
				failed = fault.Failed(fmt.Errorf("%s of the archive cannot be used, such as %s", view.Count(n, "result"), x.Damaged[0]))
			}
			return errors.Join(a.print(x, func(w io.Writer) { view.Imported(w, x, a.hint) }), failed)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.dir, "dir", "", "folder to make (default: the file's name without .zip)")
	o.most.flag(f, "max-size", "300GB", "largest unpacked size to accept (default: a hundred times the archive's size, plus 1 GiB)")
	f.StringArrayVar(&o.trust, "trust", nil, "trust this public `KEY`; may be repeated")
	f.StringVar(&o.untrusted, "untrusted", "", "use: accept results that no trusted key signed into a store that has other results")
	return cmd
}

// importRing is the keys that the person trusts: their own, and those that they name. What an
// archive says does not matter.
func (a *app) importRing(o importOptions) (ring signature.Ring, err error) {
	if o.untrusted != "" && o.untrusted != string(artifacts.UseUntrusted) {
		return ring, fault.Input(fmt.Errorf("--untrusted %s: want use; without it, such results are not accepted", o.untrusted))
	}
	if ring.Trusted, err = session.ParseTrust(o.trust); err != nil {
		return ring, err
	}
	own, err := a.Signer()
	if err == nil && own != nil {
		ring.Trusted = append(ring.Trusted, own.Public())
	}
	return ring, err
}

// namesStore reports whether a store was named, by itself or as that of a state folder.
func (a *app) namesStore() bool {
	return !a.unset("store", "REDSI_STORE") || !a.unset("state", "REDSI_STATE") || a.Local.Flags["store"] || a.Local.Flags["state"]
}
