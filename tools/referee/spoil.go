package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// spoilt is a fault of what is served, and what must be said of it.
type spoilt struct {
	name string
	do   func(t target) (undo func() error, err error)
	verb string // that meets it
	says *regexp.Regexp
}

// target is the result of a table with one of its blobs.
type target struct {
	address, record, blob string
}

// spoil plays each fault against an empty store.
func (r *referee) spoil(ctx context.Context) error {
	t, err := r.target(ctx)
	if err != nil {
		return err
	}
	for i, s := range []spoilt{
		{"one flipped byte", func(t target) (func() error, error) {
			return edit(t.blob, func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
		}, "run", regexp.MustCompile(`is corrupt`)},
		{"one planted record", func(t target) (func() error, error) {
			return edit(t.record, planted)
		}, "plan", regexp.MustCompile(`not the one that authors signed`)},
		{"one missing blob", func(t target) (func() error, error) {
			moved := t.blob + ".gone"
			return func() error { return os.Rename(moved, t.blob) }, os.Rename(t.blob, moved)
		}, "plan", regexp.MustCompile(`without its blobs`)},
		{"a host that dies half way", func(target) (func() error, error) {
			r.host.half = true
			return func() error { r.host.half = false; return nil }, nil
		}, "run", regexp.MustCompile(`127\.0\.0\.1:[0-9]+`)},
	} {
		if err := r.fault(ctx, i, s, t); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Printf("%8s  %s of %s: named, and nothing of it is here\n", "ok", s.name, t.address)
	}
	return nil
}

// fault plays one: the verb must fail and say what is wrong, and the store stay whole.
func (r *referee) fault(ctx context.Context, i int, s spoilt, t target) error {
	undo, err := s.do(t)
	if err != nil {
		return err
	}
	store := r.path(fmt.Sprintf("store%d", i))
	results := r.path(fmt.Sprintf("results%d", i))
	args := []string{s.verb, "--store", store, "--trust", r.key, "--target", t.address}
	if s.verb == "plan" {
		args = append(args, "--detailed-exitcode")
	} else {
		args = append(args, "--out", results)
	}
	said, failed := r.run(ctx, r.path("clone"), nil, append(args, r.args...)...)
	if err := undo(); err != nil {
		return err
	}
	if failed == nil || !s.says.MatchString(said) {
		return fmt.Errorf("it is not named: %s", said)
	}
	if _, err := os.Stat(results); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s was written", results)
	}
	if _, err := r.run(ctx, r.path("clone"), nil, "verify", "--store", store); err != nil {
		return err
	}
	return nil
}

// target finds a table that is published, its record and a blob of it.
func (r *referee) target(ctx context.Context) (t target, err error) {
	out, err := r.run(ctx, r.path("clone"), nil, append([]string{"plan", "--json", "--trust", r.key, "--store", r.path("none")}, r.args...)...)
	if err != nil {
		return t, err
	}
	var plan struct {
		Steps []struct{ Address, Kind, Key string }
	}
	if err := json.Unmarshal([]byte(out), &plan); err != nil {
		return t, err
	}
	for _, s := range plan.Steps {
		if s.Kind != "render_table" {
			continue
		}
		t.address = s.Address
		t.record = filepath.Join(r.public, "records", "results", strings.TrimPrefix(s.Key, "sha256:")+".json")
		b, err := os.ReadFile(t.record)
		if err != nil {
			return t, err
		}
		var record struct {
			Outputs map[string]struct{ Digest string }
		}
		if err := json.Unmarshal(b, &record); err != nil {
			return t, err
		}
		hex := strings.TrimPrefix(record.Outputs["markdown"].Digest, "sha256:")
		if len(hex) != 64 {
			return t, fmt.Errorf("%s has no markdown", t.address)
		}
		t.blob = filepath.Join(r.public, "blobs", hex[:2], hex[2:])
		return t, nil
	}
	return t, errors.New("the pipeline has no table")
}

// planted is a record with other outputs and a right seal, as anybody can make one.
func planted(record []byte) []byte {
	body, _, _ := strings.Cut(string(record), `,"seal":"`)
	body = regexp.MustCompile(`("markdown":\{[^}]*"digest":"sha256:)[0-9a-f]{64}`).ReplaceAllString(body, "${1}"+strings.Repeat("a", 64))
	return fmt.Appendf(nil, `%s,"seal":"sha256:%x"}`, body, sha256.Sum256([]byte(body)))
}

// edit changes a file, which may be read-only; undo changes it back.
func edit(path string, change func([]byte) []byte) (undo func() error, err error) {
	before, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	write := func(b []byte) error {
		if err := os.Remove(path); err != nil {
			return err
		}
		return os.WriteFile(path, b, 0o644)
	}
	return func() error { return write(before) }, write(change([]byte(string(before))))
}
