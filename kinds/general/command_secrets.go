package general

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/host/environment/realize"
	"github.com/redsi/redsi/internal/host/secret"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// checkSecrets reports what is wrong with the secrets of a command.
func checkSecrets(ps *step.Problems, c commandConfig) {
	for _, name := range slices.Sorted(maps.Keys(c.SecretEnv)) {
		path := fmt.Sprintf("secret_env[%q]", name)
		inout.CheckError(ps, path, secret.CheckSource(c.SecretEnv[name]))
		_, both := c.Env[name]
		inout.Check(ps, path, !both, "%s is also in env", name)
		checkVariable(ps, path, name)
		inout.Check(ps, path, c.Environment == nil || c.Environment.Kind != environment.Image || !slices.Contains(realize.Clients, name), "%s is what an engine itself reads, so that its value would be on the engine's command line: give the secret another name", name)
	}
}

// withoutSecrets is an error whose text has no value of a secret. A program that
// wrote one into what it leaves will do so again.
func withoutSecrets(err error, s secret.Set) error {
	if err == nil || len(s) == 0 {
		return err
	}
	if s.Redact(err.Error()) != err.Error() {
		clean := cleaned(err, s)
		if step.IsPermanent(err) {
			clean = step.Permanent(clean)
		}
		return clean
	}
	if _, leaked := errors.AsType[*secret.LeakError](err); leaked {
		return step.Permanent(fmt.Errorf("%w; nothing of it was kept. Everybody who reads the store can read results: let the program leave its secrets out", err))
	}
	return err
}

// cleaned is an error of the same kind, which decides about a retry, as far as its causes
// have no value of a secret in their own texts.
func cleaned(err error, s secret.Set) error {
	text := s.Redact(err.Error())
	if text == err.Error() {
		return err
	}
	if changed, ok := err.(*step.SourceChangedError); ok {
		return &step.SourceChangedError{Path: s.Redact(changed.Path), Err: errors.New(text)}
	}
	clean := &redacted{text: text}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if cause := e.Unwrap(); cause != nil {
			clean.causes = []error{cleaned(cause, s)}
		}
	case interface{ Unwrap() []error }:
		for _, cause := range e.Unwrap() {
			clean.causes = append(clean.causes, cleaned(cause, s))
		}
	}
	return clean
}

// redacted is an error with a text without secrets.
type redacted struct {
	text   string
	causes []error
}

func (r *redacted) Error() string   { return r.text }
func (r *redacted) Unwrap() []error { return r.causes }

// guarded is a writer that refuses the values of secrets.
type guarded struct {
	io.WriteCloser
	out io.Closer
}

func guardOutput(w io.WriteCloser, s secret.Set) io.WriteCloser {
	if len(s) == 0 {
		return w
	}
	return guarded{s.Guard(w), w}
}

func (g guarded) Close() error {
	if err := g.WriteCloser.Close(); err != nil {
		return err // what was written is not complete, so it is not closed
	}
	return g.out.Close()
}
