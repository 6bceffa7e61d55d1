package drive

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/internal/system/shellwords"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// RunScript runs a staged program as its step does.
const RunScript = step.OwnFolder + "/run.sh"

// StepFolder makes a folder with a step's inputs, as the step sees them. p is nil of a step without a program.
func (dr *Driver) StepFolder(ctx context.Context, address string) (dir string, p *step.Program, err error) {
	dr.Targets = []string{address}
	v, err := dr.Preview(ctx, session.Everything)
	if err != nil {
		return "", nil, err
	}
	i, err := v.Step(address)
	if err != nil {
		return "", nil, err
	}
	it := v.Items[i]
	if it.Outcome == plan.Maybe {
		waits := v.Plan.Addresses(it.Snags().Waits)
		return "", nil, fmt.Errorf("%s of the inputs of %s have no results yet: %s", words.Count(len(waits), "step"), address, dr.ToRun(waits...))
	}
	if dir, err = os.MkdirTemp("", "redsi-shell-*"); err != nil {
		return "", nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	if err = dr.StoreLibraries(ctx, v.Store.Own, v.Plan); err != nil { // of which an environment is made
		return dir, nil, err
	}
	p, err = dr.Activities(v.Store, nil, workflows.Features{}).Stage(ctx, address, it.Key, it.Task(), v.Plan.Steps[i].Resources.Granted(), dir)
	if errors.Is(err, artifacts.ErrNotExist) {
		err = fmt.Errorf("%w: %s", err, dr.ToRun(address))
	}
	if err != nil || p == nil {
		return dir, nil, err
	}
	return dir, p, local.Create(dir, RunScript, 0o755, strings.NewReader(scriptOf(address, dir, *p)))
}

// scriptOf is a shell script that runs a program with only the step's environment.
func scriptOf(address, dir string, p step.Program) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#!/bin/sh\n# What %s runs, in its environment.\n", strings.ToValidUTF8(oneLine(address), "\uFFFD"))
	if p.Note != "" {
		fmt.Fprintf(&b, "# %s\n", p.Note)
	}
	fmt.Fprintf(&b, "cd %s || exit\nexec env -i", shellwords.Quote(dir))
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		fmt.Fprintf(&b, " \\\n  %s", shellwords.Quote(name+"="+p.Env[name]))
	}
	for _, name := range p.Secrets {
		fmt.Fprintf(&b, " \\\n  %s=\"${%s:?is a secret of the step; set it}\"", name, name)
	}
	b.WriteString(" \\\n ")
	for _, arg := range p.Argv {
		b.WriteString(" " + shellwords.Quote(arg))
	}
	stdin := "/dev/null"
	if p.Stdin != "" {
		stdin = p.Stdin
	}
	fmt.Fprintf(&b, " < %s\n", shellwords.Quote(stdin))
	return b.String()
}

func oneLine(s string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(s) }
