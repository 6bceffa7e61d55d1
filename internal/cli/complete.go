package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.temporal.io/api/workflow/v1"

	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/reference"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/system/lists"
)

// completeWithin bounds the wait after the Tab key.
const completeWithin = 10 * time.Second

// goesOn has the characters after which a completion continues, so that no blank follows.
const goesOn = "=:"

func newCompletionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print a completion script for your shell: verbs, steps, cells, kinds, runs, variables",
		Long: `  bash        source <(redsi completion bash)               in ~/.bashrc, after the package bash-completion
  zsh         source <(redsi completion zsh)                in ~/.zshrc, after compinit
  fish        redsi completion fish > ~/.config/fish/completions/redsi.fish
  powershell  redsi completion powershell | Out-String | Invoke-Expression`,
		Example:   `  source <(redsi completion bash)`,
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch root := cmd.Root(); args[0] {
			case "zsh":
				return root.GenZshCompletion(a.Out)
			case "fish":
				return root.GenFishCompletion(a.Out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.Out)
			}
			return cmd.Root().GenBashCompletionV2(a.Out, true)
		},
	}
}

func (a *app) complete(root *cobra.Command) {
	args := map[string]completer{
		"why": a.stepNames, "force": a.stepNames, "accept": a.stepNames, "artifacts ls": a.stepNames, "logs": a.stepNames, "shell": a.stepNames,
		"artifacts cat": a.outputNames, "artifacts get": a.outputNames,
		"trace": a.cellNames, "kinds": a.kindNames, "diff": a.runNames, "attach": a.openNames, "cancel": a.openNames,
	}
	flags := map[string]completer{
		"target": a.stepNames, "rebuild": a.stepNames, "revoke": a.stepNames, "model": a.stepNames, "var": a.variableNames, "run": a.runNames, "against": a.runNames, "of": a.runNames,
		"priority": these("1", "2", "3", "4", "5"), "log-level": these("debug", "info", "warn", "error"),
	}
	var each func(cmd *cobra.Command)
	each = func(cmd *cobra.Command) {
		if c := args[strings.TrimPrefix(cmd.CommandPath(), root.Name()+" ")]; c != nil && cmd != root {
			cmd.ValidArgsFunction = a.completion(c)
		}
		cmd.Flags().AddFlagSet(cmd.PersistentFlags())
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			switch c := flags[f.Name]; {
			case c != nil && f.Value.Type() != "bool":
				_ = cmd.RegisterFlagCompletionFunc(f.Name, a.completion(c)) // an error: it already has one
			case f.Name == "file":
				_ = cmd.MarkFlagFilename(f.Name, "hcl")
			}
		})
		for _, sub := range cmd.Commands() {
			each(sub)
		}
	}
	each(root)
}

// completer lists candidates for a word that has been begun; the caller drops candidates that do not begin so.
type completer func(ctx context.Context, begun string) []string

func these(list ...string) completer { return func(context.Context, string) []string { return list } }

// completion is a completer for cobra. It has no candidates if the pipeline or the store cannot be read: the verb reports the error.
func (a *app) completion(c completer) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if a.setup(cmd) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completeWithin)
		defer cancel()
		directive := cobra.ShellCompDirectiveNoFileComp
		var fit []string
		for _, x := range c(ctx, begun) {
			name, _, _ := strings.Cut(x, "\t")
			if !strings.HasPrefix(name, begun) {
				continue
			}
			if fit = append(fit, x); strings.ContainsAny(name[len(name)-1:], goesOn) {
				directive |= cobra.ShellCompDirectiveNoSpace
			}
		}
		return fit, directive
	}
}

// stepNames lists blocks and, once only one is left, its instances: only instances need the pipeline's expressions.
func (a *app) stepNames(ctx context.Context, begun string) []string {
	var blocks []string
	for _, b := range a.blocks() {
		switch t := declare.Of(b.Type); {
		case t.Outputs():
			if address := b.Type + "." + strings.Join(b.Labels, "."); strings.HasPrefix(address, begun) {
				blocks = append(blocks, address)
			}
		case b.Type == "module":
			if strings.HasPrefix(begun, "module.") {
				return a.instances(ctx, begun)
			}
		}
	}
	if len(blocks) > 1 {
		return blocks
	}
	return a.instances(ctx, begun)
}

