package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/sharing/signers"
	"github.com/redsi/redsi/internal/sharing/transfer"
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
	return a.print(shownKey{p.String(), p.ID(), path}, nil, func(w io.Writer) {
		view.Printf(w, "%s\n  private half  %s\n", p, path)
		view.Printf(w, "  to trust what it signs, others add to their pipeline:\n    results {\n      trust = [%q]\n    }\n", p.String())
	})
}

func newKeyNewCmd(a *app) *cobra.Command {
	var name, out string
	cmd := &cobra.Command{
		Use:   "new",
		Short: "Make your key for signing results",
		Long: `The key is an Ed25519 key in a file that only its owner may read, at REDSI_SIGNING_KEY or else in
your configuration folder. From then on each result that a step makes here is signed. There is no
password: whoever can read the file can sign as you.`,
		Example: `  redsi key new --name alice
  REDSI_SIGNING_KEY=ci.key redsi key new --name ci@example.org`,
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
				return fault.Input(fmt.Errorf("%s already exists, and a lost key cannot be recreated: show it with `redsi key show`, or name another file with --out", path))
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
	if k != nil || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	path, _, err := session.SigningKey()
	if err != nil {
		return nil, fault.Input(fmt.Errorf("there is no signing key, and no configuration folder for one (%w): set REDSI_SIGNING_KEY to a file, and make a key with `redsi key new`", err))
	}
	return nil, fault.Input(fmt.Errorf("there is no signing key at %s: make one with `redsi key new`", path))
}

func newKeySignCmd(a *app) *cobra.Command {
	var all bool
	var resigned string
	cmd := &cobra.Command{
		Use:   "sign",
		Short: "Sign results of the store: those of tables, those that an older key signed, or all",
		Long: `A signature says that you vouch for a result: sign what you ran, or have run anew with verify
--rebuild. --target selects the results of a table, figure or step and of all that it needs. With
--resigned-from, only results are signed that another key signed, such as your previous key; its
signatures stay. Results that your key has signed already are skipped.`,
		Example: `  redsi key sign --target table.dedup_counts
  redsi key sign --all
  redsi key sign --all --resigned-from 'alice:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if all == (len(a.Targets) > 0) {
				return fault.Input(errors.New("say what to sign: --target TABLE, or --all"))
			}
			var old signature.Public
			if resigned != "" {
				var err error
				if old, err = signature.ParsePublic(resigned); err != nil {
					return fault.Input(fmt.Errorf("--resigned-from: %w", err))
				}
			}
			k, err := a.needSigner()
			if err != nil {
				return err
			}
			store, keys, err := a.resultKeys(cmd.Context())
			if err != nil {
				return err
			}
			damaged := func(key artifacts.Digest, why string) { a.Log.Warn("not signed: "+why, "key", key.Short()) }
			n, err := signers.Signing{By: k, After: old, Damaged: damaged}.Sign(cmd.Context(), store, keys)
			said := struct {
				Key string `json:"key"`
				signers.Signed
			}{k.Public().String(), n}
			return a.print(said, err, func(w io.Writer) { view.Signed(w, k.Public(), old, n) })
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "all results of the store")
	cmd.Flags().StringVar(&resigned, "resigned-from", "", "only results signed by this public `KEY`, NAME:BASE64")
	return with(cmd, a.pipelineFlags, a.targetFlag)
}

func newKeyListCmd(a *app) *cobra.Command {
	return with(&cobra.Command{
		Use:   "list",
		Short: "List who signed the results in the store, and whether the pipeline trusts them",
		Example: `  redsi key list
  redsi key list --target table.dedup_counts`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			if len(a.Targets) == 0 {
				if _, err := a.Load(ctx); err != nil { // its results block
					return err
				}
			}
			store, keys, err := a.resultKeys(ctx)
			if err != nil {
				return err
			}
			ring, err := a.Ring()
			if err != nil {
				return err
			}
			me, err := a.Signer()
			if err != nil {
				return err
			}
			list, err := signers.List(ctx, store.Own, keys, ring, me)
			return a.print(map[string]any{"results": len(keys), "keys": list}, err, func(w io.Writer) {
				view.Signers(w, list, len(keys), store.Own.URL)
			})
		},
	}, a.pipelineFlags, a.targetFlag)
}

// resultKeys opens the own store, and finds the keys of the results of the targets and of all that they need; without targets, all keys.
func (a *app) resultKeys(ctx context.Context) (*artifacts.Resolver, []artifacts.Digest, error) {
	store, err := a.OpenOwn(ctx)
	if err != nil {
		return nil, nil, err
	}
	keys, err := transfer.Keys(ctx, a.Session, store, false)
	return store, keys, err
}
