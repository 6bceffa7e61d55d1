package general

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/host/environment/realize"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// environmentUse is what an environment block gives to steps.
type environmentUse struct {
	Packages string `hcl:"packages" help:"digest of the list of its packages, with versions and hashes, for its platform"`
	Recipe   string `hcl:"recipe,nokey" help:"digest of what it is made from"`
	Name     string `hcl:"name,nokey" help:"name of the block"`
	Kind     string `hcl:"kind,nokey" enum:"uv,pylock,requirements,conda,image,nix" help:"what its lock is of"`
}

// inEnvironment stands for the digest of a program that the environment has, whose packages
// are in the key.
const inEnvironment = "in the environment"

// environments are this machine's.
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
		inout.Check(ps, "isolation", c.Isolation == "off", "does not work with an image, which sees the step's folder alone and the network")
		inout.Check(ps, "programs", len(c.Programs) == 0, "are those of the image, whose digest is in the key: leave them out")
	}
}

// within says whether a program is the environment's: a name without a path, but for shells.
// All that an image starts is its own.
func (c programConfig) within(name string) bool {
	if e := c.Environment; e == nil || strings.HasPrefix(name, "./") {
		return false
	} else if e.Kind == environment.Image {
		return true
	}
	return !strings.Contains(name, "/") && !slices.Contains(shells, name)
}

// brings says whether a program that a script calls is likely the environment's.
func (c programConfig) brings(name string) bool {
	e := c.Environment
	return e != nil && (!slices.Contains([]string{environment.UV, environment.Pylock, environment.Requirements}, e.Kind) || strings.HasPrefix(name, "python"))
}

// recipes remembers, by digest, what this process has read of environments.
var recipes sync.Map

// readOnce is a text of the store.
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

// enter makes the step's environment if it is not there; nil without one. The caller closes it.
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
