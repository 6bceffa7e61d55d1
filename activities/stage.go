package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// ConfigFile is where a staged folder has the step's configuration, as JSON.
const ConfigFile = step.OwnFolder + "/config.json"

// Stage fills an empty folder with a task's inputs, verified and read-only, and its
// configuration. The inputs of a kind that runs a program lie where that would find
// them; of others, under in/ by the attribute that takes them, and the program is nil.
func (a *Activities) Stage(ctx context.Context, address string, key artifacts.Digest, task step.Task, given step.Granted, dir string) (*step.Program, error) {
	spec, err := a.kindOf(workflows.ExecuteRequest{Address: address}, task)
	if err != nil {
		return nil, err
	}
	tree, err := task.Tree()
	if err != nil {
		return nil, err
	}
	x := step.NewIO(ctx, spec, a.newHost(ctx, key), a.Log, nil)
	x.Granted = given
	program, err := spec.Stage(ctx, x, tree, dir)
	if err != nil {
		return nil, err
	}
	s := stager{x: x, dir: dir, copies: program == nil}
	shown, err := s.value(tree, "in")
	if err != nil {
		return nil, err
	}
	config, err := json.MarshalIndent(map[string]any{"step": address, "key": key, "kind": task.Kind, "config": shown}, "", "  ")
	if err != nil {
		return nil, err
	}
	return program, local.Create(dir, ConfigFile, 0o644, bytes.NewReader(append(config, '\n')))
}

// stager goes through a configuration.
type stager struct {
	x      *step.IO
	dir    string
	copies bool // inputs are copied to where they are in the configuration
}

// shownInput is in a configuration that people read.
type shownInput struct {
	Type   string           `json:"type"`
	Digest artifacts.Digest `json:"digest"`
	Size   int64            `json:"size"`
	Path   string           `json:"path,omitempty"`
}

// value returns a configuration's value as it is shown, having copied its inputs.
func (s *stager) value(v any, at string) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		shown := make(map[string]any, len(v))
		for name, x := range v {
			var err error
			if shown[name], err = s.value(x, path.Join(at, fileSegment(name))); err != nil {
				return nil, err
			}
		}
		return shown, nil
	case []any:
		shown := make([]any, len(v))
		for i, x := range v {
			var err error
			if shown[i], err = s.value(x, path.Join(at, strconv.Itoa(i))); err != nil {
				return nil, err
			}
		}
		return shown, nil
	case step.Input:
		return s.input(v, at)
	}
	return v, nil
}

func (s *stager) input(in step.Input, at string) (any, error) {
	if in.Artifact == nil {
		return nil, nil
	}
	shown := shownInput{Type: in.Artifact.Type, Digest: in.Artifact.Digest, Size: in.Artifact.Size}
	if !s.copies {
		return shown, nil
	}
	shown.Path = at
	for _, f := range s.x.Files(in, "") {
		r, err := s.x.OpenFile(f)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(local.Create(s.dir, path.Join(at, f.Name), 0o444, r), r.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
	}
	return shown, nil
}

// fileSegment makes a part of a file name of an attribute or a key of a map.
func fileSegment(name string) string {
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:`, r) || r < ' ' {
			return '_'
		}
		return r
	}, name)
	if artifacts.CheckFileName(name) != nil {
		return "_"
	}
	return name
}
