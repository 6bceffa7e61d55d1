package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/sharing/signers"
	"github.com/redsi/redsi/internal/sharing/transfer"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/signature"
)

func newKeySignCmd(a *app) *cobra.Command {
	var all bool
	var resigned string
	cmd := &cobra.Command{
		Use:   "sign",
		Short: "Sign results of the store: those of tables, those that an older key signed, or all",
		Long: `Sign results of the store: those of tables, those that an older key signed, or all.

A signature says that you vouch for a result: sign what you ran, or have run again with
verify --rebuild. --target selects the results of a table, figure or step and of all that
it needs. With --resigned-from, only those are signed that another key signed, such as your
previous key; its signatures stay. Results that your key has signed already are skipped.`,
		Example: `  redsi key sign --target table.dedup_counts
  redsi key sign --all
  redsi key sign --all --resigned-from 'alice:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='`,
		Args: cobra.NoArgs,
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
			return a.sign(cmd.Context(), old)
		},
	}
	a.pipelineFlags(cmd)
	a.targetFlag(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "all results of the store")
	cmd.Flags().StringVar(&resigned, "resigned-from", "", "only results signed by this public `KEY`, NAME:BASE64")
	return cmd
}

func (a *app) sign(ctx context.Context, old signature.Public) error {
	k, err := a.needSigner()
	if err != nil {
		return err
	}
	store, err := a.OpenOwn(ctx)
	if err != nil {
		return err
	}
	keys, err := transfer.Keys(ctx, a.Session, store, false)
	if err != nil {
		return err
	}
	n, err := signers.Signing{By: k, After: old, Damaged: func(key artifacts.Digest, why string) { a.Log.Warn("not signed: "+why, "key", key.Short()) }}.Sign(ctx, store, keys)
	if err != nil {
		return err
	}
	said := struct {
		Key string `json:"key"`
		signers.Signed
	}{k.Public().String(), n}
	return a.print(said, func(w io.Writer) { view.Signed(w, k.Public(), old, n) })
}

func newKeyListCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List who signed the results in the store, and whether the pipeline trusts them",
		Example: `  redsi key list
  redsi key list --target table.dedup_counts`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listKeys(cmd.Context()) },
	}
	a.pipelineFlags(cmd)
	a.targetFlag(cmd)
	return cmd
}

func (a *app) listKeys(ctx context.Context) error {
	store, err := a.OpenOwn(ctx)
	if err != nil {
		return err
	}
	if len(a.Targets) == 0 {
		if _, err := a.Load(ctx); err != nil { // its results block
			return err
		}
	}
	keys, err := transfer.Keys(ctx, a.Session, store, false)
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
	list, err := signers.List(ctx, store, keys, ring, me)
	if err != nil {
		return err
	}
	return a.print(map[string]any{"results": len(keys), "keys": list}, func(w io.Writer) { view.Signers(w, list, len(keys), store.URL) })
}
