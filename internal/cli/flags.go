package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/system/fault"
)

// globalFlags are understood by every verb.
func (a *app) globalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.BoolVar(&a.JSON, "json", false, "print the result as JSON")
	f.StringVar(&a.LogLevel, "log-level", env("REDSI_LOG_LEVEL", "info"), "debug, info, warn or error; logs go to stderr")
	f.StringVar(&a.StateDir, "state", env("REDSI_STATE", ".redsi"), "folder for the default store, the embedded server and caches, relative to the current folder")
	f.StringVar(&a.Profile, "profile", env("REDSI_PROFILE", ""), "profile of "+syntax.LocalFile+", the settings beside the pipeline")
	f.StringVar(&a.StoreURL, "store", env("REDSI_STORE", ""), "where results live: a folder, or s3://bucket/prefix?endpoint=HOST:PORT (default STATE/store)")
}

// with adds flags that several verbs have to one of them.
func with(cmd *cobra.Command, flags ...func(*cobra.Command)) *cobra.Command {
	for _, add := range flags {
		add(cmd)
	}
	return cmd
}

// pipelineFlags are the flags of verbs that read a pipeline.
func (a *app) pipelineFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&a.File, "file", "f", env("REDSI_FILE", "pipelines.hcl"), "pipeline: a folder of .hcl files, for which its pipelines.hcl stands, or one other .hcl file")
	a.variableFlags(cmd)
}

func (a *app) variableFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&a.Vars, "var", nil, "variable as NAME=VALUE; may be repeated")
	f.StringArrayVar(&a.VarFiles, "var-file", nil, "file of variables in HCL, JSON, YAML or TOML; may be repeated")
}

func (a *app) targetFlag(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&a.Targets, "target", "t", nil, `build only this and what it needs: table.NAME, step.KIND.NAME["key"]; may be repeated`)
}

func env(name, fallback string) string { return cmp.Or(os.Getenv(name), fallback) }

// clusterFlags are the flags of verbs that talk to an existing cluster.
func clusterFlags(cmd *cobra.Command, o *drive.Cluster) {
	f := cmd.Flags()
	f.StringVar(&o.Address, "temporal-address", "", "HOST:PORT of an existing cluster (or set TEMPORAL_ADDRESS or a profile)")
	f.StringVar(&o.Namespace, "temporal-namespace", "", "namespace there")
	f.StringVar(&o.Profile, "temporal-profile", os.Getenv("TEMPORAL_PROFILE"), "profile of Temporal's own configuration file: address, TLS, API key")
	f.StringVar(&o.UI, "temporal-ui", os.Getenv("REDSI_TEMPORAL_UI"), "address of the cluster's web UI, for links")
	payloadFlag(cmd, o)
}

// payloadFlag is for verbs that send anything through Temporal.
func payloadFlag(cmd *cobra.Command, o *drive.Cluster) {
	cmd.Flags().StringVar(&o.PayloadKey, "payload-key", os.Getenv("REDSI_PAYLOAD_KEY"),
		"file of the keys that encrypt what Temporal stores about runs; every process of a run needs it")
}

// metricsFlag is for verbs that run steps.
func (a *app) metricsFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.MetricsAddress, "metrics-address", "",
		"serve Prometheus metrics at http://HOST:PORT/metrics; a PORT alone listens on this machine only (default: none)")
}

// progressFlag is for verbs that follow runs.
func (a *app) progressFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.progress, "progress", "text",
		"how a run is shown on standard error: text, or json (events for programs; when nobody reads them any more, as Ctrl-C)")
}

// setProgress makes what --progress asks for. A reader of events that goes ends cmd's context.
func (a *app) setProgress(cmd *cobra.Command) error {
	switch a.progress {
	case "", "text":
		return nil
	case "json":
	default:
		return fault.Input(fmt.Errorf("--progress %s: want text or json", a.progress))
	}
	ctx, gone := context.WithCancel(cmd.Context())
	cmd.SetContext(ctx)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // else writing to nobody ends the process
	columns, _ := strconv.Atoi(os.Getenv("COLUMNS"))
	a.events = view.NewEvents(a.Err, cmp.Or(max(columns, 0), 80), gone)
	return nil
}

