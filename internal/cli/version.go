package cli

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/view"
	"github.com/redsi/redsi/step"
)

// build is what a program was built from.
type build struct {
	Revision string `json:"revision"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Libtorch string `json:"libtorch"` // "none" if it is not linked
	Keys     string `json:"keys"`     // format of keys
}

func newVersionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print what this program was built from: revision, Go, libtorch",
		Example: `  redsi version --json`,
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return a.printVersion() },
	}
}

func (a *app) printVersion() error {
	b := build{revision(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, libtorch(), step.KeyFormat}
	if a.JSON {
		return view.WriteJSON(a.Out, b)
	}
	view.Printf(a.Out, "redsi     %s\nGo        %s, %s\nlibtorch  %s\nkeys      %s\n", b.Revision, b.Go, b.Platform, b.Libtorch, b.Keys)
	return nil
}
