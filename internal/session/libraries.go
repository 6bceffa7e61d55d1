package session

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/fetch"
	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/libraries"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

// planLibraries reads which packages interpreters have, once per plan.
type planLibraries struct {
	memory  *libraries.Memory
	seen    map[string]*libraries.Environment // by program
	all     map[string]*libraries.Environment // of all plans, by the digest in keys
	recipes map[string][]byte                 // of environments, by the digest in configurations
}

// newLibraries begins a plan; the session remembers its environments.
func (se *Session) newLibraries() planLibraries {
	if se.libraries.memory == nil {
		se.libraries = planLibraries{memory: &libraries.Memory{File: filepath.Join(se.StateDir, "libraries.json")}, all: map[string]*libraries.Environment{}, recipes: map[string][]byte{}}
	}
	return planLibraries{se.libraries.memory, map[string]*libraries.Environment{}, se.libraries.all, se.libraries.recipes}
}

// Libraries is what is installed for a program's interpreter; nil if it has none.
func (p planLibraries) Libraries(ctx context.Context, program string) (*libraries.Environment, error) {
	if e, ok := p.seen[program]; ok {
		return e, nil
	}
	e, err := p.memory.Of(ctx, program, command.Find)
	if err != nil {
		return nil, err
	}
	p.seen[program] = e
	if e != nil {
		p.all[e.Digest.Hex()] = e
	}
	return e, nil
}

func (se *Session) Know(p *pipeline.Pipeline) {
	se.newLibraries()
	for _, e := range p.Environments {
		se.libraries.all[e.Packages.Digest.Hex()] = e.Packages
		se.libraries.recipes[e.Recipe.Hex()] = e.Text
	}
}

// librariesOf are the digests of environments in a task's configuration, and of their recipes.
func librariesOf(t step.Task) (digests []string) {
	var c struct {
		Libraries   []string
		Environment struct{ Packages, Recipe string }
	}
	if !bytes.Contains(t.Config, []byte(`"libraries":["`)) && !bytes.Contains(t.Config, []byte(`"environment":{`)) {
		return nil
	}
	if json.Unmarshal(t.Config, &c) == nil {
		digests = c.Libraries
	}
	if c.Environment.Packages != "" {
		digests = append(digests, c.Environment.Packages, c.Environment.Recipe)
	}
	return digests
}

// Counted lists the environments in the keys of steps, a line each.
func (se *Session) Counted(steps []plan.Step) (lines []string) {
	of := map[string]int{}
	for _, s := range steps {
		for _, d := range librariesOf(s.Task) {
			of[d]++
		}
	}
	for _, d := range slices.Sorted(maps.Keys(of)) {
		if e := se.libraries.all[d]; e != nil {
			lines = append(lines, e.String())
		}
	}
	return lines
}

const shownSteps = 3

// Unkeyed lists the packages of which the keys of steps have nothing, a line each.
func (se *Session) Unkeyed(steps []plan.Step) (lines []string) {
	defer command.Remember()()
	of := map[string][]string{}
	for _, s := range steps {
		if spec := se.Registry.Lookup(s.Task.Kind); spec != nil {
			for _, what := range spec.Unkeyed(s.Task) {
				of[what] = append(of[what], s.Address)
			}
		}
	}
	for _, what := range slices.Sorted(maps.Keys(of)) {
		line := what
		if len(steps) > 1 {
			line += ", of " + words.And(of[what], shownSteps)
		}
		lines = append(lines, line)
	}
	return lines
}

// StoreLibraries stores the package lists in a plan's keys, for workers that tell which of theirs differ.
func (se *Session) StoreLibraries(ctx context.Context, store artifacts.Store, pl *plan.Plan) error {
	put := map[string]bool{}
	for _, s := range pl.Steps {
		for _, d := range librariesOf(s.Task) {
			text := se.libraries.recipes[d]
			if e := se.libraries.all[d]; e != nil {
				text = e.Text
			}
			if text != nil && !put[d] {
				put[d] = true
				if _, _, err := store.Blobs.Put(ctx, bytes.NewReader(text)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Differ is comparePreimages that names packages where it finds the lists of them.
func (se *Session) Differ(ctx context.Context, store *artifacts.Resolver) journal.Differ {
	return func(before, after []byte) ([]step.Change, error) {
		changes, err := ComparePreimages(before, after)
		var told []step.Change
		for _, c := range changes {
			packages := se.packages(ctx, store, c)
			if packages == nil {
				packages = []step.Change{c}
			}
			told = append(told, packages...)
		}
		return told, err
	}
}

// packages are the changes of an environment, or nil.
func (se *Session) packages(ctx context.Context, store *artifacts.Resolver, c step.Change) []step.Change {
	at := "config.libraries."
	switch {
	case c.Path == "config.environment.packages":
		at = "config.environment."
	case !strings.HasPrefix(c.Path, "config.libraries["):
		return nil
	}
	old, was := se.manifest(ctx, store, c.Old)
	now, is := se.manifest(ctx, store, c.New)
	if !was || !is {
		return nil
	}
	return lists.Map(libraries.Compare(old, now), func(d libraries.Difference) step.Change {
		return step.Change{Path: at + d.Name, Old: quotedOr(d.Old), New: quotedOr(d.New)}
	})
}

func quotedOr(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("%q", text)
}

// manifest is the list with a digest, given as JSON: from a plan here, or from the store.
func (se *Session) manifest(ctx context.Context, store *artifacts.Resolver, quoted string) (m libraries.Manifest, ok bool) {
	hex := strings.Trim(quoted, `"`)
	if e := se.libraries.all[hex]; e != nil {
		return e.Manifest, true
	}
	d, err := artifacts.ParseHex(hex)
	if err != nil {
		return m, false
	}
	text, err := artifacts.ReadBlob(ctx, store, d, libraries.MaxText)
	if err != nil {
		return m, false
	}
	m, err = libraries.Parse(text)
	return m, err == nil
}

// ComparePreimages compares two preimages or tasks for showing: URLs are without credentials.
func ComparePreimages(before, after []byte) ([]step.Change, error) {
	changes, err := step.Diff(before, after)
	for i, c := range changes {
		c.Old, c.New = fetch.Redact(c.Old), fetch.Redact(c.New)
		if c.Old == c.New {
			c.New += " (what is hidden differs)"
		}
		changes[i] = c
	}
	return changes, err
}
