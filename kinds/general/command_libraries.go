package general

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/host/environment/realize"
	"github.com/redsi/redsi/internal/host/libraries"
	"github.com/redsi/redsi/internal/host/script"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// installed remembers, while this process lives, what is installed for the interpreters of its steps.
var installed libraries.Memory

// librariesFinder is a step.Sources that reads environments for all steps of a plan.
type librariesFinder interface {
	Libraries(ctx context.Context, program string) (*libraries.Environment, error)
}

type reader = func(ctx context.Context, program string) (*libraries.Environment, error)

// withLibraries fills in digests of what is installed for interpreters; given ones stay where a program is missing.
func withLibraries(ctx context.Context, env step.Sources, c commandConfig) (commandConfig, error) {
	if !c.ProgramLibraries {
		return c, nil
	}
	of := librariesHere
	if f, ok := env.(librariesFinder); ok {
		of = f.Libraries
	}
	list, missing, err := environmentsOf(ctx, c, env.Program, of)
	if err != nil {
		return c, err
	}
	now := digestsOf(list)
	switch {
	case len(c.Libraries) == 0:
		c.Libraries = now
	case missing == nil && !slices.Equal(c.Libraries, now):
		return c, fmt.Errorf("what is installed here, %s, has the digests %q, not those of libraries", sentence(list), now)
	}
	return c, nil
}

// librariesBefore recalls what was installed, without a look at all files, before a program starts: librariesHere
// finds what has changed when the program has ended.
func librariesBefore(ctx context.Context, program string) (*libraries.Environment, error) {
	if e, err := installed.Recall(program, command.Find); e != nil || err != nil {
		return e, err
	}
	return librariesHere(ctx, program)
}

func librariesHere(ctx context.Context, program string) (*libraries.Environment, error) {
	return installed.Of(ctx, program, command.Find)
}

// environmentsOf returns the environments of a step's interpreters, each once, in the order in which the step names
// them. missing says why a program was not found.
func environmentsOf(ctx context.Context, c commandConfig, find libraries.Lookup, of reader) (list []*libraries.Environment, missing, err error) {
	for i, name := range append([]string{c.line()[0]}, c.Programs...) {
		if own, ok := strings.CutPrefix(name, "./"); ok {
			name = script.Launcher(c.Files[own], "")
		}
		if name == "" || i == 0 && c.within(name) {
			continue
		}
		path, err := find(name)
		if err != nil {
			missing = err
			continue
		}
		e, err := of(ctx, path)
		if err != nil {
			return nil, nil, fmt.Errorf("what is installed for %s: %w", name, err)
		}
		if e != nil && !slices.ContainsFunc(list, func(o *libraries.Environment) bool { return o.Digest == e.Digest }) {
			list = append(list, e)
		}
	}
	return list, missing, nil
}

func digestsOf(list []*libraries.Environment) []string {
	return lists.Map(list, func(e *libraries.Environment) string { return e.Digest.Hex() })
}

func sentence(list []*libraries.Environment) string {
	return strings.Join(lists.Map(list, (*libraries.Environment).String), ", and ")
}

// keepLibraries makes sure that the key has what is installed on this worker, and keeps the lists with the result.
func keepLibraries(ctx context.Context, x *step.IO, c commandConfig) error {
	list, err := sameLibraries(ctx, x, c, librariesBefore, librariesHere)
	if err != nil || len(list) == 0 {
		return err
	}
	x.Note("libraries", sentence(list))
	for i, e := range list {
		f, err := x.PutFile(ctx, fmt.Sprintf("libraries-%d", i+1), bytes.NewReader(e.Text))
		if err != nil {
			return err
		}
		x.Keep(f)
	}
	return nil
}

// sameLibraries names the packages that differ from the key's, unless a reader of environments finds what the key has.
func sameLibraries(ctx context.Context, x *step.IO, c commandConfig, readers ...reader) (list []*libraries.Environment, err error) {
	if !c.ProgramLibraries {
		return nil, nil
	}
	var now []string
	for _, of := range readers {
		if list, _, err = environmentsOf(ctx, c, command.Find, of); err != nil {
			return nil, err
		}
		if now = digestsOf(list); slices.Equal(now, c.Libraries) {
			return list, nil
		}
	}
	var differ []string
	for i, e := range list {
		if i >= len(c.Libraries) || c.Libraries[i] == now[i] {
			continue
		}
		text, err := plannedLibraries(x, c.Libraries[i])
		if old, bad := libraries.Parse(text); err == nil && bad == nil { // the store has the planned one's list
			differ = append(differ, libraries.Differences(old, e.Manifest)...)
		}
	}
	text := words.And(differ, differencesNamed)
	switch {
	case text != "":
		text = ": " + text
	case len(c.Libraries) == 0:
		text = fmt.Sprintf(", of which the plan has nothing: it was made without the program; give the digests there as libraries = %q", now)
	}
	where := c.line()[0]
	if len(list) > 0 {
		where = list[0].Prefix
	}
	return nil, &step.SourceChangedError{Path: where, Err: fmt.Errorf(
		"this worker has other packages than the plan was made with: %s%s; plan and run again if they have changed, and give all workers the same", cmp.Or(sentence(list), "none for "+where), text)}
}

