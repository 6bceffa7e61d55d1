package cli

import (
	"io"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/compute"
	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/step"
)

// build is what a program was built from.
type build struct {
	Revision string `json:"revision"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Models   string `json:"models"` // the program that computes models; "none" if missing
	Keys     string `json:"keys"`   // format of keys
}

func newVersionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print what this program was built from: revision, Go, and what computes models",
		Example: `  redsi version --json`,
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return a.printVersion() },
	}
}

func (a *app) printVersion() error {
	models := compute.Find()
	if _, err := os.Stat(models); err != nil {
		models = "none"
	}
	b := build{revision.Of(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, models, step.KeyFormat}
	return a.print(b, func(w io.Writer) {
		view.Printf(w, "redsi     %s\nGo        %s, %s\nmodels    %s\nkeys      %s\n", b.Revision, b.Go, b.Platform, b.Models, b.Keys)
	})
}
