package cli

import (
	"cmp"
	"context"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/mitchellh/go-wordwrap"
	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/host/isolation"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/step"
)

// Help lists verbs in the order in which they are used.
func init() {
	cobra.EnableCommandSorting = false
	cobra.AddTemplateFunc("about", about)
}

// about is what help says of a command before its usage: Short and Long, wrapped to the terminal, except indented paragraphs.
func about(cmd *cobra.Command) string {
	paragraphs := strings.Split(strings.TrimSuffix(cmd.Short+".\n\n"+cmd.Long, "\n\n"), "\n\n")
	for i, p := range paragraphs {
		if !strings.Contains("\n"+p, "\n ") {
			paragraphs[i] = wordwrap.WrapString(strings.ReplaceAll(p, "\n", " "), uint(min(cmp.Or(terminal(cmd.OutOrStdout()), 100), 100)))
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// Main runs this process's command line with a registry of kinds and the paper that redsi init can write. It returns the exit code.
func Main(kinds *step.Registry, paper Paper) int {
	isolation.Helper() // if this process is one
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return execute(ctx, kinds, os.Args[1:], os.Stdout, os.Stderr, paper)
}

func execute(ctx context.Context, kinds *step.Registry, args []string, out, errw io.Writer, paper Paper) int {
	a := newApp(&session.Session{Registry: kinds}, out, errw)
	a.paper = paper
	a.Delays = drive.UsualDelays(terminal(a.Err) > 0)
	root := newRoot(a)
	args = followShort(args)
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(a.Err)
	cmd, err := root.ExecuteContextC(ctx)
	a.Close()
	if err == nil {
		return fault.CodeOK
	}
	code, marked := fault.Code(err)
	if _, _, unknown := root.Find(args); !marked && unknown != nil {
		code, err = fault.CodeInput, misused(cmd, err)
	}
	if !fault.Silent(err) {
		view.Println(a.Err, "redsi:", err)
	}
	return code
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "redsi",
		Short:         "Declare a paper's pipeline in HCL, rebuild its tables and figures, and never run the same step twice",
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Name() == cobra.ShellCompRequestCmd || cmd.Name() == cobra.ShellCompNoDescRequestCmd {
				return nil // the verb being completed is set up with its own flags
			}
			return a.setup(cmd)
		},
	}
	version := root.Flags().Bool("version", false, "print what this program is made of")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if *version {
			return a.printVersion()
		}
		return cmd.Help()
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if args := cmd.Flags().Args(); len(args) > 0 && cmd.HasParent() && cmd.HasSubCommands() { // a flag of a command that there is not
			return cmd.RunE(cmd, args)
		}
		return fault.Input(misused(cmd, err))
	})
	root.SetHelpTemplate("{{about .}}\n\n{{if or .Runnable .HasSubCommands}}{{.UsageString}}{{end}}")
	a.globalFlags(root)
	for _, g := range []struct {
		title string
		verbs []*cobra.Command
	}{
		{"Write a pipeline", []*cobra.Command{newInitCmd(a), newValidateCmd(a), newFmtCmd(a), newKindsCmd(a), newConsoleCmd(a), newGraphCmd(a), newTestCmd(a), newLSPCmd(a)}},
		{"Run it", []*cobra.Command{newPlanCmd(a), newRunCmd(a), newApplyCmd(a), newStatusCmd(a), newAttachCmd(a), newCancelCmd(a), newWhyCmd(a), newForceCmd(a), newAcceptCmd(a)}},
		{"Look at results", []*cobra.Command{newReportCmd(a), newCheckCmd(a), newTraceCmd(a), newDiffCmd(a), newSameCmd(a), newArtifactsCmd(a), newLogsCmd(a), newShellCmd(a), newEnvCmd(a), newSearchCmd(a), newExportCmd(a), newImportCmd(a)}},
		{"Keep the store", []*cobra.Command{newPushCmd(a), newPullCmd(a), newVerifyCmd(a), newGCCmd(a), newKeepCmd(a), newDuCmd(a), newSourcesCmd(a), newPublishCmd(a), newKeyCmd(a)}},
		{"Serve, and work for a cluster", []*cobra.Command{newServeCmd(a), newDevCmd(a), newWorkerCmd(a)}},
		{"This program", []*cobra.Command{newDoctorCmd(a), newVersionCmd(a), newCompletionCmd(a)}},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, verb := range g.verbs {
			verb.GroupID = g.title
		}
		root.AddCommand(g.verbs...)
	}
	for _, verb := range root.Commands() {
		verb.SuggestFor = otherWords[verb.Name()]
	}
	root.SetHelpCommandGroupID("This program")
	root.CompletionOptions.DisableDefaultCmd = true // we have our own
	a.complete(root)
	checkArgs(root)
	return root
}

// otherWords are other tools' words for redsi's verbs.
var otherWords = map[string][]string{
	"run": {"repro", "exp", "experiments", "build", "make", "execute"}, "plan": {"dry-run", "dryrun"}, "graph": {"dag"}, "report": {"metrics", "plots"}, "trace": {"metrics"},
	"diff": {"params"}, "status": {"ps", "queue"}, "accept": {"commit", "freeze"}, "force": {"invalidate", "rerun", "clean"}, "gc": {"prune"}, "cancel": {"kill", "stop"},
	"artifacts": {"ls", "cat", "outputs"}, "pull": {"fetch", "checkout"}, "validate": {"lint"}, "why": {"explain"}, "init": {"new", "create"}, "dev": {"server", "start"},
}

// checkArgs reports a command's wrong arguments as input errors, and checks its flags. A command takes no arguments
// unless it says which.
func checkArgs(cmd *cobra.Command) {
	if check := cmd.Args; check != nil || !cmd.HasSubCommands() {
		if check == nil {
			check = cobra.NoArgs
		}
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return fault.Input(misused(cmd, err))
			}
			return checkFlags(cmd)
		}
	}
	for _, c := range cmd.Commands() {
		checkArgs(c)
	}
}