// differencesNamed bounds the packages that an error names.
const differencesNamed = 20

func plannedLibraries(x *step.IO, hex string) ([]byte, error) {
	d, err := artifacts.ParseHex(hex)
	if err != nil {
		return nil, err
	}
	r, err := x.OpenFile(artifacts.File{Digest: d})
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(r, libraries.MaxText))
	return b, errors.Join(err, r.Close())
}

// environmentUse is what an environment block gives a step.
type environmentUse struct {
	Packages string `hcl:"packages" help:"digest of the list of its packages, with versions and hashes, for its platform"`
	Recipe   string `hcl:"recipe,nokey" help:"digest of what it is made from"`
	Name     string `hcl:"name,nokey" help:"name of the block"`
	Kind     string `hcl:"kind,nokey" enum:"uv,pylock,requirements,conda,image,nix" help:"what its lock is of"`
}

// inEnvironment stands for the digest of a program of the environment, whose packages are in the key.
const inEnvironment = "in the environment"

var environments realize.Environments

// shells are looked up in PATH also where there is an environment of packages.
var shells = []string{"sh", "bash", "dash", "env"}

func checkEnvironment(ps *step.Problems, c commandConfig) {
	e := c.Environment
	if e == nil {
		return
	}
	checkHex(ps, "environment", e.Packages)
	checkHex(ps, "environment", e.Recipe)
	if e.Kind == environment.Image {
		inout.Check(ps, "isolation", c.Isolation == "off", "does not work with an image, which sees the network, and of this machine only the step's folder")
		inout.Check(ps, "programs", len(c.Programs) == 0, "come from the image, whose digest is in the key: leave them out")
	}
}

// within reports whether a program is the environment's: all programs with an image, else names without a path that
// are no shells.
func (c programConfig) within(name string) bool {
	if e := c.Environment; e == nil || strings.HasPrefix(name, "./") {
		return false
	} else if e.Kind == environment.Image {
		return true
	}
	return !strings.Contains(name, "/") && !slices.Contains(shells, name)
}

// brings reports whether a program that a script calls is likely the environment's.
func (c programConfig) brings(name string) bool {
	e := c.Environment
	return e != nil && (!slices.Contains([]string{environment.UV, environment.Pylock, environment.Requirements}, e.Kind) || strings.HasPrefix(name, "python"))
}

// recipes remembers, by digest, what this process has read of environments.
var recipes sync.Map

func readOnce(x *step.IO, hex string) ([]byte, error) {
	if text, ok := recipes.Load(hex); ok {
		return text.([]byte), nil
	}
	text, err := plannedLibraries(x, hex)
	if err == nil {
		recipes.Store(hex, text)
	}
	return text, err
}

// enter builds the step's environment if it is not there; nil without one. The caller closes it.
func (c programConfig) enter(ctx context.Context, x *step.IO) (*realize.Env, error) {
	e := c.Environment
	if e == nil {
		return nil, nil
	}
	list, err := readOnce(x, e.Packages)
	text, terr := readOnce(x, e.Recipe)
	if err = errors.Join(err, terr); err != nil {
		return nil, fmt.Errorf("the lock of environment.%s: %w", e.Name, err)
	}
	w, err := realize.Want("environment."+e.Name, text, list)
	if err != nil {
		return nil, step.Permanent(err)
	}
	h, err := environments.Use(ctx, w, func(line string) {
		x.Log.Info(line)
		x.Report(step.Progress{Note: line})
	})
	if wrong, ok := errors.AsType[*realize.Error](err); ok && !wrong.Passing && ctx.Err() == nil {
		err = step.Permanent(err)
	}
	return h, err
}

// keepEnvironment notes which environment a step was run in, and keeps the list of its packages.
func keepEnvironment(ctx context.Context, x *step.IO, c programConfig, h *realize.Env) error {
	if h == nil {
		return nil
	}
	x.Note("environment", h.String())
	text, err := json.Marshal(h.List)
	if err != nil {
		return err
	}
	f, err := x.PutFile(ctx, environment.ListName, bytes.NewReader(text))
	if err != nil {
		return err
	}
	x.Keep(f)
	for name, hex := range map[string]string{"environment-packages": c.Environment.Packages, "environment-recipe": c.Environment.Recipe} {
		read, err := readOnce(x, hex)
		if err != nil {
			return err
		}
		x.Keep(artifacts.File{Name: name, Digest: artifacts.Sum(read), Size: int64(len(read))})
	}
	return nil
}

// inFiles stands for the digest of a program that is one of files, whose text is in the key.
const inFiles = "in files"
