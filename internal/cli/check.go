package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

func newCheckCmd(a *app) *cobra.Command {
	var markdown string
	var all bool
	var tex *texOptions
	cmd := &cobra.Command{
		Use:   "check FILE.tex...",
		Short: "Compare a paper with the results: numbers typed by hand, cells that are not there or have changed",
		Long:  checkTexHelp,
		Example: `  redsi check paper.tex
  redsi check paper.tex --since main
  redsi check paper.tex --markdown -
  redsi check paper.tex --json | jq '.typed[] | [.place.line, .text, .candidates[0].write]'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !isTex(args) {
				return inputError(errors.New("check takes the LaTeX files of a paper: redsi check paper.tex"))
			}
			tex.Markdown, tex.Each = markdown, all
			return a.checkTex(cmd.Context(), args, *tex)
		},
	}
	a.pipelineFlags(cmd)
	a.targetFlag(cmd)
	f := cmd.Flags()
	f.StringVar(&markdown, "markdown", "", "also write Markdown to this `FILE`; - is standard output")
	f.BoolVarP(&all, "verbose", "v", false, "list every number")
	tex = texFlags(cmd)
	return cmd
}
