package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"strconv"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/compute"
	"github.com/redsi/redsi/internal/paper/alike"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// Rebuilt is how a step that was run again compares with its result.
type Rebuilt struct {
	Stands, Made *artifacts.Result
	alike.Comparison
	Threads int  // of an operation, of a step that computes; else 0
	First   bool // there was no result, and Made is it now
}

// RebuildOptions say how a step is run again.
type RebuildOptions struct {
	// Threads of an operation; 0: as many as the result names, where results depend on that.
	Threads int

	// Readers returns the steps of a kind that read an output, for models, which are compared by their evaluations. nil:
	// there are none.
	Readers func(ctx context.Context, output, kind string) ([]Reader, error)
}

// Reader is a step that reads an output, its inputs bound to the results that stand.
type Reader struct {
	Address string
	Task    step.Task
}

// rebuiltNote labels the results that Rebuild keeps beside the result that stands.
const rebuiltNote = "rebuilt"

// Rebuild runs a task, and the parts that it is cut into, although there is a result, and compares what it leaves by
// its kind's rules: the result that is there stays, and other bytes are recorded as non-determinism, labelled with
// the verdict. It needs no Temporal.
func (a *Activities) Rebuild(ctx context.Context, address string, key artifacts.Digest, task step.Task, o RebuildOptions) (r Rebuilt, err error) {
	before, err := artifacts.Lookup(ctx, a.Store, key)
	if err != nil {
		return r, err
	}
	if o.Threads > 0 {
		a.Models.SetThreads(o.Threads)
		a.Models.Share(o.Threads)
	} else if before != nil {
		a.Models.Share(noted(*before, compute.ThreadsNote)) // which counts where results depend on it
	}
	var of admitted // as many threads as the result that stands had
	if before != nil {
		of.CPUs = noted(*before, cpusNote)
	}
	r.Made, err = a.make(ctx, address, key, task, of, func(label string, key artifacts.Digest, part step.Task) (*artifacts.Result, error) {
		p, err := a.Rebuild(ctx, label, key, part, o)
		return p.Made, err
	})
	if err != nil {
		return r, err
	}
	r.Threads = noted(*r.Made, compute.ThreadsNote)
	r.Verdict, r.First = alike.Same, before == nil
	if r.Stands = before; before != nil {
		if r.Comparison, err = a.Compare(ctx, task, *before, *r.Made, o); err != nil {
			return r, fmt.Errorf("%s: %w", address, err)
		}
	}
	if before == nil || r.Verdict != alike.Same {
		kept := *r.Made
		if before != nil {
			kept.Env = maps.Clone(kept.Env) // which is not nil
			kept.Env[step.NotePrefix+rebuiltNote] = string(r.Verdict)
		}
		if r.Stands, _, err = artifacts.Publish(ctx, a.Store, kept); err != nil {
			return r, err
		}
	}
	return r, a.checkpoints(key).Clear(ctx)
}

