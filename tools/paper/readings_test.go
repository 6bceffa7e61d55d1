package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/kinds"
)

// planned is a step of a reading.
type planned struct {
	step    string // without its for_each key
	config  map[string]any
	whole   string // its own configuration, the steps that it reads by their addresses
	content string // its configuration, the steps that it reads by theirs: equal ones have equal keys
}

// planOf evaluates pipelines.hcl at full scale in a reading.
func planOf(t *testing.T, reading string) map[string]planned {
	t.Helper()
	src := testkit.Value(syntax.Read(filepath.Join("..", "..", "pipelines.hcl")))(t)
	p, ds := pipeline.Load(src, pipeline.Options{Registry: kinds.Registry(), World: pipeline.World{ReadFile: os.ReadFile}, Vars: map[string]string{"reading": reading}})
	if ds.HasErrors() {
		t.Fatal(ds.Err())
	}
	byAddress := map[string]pipeline.Step{}
	for _, s := range p.Steps {
		byAddress[s.Address] = s
	}
	out := map[string]planned{}
	var content func(address string) string
	content = func(address string) string {
		if done, ok := out[address]; ok {
			return done.content
		}
		s := byAddress[address]
		var config map[string]any
		testkit.None(t, json.Unmarshal(s.Task.Config, &config))
		bound := follow(config, func(ref map[string]any) any {
			return []any{content(ref["step"].(string)), ref["output"]}
		})
		b := testkit.Value(json.Marshal(bound))(t)
		block, _, _ := strings.Cut(address, "[")
		done := planned{step: block, config: config, whole: string(s.Task.Config), content: fmt.Sprintf("%s %x", s.Task.Kind, sha256.Sum256(b))}
		out[address] = done
		return done.content
	}
	for address := range byAddress {
		content(address)
	}
	return out
}

// follow replaces the references in a configuration.
func follow(v any, of func(ref map[string]any) any) any {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(map[string]any); ok {
			return of(ref)
		}
		out := map[string]any{}
		for k, e := range v {
			out[k] = follow(e, of)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = follow(e, of)
		}
		return out
	}
	return v
}

// differing names what two configurations have of their own that is not equal.
func differing(a, b any, path string, names map[string]bool) {
	am, ok1 := a.(map[string]any)
	bm, ok2 := b.(map[string]any)
	if !ok1 || !ok2 {
		if fmt.Sprint(a) != fmt.Sprint(b) {
			names[path] = true
		}
		return
	}
	all := maps.Clone(am)
	maps.Copy(all, bm)
	for k := range all {
		differing(am[k], bm[k], k, names)
	}
}

// TestReadings: docs/reproduction-tables.md says what the paper's reading shares with its released code's, and why.
func TestReadings(t *testing.T) {
	paper, released := planOf(t, "paper"), planOf(t, "released")
	type count struct {
		shared, other int
		options       map[string]bool
	}
	counts := map[string]*count{}
	var total count
	for address, p := range paper {
		r, ok := released[address]
		if !ok {
			t.Fatalf("%s is in one reading alone", address)
		}
		c := counts[p.step]
		if c == nil {
			c = &count{options: map[string]bool{}}
			counts[p.step] = c
		}
		if p.content == r.content {
			c.shared++
			total.shared++
			continue
		}
		c.other++
		total.other++
		if p.whole != r.whole {
			differing(p.config, r.config, "", c.options)
		}
	}
	testkit.Is(t, len(paper), len(released))
	var b strings.Builder
	b.WriteString("\n| steps | shared | different | by their own |\n|---|--:|--:|---|\n")
	for _, step := range slices.Sorted(maps.Keys(counts)) {
		c := counts[step]
		if c.other == 0 {
			continue
		}
		why := "what they read"
		if len(c.options) > 0 {
			why = "`" + strings.Join(slices.Sorted(maps.Keys(c.options)), "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %d | %d | %s |\n", step, c.shared, c.other, why)
	}
	fmt.Fprintf(&b, "| **all %d** | %d | %d | |\n\n", total.shared+total.other, total.shared, total.other)
	compareDoc(t, "readings", b.String())
}
