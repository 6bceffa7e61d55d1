package general

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/environment/realize"
	"github.com/redsi/redsi/internal/host/libraries"
	"github.com/redsi/redsi/internal/stores/hashed"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

func checkProgram(ps *step.Problems, c commandConfig) {
	switch {
	case c.Script != "":
		checkScript(ps, c)
	case len(c.Argv) == 0 || c.Argv[0] == "":
		inout.Add(ps, "argv", "needs a program; or give the text of a script as script")
	}
	for i, d := range c.Libraries {
		checkHex(ps, fmt.Sprintf("libraries[%d]", i), d)
	}
	inout.Check(ps, "libraries", len(c.Libraries) == 0 || c.ProgramLibraries, "is given with program_libraries = false, which leaves them out")
	if line := c.line(); len(line) > 0 {
		name, ok := strings.CutPrefix(line[0], "./")
		inout.Check(ps, "argv[0]", !ok || c.has(name), "%q is not one of files", name)
	}
	if c.Program != "" && c.Program != inFiles && c.Program != inEnvironment {
		checkHex(ps, "program", c.Program)
	}
	for i, name := range c.Programs {
		switch path := fmt.Sprintf("programs[%d]", i); {
		case name == "":
			inout.Add(ps, path, "is empty")
		case strings.HasPrefix(name, "./"):
			inout.Add(ps, path, "%q would be one of files, whose text is in the key already", name)
		case slices.Index(c.Programs, name) < i:
			inout.Add(ps, path, "%q is given twice", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.ProgramDigests)) {
		path := fmt.Sprintf("program_digests[%q]", name)
		if !slices.Contains(c.Programs, name) {
			inout.Add(ps, path, "is not one of programs")
		} else {
			checkHex(ps, path, c.ProgramDigests[name])
		}
	}
}

func checkHex(ps *step.Problems, path, digest string) {
	_, err := artifacts.ParseHex(digest)
	inout.Check(ps, path, err == nil, "is not 64 hex digits")
}

// resolveCommand fills in the digests of the programs. A given digest stays where the program is not installed: the
// result may be in the store.
func resolveCommand(ctx context.Context, env step.Sources, c commandConfig) (commandConfig, error) {
	var err error
	if name := c.line()[0]; strings.HasPrefix(name, "./") {
		c.Program = inFiles
	} else if c.within(name) {
		c.Program = inEnvironment
	} else if c.Program, err = c.digestOf(ctx, env, name, c.Program, "program"); err != nil {
		return c, err
	}
	given := c.ProgramDigests
	c.ProgramDigests = map[string]string{}
	for _, name := range c.Programs {
		if c.ProgramDigests[name], err = c.digestOf(ctx, env, name, given[name], "program_digests"); err != nil {
			return c, err
		}
	}
	return withLibraries(ctx, env, c)
}

func (c commandConfig) has(name string) bool {
	_, ok := c.Files[name]
	return ok
}

// digestOf returns the digest of the program that PATH finds, which must be the given one of an attribute, if any.
func (c commandConfig) digestOf(ctx context.Context, env step.Sources, name, given, attribute string) (string, error) {
	path, err := env.Program(name)
	if err != nil {
		if given != "" {
			return given, nil
		}
		if c.has(name) {
			return "", fmt.Errorf("%w; it is one of files: write \"./%s\"", err, name)
		}
		return "", fmt.Errorf("%w (to plan without it, give its sha256 as %s)", err, attribute)
	}
	path = libraries.Behind(path)
	pin, err := env.LocalFile(ctx, path)
	if err != nil {
		return "", err
	}
	as, err := c.countedAs(path, pin.SHA256)
	if err != nil || given == "" {
		return as.Hex(), err
	}
	if !isGiven(given, pin.SHA256, as) {
		return "", fmt.Errorf("%s has the digest %s, not %s", path, as.Hex(), given)
	}
	return strings.ToLower(given), nil
}

// isGiven reports whether the given digest of a program is its file's, or the one as which the file counts.
func isGiven(given string, digest, as artifacts.Digest) bool {
	return strings.EqualFold(given, digest.Hex()) || strings.EqualFold(given, as.Hex())
}

// counted remembers the digests that keys have of programs, by path, digest and whether packages count.
var counted sync.Map

// countedAs returns the digest that a key has of a program's file: the file's own or, where an installer has written
// an environment's folder into it, the digest of the installer's source.
func (c commandConfig) countedAs(path string, digest artifacts.Digest) (artifacts.Digest, error) {
	id := [3]any{path, digest, c.ProgramLibraries}
	if as, ok := counted.Load(id); ok {
		return as.(artifacts.Digest), nil
	}
	as, err := libraries.Original(path, digest)
	if err == nil && as == digest && c.ProgramLibraries {
		as, err = libraries.Installed(path, digest)
	}
	if err == nil {
		counted.Store(id, as)
	}
	return as, err
}

// program is a file that a step starts, as it was when it was hashed; digest is zero for a file of the step's own.
type program struct {
	path   string
	digest artifacts.Digest
	proof  hashed.Proof
}

// programs finds the program that is started, then those that it starts, and makes sure that the key has them.
func (c commandConfig) programs(ctx context.Context, dir string, h *realize.Env) ([]program, error) {
	names, digests := append([]string{c.line()[0]}, c.Programs...), []string{c.Program}
	for _, name := range c.Programs {
		digests = append(digests, c.ProgramDigests[name])
	}
	list := make([]program, len(names))
	for i, name := range names {
		if own, ok := strings.CutPrefix(name, "./"); ok {
			list[i].path = filepath.Join(dir, filepath.FromSlash(own))
			continue
		}
		var err error
		if i == 0 && c.within(name) {
			if list[i].path, err = h.Find(name); err != nil {
				err = step.Permanent(err)
			}
		} else {
			list[i], err = c.programOf(ctx, name, digests[i])
		}
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (c commandConfig) programOf(ctx context.Context, name, planned string) (program, error) {
	path, err := command.Find(name)
	if err != nil {
		return program{}, step.Permanent(fmt.Errorf("on this worker: %w", err))
	}
	p, err := programAt(ctx, path)
	if err != nil {
		return p, err
	}
	counts := p
	if behind := libraries.Behind(path); behind != path {
		if counts, err = programAt(ctx, behind); err != nil {
			return p, err
		}
	}
	as, err := c.countedAs(counts.path, counts.digest)
	if err == nil && !isGiven(planned, counts.digest, as) {
		err = &step.SourceChangedError{Path: path, Err: fmt.Errorf(
			"this worker's %s has the digest %s, the plan was made with %s: plan and run again if it has changed, and give all workers the same program", counts.path, as.Hex(), planned)}
	}
	return p, err
}

// programFiles are the programs that this process has hashed, each once while it stays the same: thousands of steps
// may start one program, and an interpreter has megabytes.
var programFiles hashed.Memory

func programAt(ctx context.Context, path string) (p program, err error) {
	p.path = path
	p.digest, p.proof, err = programFiles.Digest(ctx, path, nil)
	return p, err
}

// unchanged makes sure that the program is still the one that was hashed.
func (p program) unchanged(ctx context.Context) error {
	if p.digest.IsZero() {
		return nil
	}
	same, err := hashed.Unchanged(ctx, p.path, p.digest, p.proof)
	if err == nil && same {
		return nil
	}
	if err == nil {
		err = errors.New("its bytes differ now")
	}
	return &step.SourceChangedError{Path: p.path, Err: fmt.Errorf("the program changed while it ran: %s: %w; run again", p.path, err)}
}
