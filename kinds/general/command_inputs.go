package general

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/isolation"
	"github.com/redsi/redsi/internal/stores/hashed"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/step"
)

// mostMounts bounds the files that are mounted for a step: the largest ones.
const mostMounts = 1000

// leastOfUser is how many bytes are worth the process that mounts for an account that is not root.
const leastOfUser = 32 << 20

// largeInputs names the note of how they came.
const largeInputs = "large inputs"

// elsewhere finds programs that have others, of another mount namespace or account, read what they
// are given.
var elsewhere = regexp.MustCompile(`(?i)\b(docker|podman|nerdctl|buildah|sudo|su|doas|ssh|srun|sbatch|qsub|bsub|systemd-run|newuidmap)\b`)

// readElsewhere reports whether a command may have its inputs read elsewhere.
func (c commandConfig) readElsewhere() bool {
	return slices.ContainsFunc(slices.Concat(c.Argv, c.Programs, []string{c.Script}, slices.Collect(maps.Values(c.Files))), elsewhere.MatchString)
}

// inputs brings a step's inputs into its folder. Small files are copies, verified as they are
// read. Large ones are the store's own files, verified before: mounted read-only if mount is set
// and that can be, else copied by the system, which shares their blocks where it can.
type inputs struct {
	x     *step.IO
	mount bool
	least int64 // in bytes: fewer are copied

	files  []largeFile // in the order of their names, later of their sizes
	mounts int         // the first of files, the places of which are held
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
	path, err := in.x.Path(l.Digest) // it may have gone from where it was
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(local.Entry(l.folder, l.name, l.File, 0o444, f), f.Close())
}

// binds are what is to be mounted, once all files have been brought.
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

// copies puts copies in places that are held.
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

// run runs the program with its inputs, and with what it reads on standard input if that is set.
// If they cannot be mounted, nothing has begun, and it runs with copies.
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
		var unbound *isolation.BindError
		if !errors.As(err, &unbound) {
			return err
		}
		if err := in.copies(in.files[:in.mounts]); err != nil {
			return noRoom(err, noRoomHere)
		}
		run.Binds, in.mounts = nil, 0
		in.x.Note(largeInputs, fmt.Sprintf("copied: %v", unbound))
	}
}

// stdin opens what a program reads on standard input: by a pipe, through which it gets at no file.
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

// unchanged verifies once more, when the program has ended, each file that is not as it was: it
// may have been read at any time.
func (in *inputs) unchanged() error {
	for _, l := range in.files {
		now, err := hashed.StampOf(l.path)
		if errors.Is(err, os.ErrNotExist) || err == nil && now == l.stamp {
			continue // what is removed stays as long as it is mounted
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

// withReadOnly adds to the failure of a program what it may have tried to do with its inputs.
func (in *inputs) withReadOnly(err error) error {
	var exit *command.ExitError
	if in.mounts == 0 || !errors.As(err, &exit) {
		return err
	}
	for _, of := range []syscall.Errno{syscall.EROFS, syscall.EBUSY, syscall.ENXIO} {
		if strings.Contains(strings.ToLower(exit.Tail), of.Error()) {
			return fmt.Errorf("%w\nIts large inputs are mounted read-only, for it and what it starts: with copy_inputs = true they are copies, which it may move and remove, and which all can read", err)
		}
	}
	return err
}
