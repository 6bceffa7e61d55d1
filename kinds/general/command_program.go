package general

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/command"
	"github.com/redsi/redsi/step"
)

// program is the file that a step starts, with what it was when it was hashed;
// digest is zero where it is one of the step's own files.
type program struct {
	path   string
	digest artifacts.Digest
	seen   artifacts.Seen
}

// programOf finds the program and makes sure that it is the one in the key.
func programOf(ctx context.Context, c commandConfig, dir string) (program, error) {
	if name, ok := strings.CutPrefix(c.Argv[0], "./"); ok {
		return program{path: filepath.Join(dir, filepath.FromSlash(name))}, nil
	}
	path, err := command.Find(c.Argv[0])
	if err != nil {
		return program{}, step.Permanent(fmt.Errorf("on this worker: %w", err))
	}
	p := program{path: path}
	if p.digest, p.seen, err = artifacts.HashFile(ctx, path, nil); err != nil {
		return p, err
	}
	if sum := p.digest.Hex(); sum != strings.ToLower(c.Program) {
		return p, &step.SourceChangedError{Path: path, Err: fmt.Errorf(
			"this worker's %s has sha256 %s, the plan was made with %s: plan and run again if it has changed, and give all workers the same program", path, sum, c.Program)}
	}
	return p, nil
}

// unchanged makes sure that what was started is what had been hashed.
func (p program) unchanged(ctx context.Context) error {
	if p.digest.IsZero() {
		return nil
	}
	same, err := artifacts.Unchanged(ctx, p.path, p.digest, p.seen)
	if err == nil && same {
		return nil
	}
	if err == nil {
		err = errors.New("it has other bytes now")
	}
	return &step.SourceChangedError{Path: p.path, Err: fmt.Errorf("the program changed while it ran: %s: %w; run again", p.path, err)}
}
