package general

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/secret"
	"github.com/redsi/redsi/step"
)

// checkSecrets reports what is wrong with the secrets of a command.
func checkSecrets(bad func(path, format string, args ...any), c commandConfig) {
	for name, source := range c.SecretEnv {
		path := fmt.Sprintf("secret_env[%q]", name)
		if err := secret.CheckSource(source); err != nil {
			bad(path, "%v", err)
		}
		switch _, both := c.Env[name]; {
		case both:
			bad(path, "%s is also in env", name)
		case slices.Contains(ownVariables, name):
			bad(path, "%s is set by the step", name)
		case name == "" || strings.ContainsAny(name, "=\x00"):
			bad(path, "%q is not the name of a variable", name)
		}
	}
	if c.SecretFingerprint && len(c.SecretEnv) == 0 {
		bad("secret_fingerprint", "is for steps with secret_env")
	}
	if c.Fingerprint != "" && !c.SecretFingerprint {
		bad("fingerprint", "is for steps with secret_fingerprint = true, which fills it in")
	}
}

// fingerprinted fills in the fingerprint of a command's secrets, where it can be
// made; one that is there is kept elsewhere.
func fingerprinted(env step.Sources, c commandConfig) (commandConfig, error) {
	f, ok := env.(step.Fingerprinter)
	if !ok || !c.SecretFingerprint {
		return c, nil
	}
	var err error
	c.Fingerprint, err = f.Fingerprint(c.SecretEnv)
	return c, err
}

// secretsOf finds the values of a command's secrets on this worker.
func secretsOf(x *step.IO, c commandConfig) (secret.Set, error) {
	s, err := secret.Finder{Vars: x.Secrets}.Values(c.SecretEnv)
	if err != nil {
		return nil, step.Permanent(err)
	}
	return s, nil
}

// withoutSecrets is an error whose text has no value of a secret. A program that
// wrote one into what it leaves will do so again.
func withoutSecrets(err error, s secret.Set) error {
	if err == nil || len(s) == 0 {
		return err
	}
	var leak *secret.LeakError
	text := err.Error()
	shown := s.Redact(text)
	if shown != text {
		text = shown
		err2 := errors.New(text)
		if step.IsPermanent(err) {
			return step.Permanent(err2)
		}
		return err2
	}
	if errors.As(err, &leak) {
		return step.Permanent(fmt.Errorf("%w; nothing of it was kept. Results are for everybody who reads the store: let the program leave its secrets out", err))
	}
	return err
}

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
