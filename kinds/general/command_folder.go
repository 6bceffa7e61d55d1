package general

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/isolation"
	"github.com/redsi/redsi/internal/host/secret"
	"github.com/redsi/redsi/internal/stores/hashed"
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

func (c commandConfig) folders(dir string) (in, out string) {
	if c.code != nil {
		return dir, dir
	}
	return filepath.Join(dir, "in"), filepath.Join(dir, "out")
}

// called returns the program's name in errors, which is its script's if it has one.
func (c commandConfig) called() string {
	if c.code != nil {
		return c.code.Script
	}
	return c.line()[0]
}

func (c commandConfig) outAt(name string) string {
	if c.code != nil {
		return name
	}
	return "out/" + name
}

// stageProgram prepares the folder and the program for people, without the values of secrets.
func stageProgram(ctx context.Context, x *step.IO, c commandConfig, dir string) (step.Program, error) {
	if err := c.unpack(); err != nil {
		return step.Program{}, err
	}
	p := step.Program{Argv: c.line(), Env: c.environment(dir), Secrets: slices.Sorted(maps.Keys(c.SecretEnv))}
	tell(p.Env, x.Granted)
	within, err := c.enter(ctx, x) // held until this process ends
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

// stageInput brings an artifact to a name below folder. The names of a tree's files come from its record, and cannot
// lead out of the folder.
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

// besides adds to the error of a missing output where else the program left it.
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

// mostMounts bounds the files that are mounted for a step: the largest ones.
const mostMounts = 1000

// leastOfUser is the size from which on, in bytes, an account that is not root mounts inputs: it takes a process.
const leastOfUser = 32 << 20

const largeInputs = "large inputs"

// elsewhere finds programs whose inputs are read by others, in another mount namespace or by another account.
var elsewhere = regexp.MustCompile(`(?i)\b(docker|podman|nerdctl|buildah|sudo|su|doas|ssh|srun|sbatch|qsub|bsub|systemd-run|newuidmap)\b`)

// readElsewhere reports whether a command may start such a program.
func (c commandConfig) readElsewhere() bool {
	return slices.ContainsFunc(slices.Concat(c.Argv, c.Programs, []string{c.Script}, slices.Collect(maps.Values(c.Files))), elsewhere.MatchString)
}

// inputs brings a step's inputs into its folder. Small files are copies, verified as they are read. Large files are
// verified before; if mount is set and the system can, the store's own files are mounted read-only, else the system
// copies them, and shares their blocks where it can.
type inputs struct {
	x     *step.IO
	mount bool
	least int64 // in bytes: fewer are copied

	files  []largeFile // in the order of their names; from binds on, of their sizes
	mounts int         // how many of files, the first ones, are mounted
}

// largeFile is an input with a verified file of its own on this machine.
type largeFile struct {
	artifacts.File
	folder, name string // where it belongs; empty: on standard input
	path         string // of the verified file
	stamp        hashed.Stamp
}

// file brings a file, link or empty folder to a name below folder.
func (in *inputs) file(folder, name string, f artifacts.File) error {
	if f.Mode == artifacts.Link || f.Mode == artifacts.Folder {
		return local.Entry(folder, name, f, 0, nil)
	}
	if f.Size < local.Large {
		r, err := in.x.OpenFile(f)
		if err != nil {
			return err
		}
		return errors.Join(local.Entry(folder, name, f, 0o444, r), r.Close())
	}
	l, err := in.verified(f)
	if err != nil {
		return err
	}
	l.folder, l.name = folder, name
	if in.mount && f.Mode != artifacts.Executable && local.Hold(folder, name) == nil { // a mount has the mode of its file
		in.files = append(in.files, l)
		return nil
	}
	return in.copy(l)
}

func (in *inputs) verified(f artifacts.File) (largeFile, error) {
	l := largeFile{File: f}
	var err error
	if l.path, err = in.x.Path(f.Digest); err == nil {
		l.stamp, err = hashed.StampOf(l.path)
	}
	return l, err
}

func (in *inputs) copy(l largeFile) error {
	path, err := in.x.Path(l.Digest) // l.path may be gone
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(local.Entry(l.folder, l.name, l.File, 0o444, f), f.Close())
}

// binds returns what is to be mounted, once all files have been brought, and copies the others.
func (in *inputs) binds() (binds []isolation.Bind, err error) {
	slices.SortStableFunc(in.files, func(a, b largeFile) int { return cmp.Compare(b.Size, a.Size) })
	var sum int64
	for _, l := range in.files {
		sum += l.Size
	}
	if in.mounts = min(len(in.files), mostMounts); sum < in.least {
		in.mounts = 0
	}
	for _, l := range in.files[:in.mounts] {
		binds = append(binds, isolation.Bind{From: l.path, To: filepath.Join(l.folder, filepath.FromSlash(l.name))})
	}
	if in.mounts > 0 {
		in.x.Note(largeInputs, fmt.Sprintf("%d mounted", in.mounts))
	}
	return binds, in.copies(in.files[in.mounts:])
}

// copies replaces the empty files that hold places by copies.
func (in *inputs) copies(files []largeFile) error {
	for _, l := range files {
		root, err := os.OpenRoot(l.folder)
		if err != nil {
			return err
		}
		if err := errors.Join(root.Remove(l.name), root.Close(), in.copy(l)); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	return nil
}

// run runs the program with its inputs, and with stdin if that is set. If inputs cannot be mounted, the program has
// not begun, and runs with copies.
func (in *inputs) run(ctx context.Context, run command.Run, stdin step.Input) error {
	for {
		if stdin.Set() {
			r, err := in.stdin(stdin)
			if err != nil {
				return err
			}
			defer r.Close()
			run.Stdin = r
		}
		err := run.Do(ctx)
		unbound, ok := errors.AsType[*isolation.BindError](err)
		if !ok {
			return err
		}
		if err := in.copies(in.files[:in.mounts]); err != nil {
			return noRoom(err, noRoomHere)
		}
		run.Binds, in.mounts = nil, 0
		in.x.Note(largeInputs, fmt.Sprintf("copied: %v", unbound))
	}
}

// stdin opens what a program reads on standard input, for a pipe: the program cannot reach a file by it.
func (in *inputs) stdin(v step.Input) (io.ReadCloser, error) {
	if v.Artifact == nil || v.Artifact.Files != nil || v.Artifact.Size < local.Large {
		return in.x.Open(v)
	}
	l, err := in.verified(artifacts.File{Digest: v.Artifact.Digest, Size: v.Artifact.Size})
	if err != nil {
		return nil, err
	}
	in.files = append(in.files, l)
	f, err := os.Open(l.path)
	return struct{ io.ReadCloser }{f}, err
}

// unchanged verifies, when the program has ended, each file that has changed since: the program may have read it then.
func (in *inputs) unchanged() error {
	for _, l := range in.files {
		now, err := hashed.StampOf(l.path)
		if errors.Is(err, os.ErrNotExist) || err == nil && now == l.stamp {
			continue // a removed file stays as long as it is mounted
		}
		if err == nil {
			_, err = in.x.Path(l.Digest)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// withReadOnly adds to a program's failure that it may have tried to change its inputs.
func (in *inputs) withReadOnly(err error) error {
	exit, ok := errors.AsType[*command.ExitError](err)
	if in.mounts == 0 || !ok {
		return err
	}
	for _, of := range []syscall.Errno{syscall.EROFS, syscall.EBUSY, syscall.ENXIO} {
		if strings.Contains(strings.ToLower(exit.Tail), of.Error()) {
			return fmt.Errorf("%w\nIts large inputs are mounted read-only, for it and what it starts: with copy_inputs = true they are copies, which it may move and remove, and which all can read", err)
		}
	}
	return err
}
