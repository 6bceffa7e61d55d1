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
	"time"

	"github.com/redsi/redsi/internal/host/compute"
)

// env is where a run keeps things and how thorough it is.
type env struct {
	ctx     context.Context
	dir     string // of what is kept between runs
	quick   bool
	warmUps int
	pairs   int
	cores   int // threads of each side
	slices  int // of each side of a sliced line

	card     string        // that lines cuda/… are measured on: cuda:0, or cpu to try them
	peerTime time.Duration // of the peer of a whole work; ours have no second round beyond it

	ran map[string]sample // the last of each command, for lines that are measured once
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
	e := &env{ctx: ctx, dir: filepath.Join(deps, "bench"), quick: quick, cores: cores, warmUps: 1, pairs: 3, slices: 9,
		card: "cuda:0", peerTime: time.Minute, ran: map[string]sample{}}
	if quick {
		e.warmUps, e.pairs, e.slices = 0, 1, 2
	}
	return e, os.MkdirAll(e.dir, 0o755)
}

// keep returns a folder that make has filled, now or in an earlier run.
func (e *env) keep(name string, make func(dir string) error) (string, error) {
	dir := filepath.Join(e.dir, name)
	if _, err := os.Stat(filepath.Join(dir, "done")); err == nil {
		return dir, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	fmt.Fprintf(os.Stderr, "  making %s\n", dir)
	if err := make(dir); err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "done"), nil, 0o644)
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

// venv is a virtual environment that holds exactly bench/peers/requirements-GROUP.txt.
func (e *env) venv(group string) (string, error) {
	requirements := filepath.Join("bench", "peers", "requirements-"+group+".txt")
	b, err := os.ReadFile(requirements)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return e.keep("venv-"+group+"-"+hex.EncodeToString(sum[:4]), func(dir string) error {
		if err := e.quiet("python3", "-m", "venv", dir); err != nil {
			return err
		}
		return e.quiet(filepath.Join(dir, "bin", "python"), "-m", "pip", "install", "-q", "-r", requirements)
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

// redsi builds anew what users have, redsi and beside it the program that computes models, and returns redsi's path.
func (e *env) redsi() (string, error) {
	path := filepath.Join(e.dir, "redsi", "redsi")
	return path, errors.Join(
		e.quiet("env", "CGO_ENABLED=0", "go", "build", "-o", path, "./cmd/redsi"),
		e.quiet("go", "build", "-o", filepath.Join(filepath.Dir(path), compute.Name), "./cmd/redsi-models"))
}
