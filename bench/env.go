package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/redsi/redsi/internal/host/compute"
)

// env is where a run keeps things and how thorough it is.
type env struct {
	ctx     context.Context
	dir     string // of what is kept between runs
	scratch string // of what lines of this run have in common
	quick   bool
	pairs   int // at least
	cores   int // threads of each side

	card     string        // that lines cuda/… are measured on: cuda:0, or cpu to try them
	peerTime time.Duration // of the peer of a work to its end; ours have no second round beyond it

	ran   map[string]sample      // the last of each command, for lines that are measured once
	at    session                // this run
	kept  sync.Map               // of what this run has built, found, or failed to build, by name
	redsi func() (string, error) // the path of what users have, built anew, once; beside it is the program that computes models
}

func newEnv(ctx context.Context, quick bool, cores int) (*env, error) {
	deps := os.Getenv("REDSI_DEPS")
	if deps == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		deps = filepath.Join(cache, "redsi")
	}
	e := &env{ctx: ctx, dir: filepath.Join(deps, "bench"), quick: quick, cores: cores, pairs: agreeing,
		card: "cuda:0", peerTime: time.Minute, ran: map[string]sample{}}
	if quick {
		e.pairs = 1
	}
	e.redsi = sync.OnceValues(e.build)
	return e, os.MkdirAll(e.dir, 0o755)
}

// keep returns a folder that make has filled, now or in an earlier run.
func (e *env) keep(name string, make func(dir string) error) (string, error) {
	dir := filepath.Join(e.dir, name)
	once, _ := e.kept.LoadOrStore(name, sync.OnceValue(func() error {
		done := filepath.Join(dir, "done")
		if _, err := os.Stat(done); err == nil {
			return nil
		}
		fmt.Fprintf(os.Stderr, "  making %s\n", dir)
		if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
			return err
		}
		if err := make(dir); err != nil {
			return err
		}
		return os.WriteFile(done, nil, 0o644)
	}))
	return dir, once.(func() error)()
}

// keepPiece is keep of what a piece writes into the folder that is its first argument.
func (e *env) keepPiece(name, piece string, args ...string) (string, error) {
	return e.keep(name, func(dir string) error {
		_, err := start(e, ours(piece, append([]string{dir}, args...)...))
		return err
	})
}

// python returns the command line of a peer, in the group's virtual environment.
func (e *env) python(group, script string, args ...string) ([]string, error) {
	dir, err := e.venv(group)
	return append([]string{filepath.Join(dir, "bin", "python"), filepath.Join("bench", "peers", script)}, args...), err
}

func (e *env) script(group, name string, args ...string) error {
	command, err := e.python(group, name, args...)
	if err != nil {
		return err
	}
	return e.quiet(command[0], command[1:]...)
}

// small are the groups of peers that share an environment: no two of them need different versions of a package.
const small = "data,htmlnorm,kmeans,bm25,score"

// venv is a virtual environment that holds exactly bench/peers/requirements-GROUP.txt, of one group or several.
func (e *env) venv(groups string) (string, error) {
	install := []string{"-m", "pip", "install", "-q"}
	var all []byte
	for group := range strings.SplitSeq(groups, ",") {
		requirements := filepath.Join("bench", "peers", "requirements-"+group+".txt")
		b, err := os.ReadFile(requirements)
		if err != nil {
			return "", err
		}
		all, install = append(all, b...), append(install, "-r", requirements)
	}
	sum := sha256.Sum256(all)
	return e.keep("venv-"+strings.ReplaceAll(groups, ",", "-")+"-"+hex.EncodeToString(sum[:4]), func(dir string) error {
		if err := e.quiet("python3", "-m", "venv", dir); err != nil {
			return err
		}
		return e.quiet(filepath.Join(dir, "bin", "python"), install...)
	})
}

// quiet runs a command and shows what it printed only if it fails.
func (e *env) quiet(name string, args ...string) error {
	out, err := exec.CommandContext(e.ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %v: %w\n%s", name, args, err, tail(string(out)))
	}
	return nil
}

func (e *env) build() (string, error) {
	path := filepath.Join(e.dir, "redsi", "redsi")
	return path, errors.Join(
		e.quiet("env", "CGO_ENABLED=0", "go", "build", "-o", path, "./cmd/redsi"),
		e.quiet("go", "build", "-o", filepath.Join(filepath.Dir(path), compute.Name), "./cmd/redsi-models"))
}
