package general

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/isolation"
	"github.com/redsi/redsi/internal/host/secret"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

// stageCommand fills the working folder. Nothing that the program does there reaches the store.
func stageCommand(in *inputs, c commandConfig, dir string) error {
	folder, out := c.folders(dir)
	for _, sub := range []string{folder, filepath.Join(dir, "tmp")} {
		if err := os.MkdirAll(sub, 0o755); err != nil {
			return err
		}
	}
	if err := command.Outputs(c.Outputs).Prepare(out); err != nil {
		return err
	}
	for name, text := range c.Files {
		if err := local.Create(dir, name, 0o755, strings.NewReader(text)); err != nil {
			return err
		}
	}
	if c.Script != "" {
		if err := local.Create(dir, scriptFile, 0o755, strings.NewReader(c.Script)); err != nil {
			return err
		}
	}
	for name, a := range c.Inputs {
		if err := stageInput(in, a, folder, name); err != nil {
			return fmt.Errorf("input %s: %w", name, err)
		}
	}
	for name, list := range c.Lists {
		if err := os.MkdirAll(filepath.Join(folder, filepath.FromSlash(name)), 0o755); err != nil {
			return err
		}
		for i, a := range list {
			if err := stageInput(in, a, folder, name+"/"+fmt.Sprint(i)); err != nil {
				return fmt.Errorf("input %s[%d]: %w", name, i, err)
			}
		}
	}
	return nil
}

// folders are where a program finds its inputs and leaves its outputs.
func (c commandConfig) folders(dir string) (in, out string) {
	if c.code != nil {
		return dir, dir
	}
	return filepath.Join(dir, "in"), filepath.Join(dir, "out")
}

// called is what errors call the program: its name, or that of its script.
func (c commandConfig) called() string {
	if c.code != nil {
		return c.code.Script
	}
	return c.line()[0]
}

// outAt is the path of an output in the working folder.
func (c commandConfig) outAt(name string) string {
	if c.code != nil {
		return name
	}
	return "out/" + name
}

// stageProgram is the folder and the program for people: without the values of secrets.
func stageProgram(ctx context.Context, x *step.IO, c commandConfig, dir string) (step.Program, error) {
	if err := c.unpack(); err != nil {
		return step.Program{}, err
	}
	p := step.Program{Argv: c.line(), Env: c.environment(dir), Secrets: slices.Sorted(maps.Keys(c.SecretEnv))}
	tell(p.Env, x.Granted)
	within, err := c.enter(ctx, x) // it stays as long as this process
	if err != nil {
		return p, err
	}
	run := command.Run{Argv: p.Argv, Dir: dir, Env: p.Env}
	within.Start(&run)
	p.Argv, p.Env = run.Argv, run.Env
	if c.Isolation != string(isolation.Off) {
		p.Note = fmt.Sprintf("the step has isolation = %q; here nothing is kept out", c.Isolation)
	}
	in := &inputs{x: x}
	if err := stageCommand(in, c, dir); err != nil || !c.Stdin.Set() {
		return p, err
	}
	p.Stdin = step.OwnFolder + "/stdin"
	r, err := in.stdin(c.Stdin)
	if err != nil {
		return p, err
	}
	return p, errors.Join(local.Create(dir, p.Stdin, 0o444, r), r.Close())
}

// stageInput brings an artifact to a name below folder; the names of a tree's files
// are whatever its record says, and cannot lead out of there.
func stageInput(in *inputs, v step.Input, folder, name string) error {
	switch a := v.Artifact; {
	case a == nil:
		_, err := in.x.Open(v) // says so
		return err
	case a.Files == nil:
		return in.file(folder, name, artifacts.File{Digest: a.Digest, Size: a.Size, Mode: a.Mode})
	}
	if err := os.MkdirAll(filepath.Join(folder, filepath.FromSlash(name)), 0o755); err != nil { // a tree may have no file
		return err
	}
	for _, f := range v.Artifact.Files {
		if err := in.file(folder, name+"/"+f.Name, f); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

func collectCommand(x *step.IO, c commandConfig, dir string, secrets secret.Set) error {
	_, folder := c.folders(dir)
	collect := command.Outputs(c.Outputs).Collect
	if c.code != nil {
		collect = command.Outputs(c.Outputs).Pick
	}
	names, err := collect(folder)
	if err != nil {
		err = c.besides(err, dir)
		return step.Permanent(fmt.Errorf("%s: %w", c.called(), err))
	}
	for _, name := range names {
		if secrets.Redact(name) != name {
			return step.Permanent(fmt.Errorf("%s left %s: the name of an output has the value of a secret; nothing of it was kept", c.called(), c.outAt(name)))
		}
		if err := keepFile(x, "out", folder, name, secrets); err != nil {
			return fmt.Errorf("%s: %w", c.outAt(name), err)
		}
	}
	x.Count("files", int64(len(names)))
	if c.code != nil {
		if strays := c.strays(dir, names); len(strays) > 0 {
			x.Note("written, not in outputs", words.And(strays, mostStrays))
		}
	}
	if c.has(driverFile) {
		if err := collectNotebook(x, dir, secrets); err != nil {
			return err
		}
	}
	if len(names) == 0 {
		empty, err := artifacts.Tree("files", nil)
		return errors.Join(err, x.Link("out", empty))
	}
	return nil
}

// keepFile moves a file of a folder to an output that is a tree, unless it has a value of a secret.
func keepFile(x *step.IO, output, folder, name string, secrets secret.Set) error {
	path := filepath.Join(folder, filepath.FromSlash(name))
	if len(secrets) > 0 {
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		clean := secrets.Guard(io.Discard)
		if _, err = io.Copy(clean, in); err == nil {
			err = clean.Close()
		}
		if err = errors.Join(err, in.Close()); err != nil {
			return err
		}
	}
	return x.TakeFile(output, name, path)
}

// besides adds to the error of a missing output that the program left it in its folder.
func (c commandConfig) besides(err error, dir string) error {
	missing, ok := errors.AsType[*command.MissingError](err)
	if !ok {
		return err
	}
	if c.code != nil {
		for _, name := range c.strays(dir, nil) {
			if path.Base(name) == path.Base(missing.Name) {
				return fmt.Errorf("%w: it left %s; write outputs = [%q]", err, name, name)
			}
		}
		return err
	}
	for _, name := range []string{missing.Name, path.Base(missing.Name)} {
		name = strings.TrimSuffix(name, "/")
		if _, gone := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); gone == nil && !c.has(name) {
			return fmt.Errorf("%w: it left %s beside out/; let it write to out/%s", err, name, missing.Name)
		}
	}
	return err
}