// make runs a task whose parts part computes or finds. It publishes nothing.
func (a *Activities) make(ctx context.Context, address string, key artifacts.Digest, task step.Task, of admitted,
	part func(label string, key artifacts.Digest, task step.Task) (*artifacts.Result, error)) (*artifacts.Result, error) {
	_, preimage, err := a.Registry.Key(task)
	if err != nil {
		return nil, err
	}
	spec := a.Registry.Lookup(task.Kind)
	req := workflows.ExecuteRequest{Key: key, Address: address}
	pieces, err := a.pieces(ctx, req, spec, task)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	parts := make([]artifacts.Result, len(pieces))
	for i, p := range pieces {
		k, _, err := a.Registry.Key(p)
		if err != nil {
			return nil, err
		}
		made, err := part(fmt.Sprintf("%s, %s %d of %d", address, p.Kind, i+1, len(pieces)), k, p)
		if err != nil {
			return nil, err
		}
		parts[i] = *made
	}
	log := &stepLog{}
	did, err := a.run(ctx, req, spec, task, parts, of, log, false) // from its beginning
	if err != nil {
		a.sourceChanged(err)
		a.misread(ctx, err)
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	did.Env = of.notes(did.Env)
	made := did.result(key, preimage, parts)
	made.Origin, made.Log = artifacts.Origin{Step: address}, log.keep(ctx, a, address)
	return &made, nil
}

// have returns the result of a task, which it computes and publishes if there is none.
func (a *Activities) have(ctx context.Context, address string, key artifacts.Digest, task step.Task) (*artifacts.Result, error) {
	there, err := artifacts.Lookup(ctx, a.Store, key)
	if err != nil || there != nil {
		return there, err
	}
	made, err := a.make(ctx, address, key, task, admitted{}, func(label string, key artifacts.Digest, part step.Task) (*artifacts.Result, error) {
		return a.have(ctx, label, key, part)
	})
	if err != nil {
		return nil, err
	}
	won, _, err := artifacts.Publish(ctx, a.Store, *made)
	return won, errors.Join(err, a.checkpoints(key).Clear(ctx))
}

// Compare judges a new result of a task by the result that stands, by the rules of its kind.
func (a *Activities) Compare(ctx context.Context, task step.Task, stands, made artifacts.Result, o RebuildOptions) (alike.Comparison, error) {
	spec := a.Registry.Lookup(task.Kind)
	rules, err := spec.Rules(task)
	if err != nil {
		return alike.Comparison{}, err
	}
	return alike.Compare(ctx, a.Store, spec.Outputs, rules, stands.Outputs, made.Outputs,
		func(ctx context.Context, output string, rule step.Evaluated) (alike.Found, error) {
			return a.evaluateBoth(ctx, output, rule, stands.Outputs[output], made.Outputs[output], o)
		})
}

// evaluateBoth runs the steps that evaluate a model on the model that stands, unless they have results, and on the
// new model, and compares the evaluations.
func (a *Activities) evaluateBoth(ctx context.Context, output string, rule step.Evaluated, stands, made artifacts.Artifact, o RebuildOptions) (alike.Found, error) {
	f := alike.Found{Verdict: alike.Same}
	var readers []Reader
	if o.Readers != nil {
		var err error
		if readers, err = o.Readers(ctx, output, rule.By); err != nil {
			return f, err
		}
	}
	for _, r := range readers {
		old, err := a.evaluated(ctx, r, r.Task)
		if err != nil {
			return f, fmt.Errorf("evaluate the stored one: %w", err)
		}
		other, err := withInput(a.Registry, r.Task, stands.Digest, made)
		if err != nil {
			return f, fmt.Errorf("%s: %w", r.Address, err)
		}
		now, err := a.evaluated(ctx, r, other)
		if err != nil {
			return f, fmt.Errorf("evaluate the new one: %w", err)
		}
		g, err := alike.CompareEvaluated(ctx, a.Store, r.Address, rule, old.Outputs[rule.Output], now.Outputs[rule.Output])
		if err != nil {
			return f, fmt.Errorf("%s: %w", r.Address, err)
		}
		f.Add(g)
		f.By = append(f.By, r.Address)
	}
	f.Unjudged(len(readers) == 0, output, rule)
	return f, nil
}

func (a *Activities) evaluated(ctx context.Context, r Reader, task step.Task) (*artifacts.Result, error) {
	key, _, err := a.Registry.Key(task)
	if err != nil {
		return nil, err
	}
	return a.have(ctx, r.Address, key, task)
}

// withInput returns a task that reads another artifact in place of the digest was.
func withInput(reg *step.Registry, t step.Task, was artifacts.Digest, is artifacts.Artifact) (step.Task, error) {
	tree, err := t.Tree()
	if err != nil {
		return t, err
	}
	other, err := step.MapInputs(tree, func(_ string, in step.Input) (step.Input, error) {
		if in.Artifact != nil && in.Artifact.Digest == was {
			return step.In(is), nil
		}
		return in, nil
	})
	if err != nil {
		return t, err
	}
	return step.NewTask(reg.Lookup(t.Kind), other.(map[string]any))
}

// ConfigFile is where a staged folder has the step's configuration, as JSON.
const ConfigFile = step.OwnFolder + "/config.json"

// Stage fills an empty folder with a task's inputs, verified and read-only, and its configuration. The inputs of a
// kind that runs a program lie where the program finds them; other inputs lie under in/ by their attributes, and the
// program is nil.
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

// stager copies the inputs of a configuration.
type stager struct {
	x      *step.IO
	dir    string
	copies bool // inputs are copied, to paths as in the configuration
}

// shownInput is an input in a configuration for people.
type shownInput struct {
	Type   string           `json:"type"`
	Digest artifacts.Digest `json:"digest"`
	Size   int64            `json:"size"`
	Path   string           `json:"path,omitempty"`
}

// value copies the inputs of a configuration's value, and returns the value for people.
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

// fileSegment returns a part of a file name for an attribute or a key of a map.
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
