package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/signature"
)

func newKeyCmd(a *app) *cobra.Command {
	cmd := group("key", "Make and show a signing key, sign results, and list who signed what")
	cmd.AddCommand(newKeyNewCmd(a), newKeyShowCmd(a), newKeySignCmd(a), newKeyListCmd(a))
	return cmd
}

// shownKey is the user's key as key new and key show print it, never with the private half.
type shownKey struct {
	Public string `json:"public"`
	ID     string `json:"id"`
	Path   string `json:"path"`
}

func (a *app) printKey(k *signature.Private, path string) error {
	p := k.Public()
	return a.print(shownKey{p.String(), p.ID(), path}, func(w io.Writer) {
		view.Printf(w, "%s\n  private half  %s\n", p, path)
		view.Printf(w, "  to trust what it signs, others add to their pipeline:\n    results {\n      trust = [%q]\n    }\n", p.String())
	})
}

func newKeyNewCmd(a *app) *cobra.Command {
	var name, out string
	cmd := &cobra.Command{
		Use:   "new",
		Short: "Make your key for signing results",
		Long: `Make your key for signing results: an Ed25519 key in a file that only its owner may read,
at REDSI_SIGNING_KEY or else in your configuration folder. From then on each result that a
step makes here is signed. There is no password: whoever can read the file can sign as
you.`,
		Example: `  redsi key new --name alice
  REDSI_SIGNING_KEY=ci.key redsi key new --name ci@example.org`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			path, _, err := session.SigningKey()
			if path = cmp.Or(out, path); out == "" && err != nil {
				return fault.Input(fmt.Errorf("there is no configuration folder (%w): name a file with --out", err))
			}
			k, err := signature.New(cmp.Or(name, signature.UserName()))
			if err != nil {
				return fault.Input(fmt.Errorf("--name: %w", err))
			}
			if path, err = filepath.Abs(path); err != nil {
				return err
			}
			err = k.Write(path)
			if errors.Is(err, fs.ErrExist) {
				return fault.Input(fmt.Errorf("%s already exists, and a lost key cannot be made again: show it with `redsi key show`, or name another file with --out", path))
			}
			if err != nil {
				return err
			}
			return a.printKey(k, path)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the key, for people (default: your user name)")
	cmd.Flags().StringVar(&out, "out", "", "new `FILE` for the key; set REDSI_SIGNING_KEY to it to sign with it")
	return cmd
}

func newKeyShowCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "show",
		Short:   "Print the public half of your key, for others to trust",
		Example: `  redsi key show`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			k, err := a.needSigner()
			if err != nil {
				return err
			}
			path, _, err := session.SigningKey()
			if err != nil {
				return err
			}
			return a.printKey(k, path)
		},
	}
}

// needSigner is the user's key; an error if there is none.
func (a *app) needSigner() (*signature.Private, error) {
	k, err := a.Signer()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if k == nil {
		path, _, err := session.SigningKey()
		if err != nil {
			return nil, fault.Input(fmt.Errorf("there is no signing key, and no configuration folder for one: set REDSI_SIGNING_KEY to a file (%w)", err))
		}
		return nil, fault.Input(fmt.Errorf("there is no signing key at %s: make one with `redsi key new`", path))
	}
	return k, nil
}
