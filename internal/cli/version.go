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

// build is what a program is made of. What the files of the others do not tell is "".
type build struct {
	Release       string `json:"release"`
	Revision      string `json:"revision"`
	Go            string `json:"go"`
	Platform      string `json:"platform"`
	Server        string `json:"server"` // the embedded server's program; "none" if missing
	Temporal      string `json:"temporal,omitempty"`
	Models        string `json:"models"` // the program that computes models; "none" if missing
	ModelsRelease string `json:"models_release,omitempty"`
	Libtorch      string `json:"libtorch,omitempty"`
	Keys          string `json:"keys"` // format of keys
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
		Server: "none", Models: "none", Keys: step.KeyFormat}
	if server, err := devserver.Find(); err == nil {
		b.Server, b.Temporal = server, devserver.Temporal(server)
	}
	if models := compute.Find(); exists(models) {
		b.Models = models
		b.ModelsRelease, b.Libtorch = compute.About(models)
	}
	return a.print(b, func(w io.Writer) {
		view.Printf(w, "redsi     %s, commit %s\nGo        %s, %s\n", b.Release, b.Revision, b.Go, b.Platform)
		view.Printf(w, "server    %s%s\n", b.Server, after(", Temporal ", b.Temporal))
		view.Printf(w, "models    %s%s%s\nkeys      %s\n", b.Models, after(", ", b.ModelsRelease), after(", libtorch ", b.Libtorch), b.Keys)
	})
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// after is a text behind what introduces it, if there is one.
func after(intro, text string) string {
	if text == "" {
		return ""
	}
	return intro + text
}
