package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/shellwords"
)

func (a *app) globalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.BoolVar(&a.JSON, "json", false, "print the result as JSON")
	f.StringVar(&a.LogLevel, "log-level", env("REDSI_LOG_LEVEL", "info"), "debug, info, warn or error; logs go to stderr")
	f.StringVar(&a.StateDir, "state", env("REDSI_STATE", ".redsi"), "folder for the default store, the embedded server and caches, relative to the current folder")
	f.StringVar(&a.Profile, "profile", env("REDSI_PROFILE", ""), "profile of "+syntax.LocalFile+", the settings beside the pipeline")
	f.StringVar(&a.StoreURL, "store", env("REDSI_STORE", ""), "where results live: a folder, or s3://bucket/prefix?endpoint=HOST:PORT (default STATE/store)")
}

func with(cmd *cobra.Command, flags ...func(*cobra.Command)) *cobra.Command {
	for _, add := range flags {
		add(cmd)
	}
	return cmd
}

func (a *app) pipelineFlags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&a.File, "file", "f", env("REDSI_FILE", "pipelines.hcl"), "pipeline: a folder of .hcl files, for which its pipelines.hcl stands, or one other .hcl file")
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

func clusterFlags(cmd *cobra.Command, o *drive.Cluster) {
	f := cmd.Flags()
	f.StringVar(&o.Address, "temporal-address", "", "HOST:PORT of an existing cluster (or set TEMPORAL_ADDRESS or a profile)")
	f.StringVar(&o.Namespace, "temporal-namespace", "", "namespace there")
	f.StringVar(&o.Profile, "temporal-profile", os.Getenv("TEMPORAL_PROFILE"), "profile of Temporal's own configuration file: address, TLS, API key")
	f.StringVar(&o.UI, "temporal-ui", os.Getenv("REDSI_TEMPORAL_UI"), "address of the cluster's web UI, for links")
	payloadFlag(cmd, o)
}

// payloadFlag adds the flag of verbs that send anything through Temporal.
func payloadFlag(cmd *cobra.Command, o *drive.Cluster) {
	cmd.Flags().StringVar(&o.PayloadKey, "payload-key", os.Getenv("REDSI_PAYLOAD_KEY"),
		"file of the keys that encrypt what Temporal stores about runs; every process of a run needs it")
}

func (a *app) metricsFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.MetricsAddress, "metrics-address", "",
		"serve Prometheus metrics at http://HOST:PORT/metrics; a PORT alone listens on this machine only (default: none)")
}

func (a *app) progressFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.progress, "progress", "text",
		"how a run is shown on standard error: text, or json (events for programs; when nobody reads them any more, as Ctrl-C)")
}

// setProgress opens the events that --progress asks for. When their reader goes, cmd's context ends.
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

func embedFlags(cmd *cobra.Command, o *drive.Cluster, uiPort int) {
	f := cmd.Flags()
	f.IntVar(&o.UIPort, "ui-port", uiPort, "port of the embedded server's web UI; 0: a free one")
	f.Var(&slots{o}, "slots", "steps at a time, without a cluster; 0: none, other workers of the server do them (default: cores)")
	f.IntVar(&o.Threads, "threads", 0, threadsHelp)
	roomFlags(cmd, &o.CPUs, &o.Memory)
}

// slots is the value of --slots, whose 0 differs from its default.
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

// roomFlags adds the flags of what the steps of a worker may ask for.
func roomFlags(cmd *cobra.Command, cpus *int, memory *int64) {
	cmd.Flags().IntVar(cpus, "cpus", 0, "processors for steps, one for each that asks for none by resources { cpus = … } (default: those that this process may use, or --slots if that is more)")
	(&size{to: memory}).flag(cmd.Flags(), "memory", "12GB", "memory for steps that ask for some by resources { memory = … }, such as 12GB (default: what the machine and its control groups have)")
}

const threadsHelp = "threads of a step that trains or evaluates (default: the cores that no other step uses, at least half of all)"

// size is a flag's number of bytes, at least 1 where the flag is given.
type size struct {
	n             int64  // 0: not given
	text          string // as it was given
	name, example string // of the flag
	to            *int64 // if set, gets it too
	perSecond     bool   // it may end in /s
}

// flag adds the flag; errors show the example of a size.
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

// sizeError says everything about a size that cannot be read: the flag, the text, and what is wanted.
type sizeError struct{ error }

// Annotations of a flag: the flag that it can be used only with, and its least value.
const onlyAnnotation, leastAnnotation = "redsi_only_with", "redsi_at_least"

// onlyWith declares that flags of a verb mean something only with another flag.
func onlyWith(cmd *cobra.Command, with string, flags ...string) {
	annotate(cmd, onlyAnnotation, with, flags)
}