// instances lists the steps whose addresses begin with a word, and their blocks.
func (a *app) instances(ctx context.Context, begun string) (all []string) {
	for _, s := range a.loaded(ctx) {
		if block := address.Of(s.Address).Block(); !slices.Contains(all, block) && strings.HasPrefix(block, begun) {
			all = append(all, block)
		}
		if s.Key != "" && strings.HasPrefix(s.Address, begun) {
			all = append(all, s.Address)
		}
	}
	return all
}

func (a *app) blocks() (blocks []*hclsyntax.Block) {
	sources, err := syntax.Read(a.File)
	if err != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		f, _ := hclsyntax.ParseConfig(sources[name], name, hcl.InitialPos) // the verb reports what is wrong in it
		if body, ok := f.Body.(*hclsyntax.Body); ok {
			blocks = append(blocks, body.Blocks...)
		}
	}
	return blocks
}

func (a *app) outputNames(ctx context.Context, begun string) (names []string) {
	for _, s := range a.loaded(ctx) {
		if !strings.HasPrefix(s.Address, begun) && !strings.HasPrefix(begun, s.Address) {
			continue
		}
		for _, o := range a.Registry.Lookup(s.Kind).Outputs {
			names = append(names, s.Address+"."+o.Name)
		}
	}
	return names
}

func (a *app) loaded(ctx context.Context) []pipeline.Step {
	p, ds, err := a.Evaluate(ctx)
	if err != nil || ds.HasErrors() {
		return nil
	}
	return p.Steps
}

// cellNames lists steps, tables and figures, and the cells of a table or figure that is named.
func (a *app) cellNames(ctx context.Context, begun string) (names []string) {
	item, _, named := address.Cell(begun)
	if !named || !address.Of(begun).IsRendered() {
		for _, name := range a.stepNames(ctx, begun) {
			if address.Of(name).IsRendered() {
				name += ":"
			}
			names = append(names, name)
		}
		return names
	}
	a.Targets = []string{item}
	v, err := a.Preview(ctx, session.Everything)
	if err != nil {
		return nil
	}
	l, err := report.Cells(ctx, v.Preview, v.Store.Open, item)
	if err != nil {
		return nil
	}
	return lists.Map(l.Cells, func(c report.CellName) string { return c.Name + "\t" + c.Text })
}

func (a *app) kindNames(context.Context, string) []string {
	return lists.Map(reference.Kinds(a.Registry), func(k reference.Kind) string { return k.Name })
}

func (a *app) runNames(ctx context.Context, _ string) []string {
	store, err := a.OpenOwn(ctx)
	if err != nil {
		return nil
	}
	ids, err := runs.IDs(ctx, store.Own)
	if err != nil {
		return nil
	}
	slices.Reverse(ids)
	return append([]string{"last", "last~1"}, ids...)
}

func (a *app) openNames(ctx context.Context, _ string) []string {
	f := a.cmd.Flags()
	o := drive.Cluster{Address: f.Lookup("temporal-address").Value.String(), Namespace: f.Lookup("temporal-namespace").Value.String(),
		Profile: f.Lookup("temporal-profile").Value.String(), PayloadKey: f.Lookup("payload-key").Value.String()}
	conn, err := a.Running(ctx, o, &drive.Report{})
	if err != nil || conn == nil {
		return nil
	}
	defer conn.Close()
	open, err := drive.ListOpen(ctx, conn.Client)
	if err != nil {
		return nil
	}
	return lists.Map(open, func(w *workflow.WorkflowExecutionInfo) string { return drive.RunOf(w.Execution.WorkflowId) })
}

// variableNames lists the declared variables of a pipeline, which need not have values.
func (a *app) variableNames(context.Context, string) (names []string) {
	for _, b := range a.blocks() {
		if b.Type != "variable" || len(b.Labels) != 1 {
			continue
		}
		about := ""
		if d := b.Body.Attributes["description"]; d != nil {
			if v, ds := d.Expr.Value(nil); !ds.HasErrors() {
				about = "\t" + fmt.Sprint(language.JSON(v, nil))
			}
		}
		names = append(names, b.Labels[0]+"="+about)
	}
	return names
}
