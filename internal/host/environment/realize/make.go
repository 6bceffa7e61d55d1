package realize

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"deps.dev/util/pypi"

	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/host/libraries"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/lists"
)

// make builds the environment anew; this process holds its lock exclusively.
func (h *Env) make(ctx context.Context, w Wanted) (err error) {
	defer func() {
		if err != nil && ctx.Err() == nil {
			err = failed(w, err)
		}
		if err != nil {
			err = errors.Join(err, remove(h.Dir))
		}
	}()
	if err := remove(h.Dir); err != nil {
		return err
	}
	w.say(fmt.Sprintf("making %s of %s", w.Name, w.Recipe.Lock))
	h.Record = Record{Name: w.Name, Kind: w.Recipe.Kind, Lock: w.Recipe.Lock, Packages: w.Packages.Digest, Platform: w.Recipe.Platform}
	work := h.Dir + workSuffix
	if err := os.MkdirAll(work, 0o700); err != nil {
		return err
	}
	for name, text := range w.Recipe.Files {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	m := maker{w, h.Dir, work, nil}
	switch w.Recipe.Kind {
	case environment.UV:
		h.Program, err = m.uv(ctx)
	case environment.Pylock:
		if _, err = m.one("uv"); err == nil {
			h.Program, err = m.requirements(ctx)
		}
	case environment.Requirements:
		h.Program, err = m.requirements(ctx)
	case environment.Conda:
		h.Program, err = m.conda(ctx)
	case environment.Nix:
		h.Nix, h.Program, err = m.nix(ctx)
	case environment.Image:
		if h.Engine, err = m.image(ctx); err == nil {
			h.Program = versionOf(h.Engine)
		}
	}
	if err != nil {
		return err
	}
	if w.Recipe.Kind == environment.Nix || w.Recipe.Kind == environment.Image {
		h.List, err = licences(h.Dir, w.Packages.Manifest)
	} else {
		err = h.check(ctx, w)
	}
	if err != nil {
		return err
	}
	if h.Bytes, err = sizeOf(h.Dir); err != nil {
		return err
	}
	return errors.Join(atomicfile.WriteJSON(h.Dir+recordSuffix, h.Record, "", 0o644), os.RemoveAll(work))
}

// fullVersion finds Python's version in a pyvenv.cfg, as uv and venv write it.
var fullVersion = regexp.MustCompile(`(?m)^version(?:_info)?\s*=\s*(\S+)`)

// check compares what was installed with the lock, and records it.
func (h *Env) check(ctx context.Context, w Wanted) error {
	w.say("checking " + w.Name)
	now, err := installed(ctx, &libraries.Memory{}, h.Dir)
	if err != nil {
		return err
	}
	if differ := differences(w.Packages.Manifest, now.Manifest); len(differ) > 0 {
		why := ""
		if p := w.Packages.Manifest.Python; strings.Count(p, ".") == 1 {
			why = fmt.Sprintf("; if the lock tells releases of Python %s apart, give all of its version", p)
		}
		return fmt.Errorf("%s did not install what %s has: %s%s", h.Program, w.Recipe.Lock, strings.Join(differ, ", "), why)
	}
	if h.List, err = licences(h.Dir, now.Manifest); err != nil {
		return err
	}
	h.Python = w.Packages.Manifest.Python
	if h.Recipe.Kind != environment.Conda {
		settings, err := os.ReadFile(filepath.Join(h.Dir, "pyvenv.cfg"))
		if err != nil {
			return err
		}
		if is := fullVersion.FindSubmatch(settings); is != nil {
			h.Python = string(is[1])
		}
	}
	if err := atomicfile.WriteFile(filepath.Join(h.Dir, manifestFile), now.Text, 0o644); err != nil {
		return err
	}
	h.Installed = now.Digest
	return nil
}

// differences names the packages in which an environment differs from its lock.
func differences(lock, is libraries.Manifest) []string {
	bare := func(d libraries.Distribution) libraries.Distribution {
		return libraries.Distribution{Name: pypi.CanonPackageName(d.Name), Version: pypi.CanonVersion(d.Version)}
	}
	versions := func(m libraries.Manifest) libraries.Manifest {
		return libraries.Manifest{Distributions: lists.Map(m.Distributions, bare)}
	}
	return libraries.Differences(versions(lock), versions(is))
}

func sizeOf(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}

type maker struct {
	Wanted
	dir    string    // of the environment
	work   string    // where its lock is
	stdout io.Writer // takes what an installer prints, if set
}

// run runs an installer in the folder of the lock, with this process's environment and more variables. The installer
// ends with this process.
func (m maker) run(ctx context.Context, more map[string]string, argv ...string) error {
	path, err := command.Find(argv[0])
	if err != nil {
		return err
	}
	env := map[string]string{}
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME"} {
		delete(env, name)
	}
	maps.Copy(env, more)
	said := func(line string) { m.say(m.Name + ": " + line) }
	return command.Run{Program: path, Argv: argv, Dir: m.work, Env: env, Stdout: m.stdout, Line: said, ExitCodes: []int{0}}.Do(ctx)
}

// one returns the first of several programs that this machine has.
func (m maker) one(names ...string) (string, error) {
	for _, name := range names {
		if _, err := exec.LookPath(name); err == nil {
			return name, nil
		}
	}
	install := map[string]string{
		"uv": "pip install uv", "micromamba": "see mamba.readthedocs.io", "nix": "see nixos.org/download, or the package nix-bin",
		"podman": "the package podman", "apptainer": "see apptainer.org",
	}[names[0]]
	return "", fmt.Errorf("this machine has no %s, which makes an environment of %s: install %s (%s), or run it on a worker that has it",
		strings.Join(names, ", "), m.Recipe.Lock, names[0], install)
}
