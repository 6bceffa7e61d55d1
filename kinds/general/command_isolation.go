package general

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/host/environment/realize"
	"github.com/redsi/redsi/internal/host/isolation"
	"github.com/redsi/redsi/internal/host/secret"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

type outside struct {
	mode    isolation.Mode
	found   isolation.Findings
	secrets secret.Set // findings are told without them
}

var outsideOf = map[isolation.Mode]string{
	isolation.Warn:    "outside its folder and the system it used",
	isolation.Enforce: "outside its folder and the system it was refused",
}

// outsideShown bounds the folders that a result and an error name.
const outsideShown = 20

// boxed gives a run the box that its step asks for, in which its programs may be read; the first one is started.
func boxed(c commandConfig, run *command.Run, programs []program, within *realize.Env) *outside {
	o := &outside{mode: isolation.Mode(c.Isolation)}
	if o.mode != isolation.Off {
		started := lists.Map(programs[1:], func(p program) string { return p.path })
		reads := slices.Concat(c.Reads, started, within.Reads())
		run.Box = &isolation.Box{Mode: o.mode, Dir: run.Dir, Program: run.Program, Reads: reads}
		run.Env["HOME"], run.Env["TMPDIR"] = run.Box.Path(""), run.Box.Path("tmp")
		if paths := c.searched(run.Box.Path("")); paths != "" {
			run.Env["PYTHONPATH"] = paths
		}
		run.Found = func(f isolation.Findings) { o.found = f }
	}
	return o
}

// conclude tells what was found, in the log and with the result, and turns the program's end, err, into the step's:
// what was refused fails the step, since its result may depend on it.
func (o *outside) conclude(ctx context.Context, x *step.IO, c commandConfig, err error) error {
	if o.mode == isolation.Off {
		return err
	}
	x.Note("isolation", c.Isolation)
	if len(c.Reads) > 0 {
		x.Note("isolation, may read", strings.Join(c.Reads, ", "))
	}
	x.Count("outside", int64(len(o.found.List)+o.found.More))
	text, complete := o.found.Text(outsideShown)
	text = o.secrets.Redact(text)
	if text == "" || ctx.Err() != nil {
		return err
	}
	if !complete && x.Stderr != nil { // the log, on which no step depends
		_, _ = io.WriteString(x.Stderr, outsideOf[o.mode]+", each:\n"+o.secrets.Redact(o.found.Lines()))
		text += " (redsi logs has each)"
	}
	x.Note("isolation, "+outsideOf[o.mode], text)
	x.Log.Warn(outsideOf[o.mode] + ": " + text)
	names := c.opened(o.found)
	switch {
	case len(names) > 0:
		told := fmt.Errorf("it used files of the pipeline's folder that its key does not have: %s. Write code = [%s] or, of data, give them in inputs by a source block, and let it use paths in its own folder", words.And(names, mostStrays), quotedAll(names))
		return step.Permanent(errors.Join(err, told))
	case err != nil:
		return fmt.Errorf("%w\n%s: %s", err, outsideOf[o.mode], text)
	case o.mode == isolation.Enforce && len(o.found.List) > 0:
		return step.Permanent(fmt.Errorf("%s succeeded, but %s: %s. Pass what it needs in files or inputs, or allow it with isolation_reads", c.called(), outsideOf[o.mode], text))
	}
	return nil
}

var threadVariables = []string{"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
	"NUMBA_NUM_THREADS", "RAYON_NUM_THREADS", "POLARS_MAX_THREADS", "JULIA_NUM_THREADS", "LOKY_MAX_CPU_COUNT", "GOMAXPROCS", "REDSI_CPUS"}

// tell adds to a program's environment what the step was given of the machine; variables that are set stay.
func tell(env map[string]string, given step.Granted) {
	say := func(name, value string) {
		if _, set := env[name]; !set {
			env[name] = value
		}
	}
	if given.CPUs > 0 {
		for _, name := range threadVariables {
			say(name, strconv.Itoa(given.CPUs))
		}
	}
	if given.Memory > 0 {
		say("REDSI_MEMORY", strconv.FormatInt(given.Memory, 10))
	}
	if given.Cards != "" {
		say("CUDA_VISIBLE_DEVICES", given.Cards)
	}
}

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

// withoutSecrets returns an error whose text has no value of a secret. A leak into what a program leaves is
// permanent: the program would do the same in a retry.
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

// cleaned returns an error without secrets that decides about a retry as err does, as far as the texts of its causes
// have no value of a secret.
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

type redacted struct {
	text   string
	causes []error
}

func (r *redacted) Error() string   { return r.text }
func (r *redacted) Unwrap() []error { return r.causes }

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
		return err // the output is incomplete, and stays open
	}
	return g.out.Close()
}