// atLeast declares that flags of a verb, numbers or times, cannot be negative (0), or must be above 0 (1).
func atLeast(cmd *cobra.Command, least int, flags ...string) {
	annotate(cmd, leastAnnotation, strconv.Itoa(least), flags)
}

func annotate(cmd *cobra.Command, what, value string, flags []string) {
	for _, name := range flags {
		if err := cmd.Flags().SetAnnotation(name, what, []string{value}); err != nil {
			panic(err) // the verb has no such flag
		}
	}
}

// checkFlags refuses a flag that was given without the flag that it needs, or with too small a value.
func checkFlags(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		value := f.Value.String()
		isTime := f.Value.Type() == "duration"
		n, _ := strconv.ParseInt(value, 10, 64)
		if isTime {
			d, _ := time.ParseDuration(value) // it can be: the flag wrote it
			n = int64(d)
		}
		with, least := f.Annotations[onlyAnnotation], f.Annotations[leastAnnotation]
		switch {
		case err != nil:
		case with != nil && !cmd.Flags().Changed(with[0]):
			err = fault.Input(fmt.Errorf("--%s can be used only with --%s", f.Name, with[0]))
		case least == nil || n > 0:
		case n < 0 && least[0] == "0":
			err = fault.Input(fmt.Errorf("--%s %s: it cannot be negative", f.Name, value))
		case least[0] == "1" && isTime:
			err = fault.Input(fmt.Errorf("--%s %s: want a time above 0, such as 2h", f.Name, value))
		case least[0] == "1":
			err = fault.Input(fmt.Errorf("--%s %s: want at least 1", f.Name, value))
		}
	})
	return err
}

// misused adds a verb's usage to an error about the command line, unless that says enough.
func misused(cmd *cobra.Command, err error) error {
	if size, ok := errors.AsType[*sizeError](err); ok {
		return size
	}
	if !cmd.HasParent() {
		return err
	}
	if _, unknown := errors.AsType[*pflag.NotExistError](err); unknown && cmd.Name() == "console" {
		err = fmt.Errorf("%w: an expression that begins with - comes after --, as in redsi console -- -1", err)
	}
	return fmt.Errorf("%w\nusage: %s; see %s --help", err, cmd.UseLine(), cmd.CommandPath())
}

// group is a command that only has subcommands.
func group(use, short string) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, DisableFlagsInUseLine: true, SuggestionsMinimumDistance: 1,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			msg := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				msg += fmt.Sprintf("; did you mean %q?", near[0])
			}
			return fault.Input(misused(cmd, errors.New(msg)))
		}}
}

// carried names the flags that say what a command reads and where it writes: printed commands repeat them if they were given.
var carried = []string{"file", "var", "var-file", "state", "store", "from", "require-from", "trust", "untrusted", "profile", "payload-key", "slurm", "pilot",
	"temporal-address", "temporal-namespace", "temporal-profile"}

// hint is a command of this program to copy and paste: a verb, its arguments, and the carried flags of the running command that the
// verb has. The environment applies there too. Sensitive variables, known once the pipeline is read, are left for the person
// to fill in.
func (a *app) hint(verb string, args ...string) string {
	words := append([]string{"redsi"}, strings.Fields(verb)...)
	words = append(words, lists.Map(args, shellwords.Quote)...)
	to, _, err := a.cmd.Root().Find(words[1 : 1+len(strings.Fields(verb))])
	if err != nil {
		to = a.cmd
	}
	for _, name := range carried {
		given := a.cmd.Flags().Lookup(name)
		if given == nil || slices.Contains(args, "--"+name) || !understands(to, name) {
			continue
		}
		// What settings say is passed on to a verb that reads other settings: without -f, the current folder's.
		settled := a.Local.Flags[name] && !understands(to, "file") && filepath.Dir(a.Local.File) != "."
		if !given.Changed && !settled {
			continue
		}
		flag := "--" + name
		if given.Shorthand != "" {
			flag = "-" + given.Shorthand
		}
		if given.Value.Type() == "bool" {
			words = append(words, flag)
			continue
		}
		for _, v := range values(given) {
			if variable, _, ok := strings.Cut(v, "="); ok && name == "var" {
				if _, secret := a.Secrets[variable]; secret {
					v = variable + "=..."
				}
			}
			words = append(words, flag, shellwords.Quote(v))
		}
	}
	return strings.Join(words, " ")
}

func understands(cmd *cobra.Command, flag string) bool {
	return cmd.Flags().Lookup(flag) != nil || cmd.InheritedFlags().Lookup(flag) != nil
}

func values(f *pflag.Flag) []string {
	if many, ok := f.Value.(pflag.SliceValue); ok {
		return many.GetSlice()
	}
	return []string{f.Value.String()}
}
