package cli

import (
	"io"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/compute"
	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/step"
)

// build is what this program is made of.
type build struct {
	Release  string `json:"release"`
	Revision string `json:"revision"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Server   string `json:"server"`   // the embedded server's program; "none" if missing
	Temporal string `json:"temporal"` // that the server was built of
	Models   string `json:"models"`   // the program that computes models; "none" if missing
	Libtorch string `json:"libtorch"` // that it is built against, if it is of this build
	Keys     string `json:"keys"`     // format of keys
}

func newVersionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print what this program is made of: release, commit, Go, the embedded server, and what computes models",
		Example: `  redsi version --json`,
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return a.printVersion() },
	}
}

func (a *app) printVersion() error {
	b := build{Release: revision.Release(), Revision: revision.Of(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Server: "none", Temporal: "none", Models: "none", Libtorch: revision.Libtorch, Keys: step.KeyFormat}
	if server, err := devserver.Find(); err == nil {
		b.Server, b.Temporal = server, devserver.Temporal(server)
	}
	models := compute.Find()
	if _, err := os.Stat(models); err == nil {
		b.Models = models
	}
	return a.print(b, func(w io.Writer) {
		view.Printf(w, "redsi     %s, commit %s\nGo        %s, %s\n", b.Release, b.Revision, b.Go, b.Platform)
		view.Printf(w, "server    %s, Temporal %s\nmodels    %s, for libtorch %s\nkeys      %s\n", b.Server, b.Temporal, b.Models, b.Libtorch, b.Keys)
	})
}