// embedFlags are the flags of verbs that may start a server of their own.
func embedFlags(cmd *cobra.Command, o *drive.Cluster, uiPort int) {
	f := cmd.Flags()
	f.IntVar(&o.UIPort, "ui-port", uiPort, "port of the embedded server's web UI; 0: a free one")
	f.Var(&slots{o}, "slots", "steps at a time, without a cluster; 0: none, other workers of the server do them (default: cores)")
	f.IntVar(&o.Threads, "threads", 0, threadsHelp)
	roomFlags(cmd, &o.CPUs, &o.Memory)
}

// slots is the flag of that name, whose 0 is not its default.
type slots struct{ of *drive.Cluster }

func (s *slots) String() string {
	if s.of == nil || s.of.Slots == 0 && !s.of.Head {
		return ""
	}
	return strconv.Itoa(s.of.Slots)
}

func (s *slots) Type() string { return "int" }

func (s *slots) Set(text string) (err error) {
	s.of.Slots, err = strconv.Atoi(text)
	s.of.Head = s.of.Slots == 0
	return err
}

// roomFlags are what the steps of a worker may ask for.
func roomFlags(cmd *cobra.Command, cpus *int, memory *int64) {
	cmd.Flags().IntVar(cpus, "cpus", 0, "processors for steps, one for each that asks for none by resources { cpus = … } (default: those that this process may use, or --slots if that is more)")
	(&size{to: memory}).flag(cmd.Flags(), "memory", "12GB", "memory for steps that ask for some by resources { memory = … }, such as 12GB (default: what the machine and its control groups have)")
}

const threadsHelp = "threads of a step that trains or evaluates (default: the cores that no other step uses, at least half of all)"

// size is a flag's number of bytes, which is at least one where it is given.
type size struct {
	n             int64  // 0: not given
	text          string // as it was given
	name, example string // of the flag
	to            *int64 // if set, gets it too
	perSecond     bool   // it may end in /s
}

// flag adds the flag, with an example of a size for who gets it wrong.
func (s *size) flag(f *pflag.FlagSet, name, example, usage string) {
	s.name, s.example = "--"+name, example
	f.Var(s, name, usage)
}

func (s *size) String() string { return s.text }
func (s *size) Type() string   { return "size" }

func (s *size) Set(text string) error {
	bytes := text
	if s.perSecond {
		bytes = strings.TrimSuffix(text, "/s")
	}
	n, err := humanize.ParseBytes(bytes)
	if err != nil || n == 0 || n > 1<<62 {
		return &sizeError{fault.Input(fmt.Errorf("%s %s: want a size above 0, such as %s", s.name, text, s.example))}
	}
	s.n, s.text = int64(n), text
	if s.to != nil {
		*s.to = s.n
	}
	return nil
}

// sizeError says all of a size that cannot be read: the flag, the text, and what is wanted.
type sizeError struct{ error }

// onlyAnnotation names, on a flag, the one that it can be used only with.
const onlyAnnotation = "redsi_only_with"

// onlyWith says of flags of a verb that they mean something only with another one.
func onlyWith(cmd *cobra.Command, with string, flags ...string) {
	for _, name := range flags {
		if err := cmd.Flags().SetAnnotation(name, onlyAnnotation, []string{with}); err != nil {
			panic(err) // the verb has no such flag
		}
	}
}

// checkOnly refuses flags that were given without the ones that they need.
func checkOnly(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if with := f.Annotations[onlyAnnotation]; err == nil && with != nil && !cmd.Flags().Changed(with[0]) {
			err = fault.Input(fmt.Errorf("--%s can be used only with --%s", f.Name, with[0]))
		}
	})
	return err
}
