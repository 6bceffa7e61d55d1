package general

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/libraries"
	"github.com/redsi/redsi/internal/host/script"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

// installed remembers, while this process lives, what is installed for the interpreters of
// the steps that it runs.
var installed libraries.Memory

// librariesFinder is what Sources may be too: it reads environments for a whole plan.
type librariesFinder interface {
	Libraries(ctx context.Context, program string) (*libraries.Environment, error)
}

// reader reads the environment of a program.
type reader = func(ctx context.Context, program string) (*libraries.Environment, error)

// withLibraries fills in the digests of what is installed for the interpreters of a step.
// Those that were given are kept where a program is not installed.
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

// librariesBefore spares a look at all files before a program starts, where they were looked
// at before: what has moved since is found when the program has ended.
func librariesBefore(ctx context.Context, program string) (*libraries.Environment, error) {
	if e, err := installed.Recall(program, command.Find); e != nil || err != nil {
		return e, err
	}
	return librariesHere(ctx, program)
}

func librariesHere(ctx context.Context, program string) (*libraries.Environment, error) {
	return installed.Of(ctx, program, command.Find)
}

// environmentsOf are those of the interpreters that a step starts, each once, in the order
// in which the step names them. missing is why a program was not found.
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

// keepLibraries makes sure that what is installed on this worker is what the key has, and
// keeps the lists of it with the result.
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

// sameLibraries refuses what differs from the key, by the packages that differ, if no
// reader of environments finds what the key has.
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
		if i < len(c.Libraries) && c.Libraries[i] != now[i] {
			differ = append(differ, differences(x, c.Libraries[i], e)...)
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

// differences are those of an environment from the one with a digest, if the store has the
// list of that.
func differences(x *step.IO, planned string, e *libraries.Environment) []string {
	text, err := plannedLibraries(x, planned)
	if err != nil {
		return nil
	}
	old, err := libraries.Parse(text)
	if err != nil {
		return nil
	}
	return libraries.Differences(old, e.Manifest)
}

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
