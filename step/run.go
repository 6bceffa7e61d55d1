package step

import (
	"context"
	"fmt"

	"github.com/redsi/redsi/artifacts"
)

// Split cuts a task into parts; nil for kinds that do not split.
func (s *Spec) Split(ctx context.Context, io *IO, tree map[string]any) ([]Task, error) {
	if s.Kind.Split == nil {
		return nil, nil
	}
	c, err := s.Decode(tree)
	if err != nil {
		return nil, Permanent(err)
	}
	return s.Kind.Split(ctx, io, c)
}

// Known lists the files of a task's outputs that are trees as far as its parts have results.
func (s *Spec) Known(io *IO, tree map[string]any, parts []*artifacts.Result) (map[string][]artifacts.File, error) {
	if s.Kind.Known == nil {
		return nil, nil
	}
	known, err := ofTree(s, func(c any) map[string][]artifacts.File { return s.Kind.Known(io, c, parts) }, tree)
	return known, Permanent(err)
}

// Run runs a task whose inputs are all known, in this program: see Elsewhere.
func (s *Spec) Run(ctx context.Context, io *IO, tree map[string]any) error {
	c, err := s.Decode(tree)
	if err != nil {
		return Permanent(err)
	}
	if s.elsewhere(c) {
		return Permanent(fmt.Errorf("kind %s needs %s, which this program does not have", s.Name, s.Needs))
	}
	return s.Kind.Run(ctx, io, c)
}

// Stage fills the folder dir with what a run of the task would find there: inputs that
// are read-only, and files. For a kind that runs no program it does nothing and returns nil.
func (s *Spec) Stage(ctx context.Context, io *IO, tree map[string]any, dir string) (*Program, error) {
	if s.Kind.Stage == nil {
		return nil, nil
	}
	c, err := s.Decode(tree)
	if err != nil {
		return nil, Permanent(err)
	}
	p, err := s.Kind.Stage(ctx, io, c, dir)
	return &p, err
}
