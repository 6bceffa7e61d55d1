package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os/user"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/signature"
	"github.com/redsi/redsi/internal/view"
)

func newKeyCmd(a *app) *cobra.Command {
	cmd := group("key", "Make a key that signs results, show it, sign with it, and see who signed what")
	cmd.AddCommand(newKeyNewCmd(a), newKeyShowCmd(a), newKeySignCmd(a), newKeyListCmd(a))
	return cmd
}

// shownKey is this person's key as key new and key show tell it. The private half is told
// by nobody.
type shownKey struct {
	Public string `json:"public"`
	ID     string `json:"id"`
	Path   string `json:"path"`
}

func (a *app) printKey(k *signature.Private, path string) error {
	p := k.Public()
	if a.JSON {
		return view.WriteJSON(a.Out, shownKey{p.String(), p.ID(), path})
	}
	view.Printf(a.Out, "%s\n", p)
	view.Printf(a.Out, "  private half  %s\n", path)
	view.Printf(a.Out, "  who is to believe what it signs writes into the pipeline:\n    results {\n      trust = [%q]\n    }\n", p.String())
	return nil
}

func newKeyNewCmd(a *app) *cobra.Command {
	var name, out string
	cmd := &cobra.Command{
		Use:   "new",
		Short: "Make the key by which this person signs results",
		Long: `Make the key by which this person signs results: an Ed25519 key in a file that only
its owner may read, where REDSI_SIGNING_KEY says or else in the user's folder of settings.
From then on each result that a step leaves here is signed. There is no password: who can
read the file signs as you.`,
		Example: `  redsi key new --name alice
  REDSI_SIGNING_KEY=ci.key redsi key new --name ci@example.org`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			path, _, err := signingKey()
			if path = cmp.Or(out, path); out == "" && err != nil {
				return inputError(fmt.Errorf("there is no folder of settings (%w): name a file with --out", err))
			}
			k, err := signature.New(cmp.Or(name, userName()))
			if err != nil {
				return inputError(fmt.Errorf("--name: %w", err))
			}
			if path, err = filepath.Abs(path); err != nil {
				return err
			}
			err = k.Write(path)
			if errors.Is(err, fs.ErrExist) {
				return inputError(fmt.Errorf("%s is there already, and a key that is lost cannot be made again: `redsi key show` shows it, --out names another file", path))
			}
			if err != nil {
				return err
			}
			return a.printKey(k, path)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "what the key is called, for people (default: the user's name)")
	cmd.Flags().StringVar(&out, "out", "", "new `FILE` for it; name it in REDSI_SIGNING_KEY to sign with it")
	return cmd
}

var notInName = regexp.MustCompile(`[^A-Za-z0-9._@+-]+`)

// userName is the user's name as far as a key may have it.
func userName() string {
	u, err := user.Current()
	if err != nil {
		return "me"
	}
	_, name := filepath.Split(filepath.ToSlash(u.Username))
	return cmp.Or(regexp.MustCompile(`^[^A-Za-z0-9]+`).ReplaceAllString(notInName.ReplaceAllString(name, ""), ""), "me")
}

func newKeyShowCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "show",
		Short:   "Print the public half of this person's key, which others trust",
		Example: `  redsi key show`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			k, err := a.needSigner()
			if err != nil {
				return err
			}
			path, _, err := signingKey()
			if err != nil {
				return err
			}
			return a.printKey(k, path)
		},
	}
}

// needSigner is this person's key; an error if they have none.
func (a *app) needSigner() (*signature.Private, error) {
	k, err := a.signer()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if k == nil {
		path, _, err := signingKey()
		if err != nil {
			return nil, inputError(fmt.Errorf("there is no key to sign with, and no folder of settings for one: name a file in REDSI_SIGNING_KEY (%w)", err))
		}
		return nil, inputError(fmt.Errorf("there is no key to sign with at %s: `redsi key new` makes one", path))
	}
	return k, nil
}
