package realize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/host/scratch"
	"github.com/redsi/redsi/internal/stores/hashed"
)

// engines are the programs that run images, in the order in which they are tried.
var engines = []string{"podman", "docker", apptainer}

const apptainer = "apptainer"

// sifFile is an image that apptainer has fetched.
const sifFile = "image.sif"

// image fetches an image with the first program that can.
func (m maker) image(ctx context.Context) (engine string, err error) {
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return "", err
	}
	if m.Recipe.Path != "" {
		if _, err := m.one(apptainer); err != nil {
			return "", err
		}
		return apptainer, sameImage(ctx, m.Recipe)
	}
	if _, err := m.one(engines...); err != nil {
		return "", err
	}
	var problems []error
	for _, name := range engines {
		if _, err := exec.LookPath(name); err != nil {
			continue
		}
		switch {
		case name == apptainer:
			err = m.run(ctx, nil, name, "pull", "--force", filepath.Join(m.dir, sifFile), "docker://"+m.Recipe.Lock)
		case exec.CommandContext(ctx, name, "image", "inspect", m.Recipe.Lock).Run() == nil:
			err = nil // it is there
		default:
			err = m.run(ctx, nil, name, "pull", m.Recipe.Lock)
		}
		if err == nil {
			return name, nil
		}
		problems = append(problems, err)
	}
	return "", errors.Join(problems...)
}

// sameImage returns an error if a SIF file is not the file that the plan was made with.
func sameImage(ctx context.Context, r environment.Recipe) error {
	is, _, err := hashed.Digest(ctx, r.Path, nil)
	if err == nil && is.Hex() != r.Files[r.Lock] {
		err = fmt.Errorf("%s has sha256 %s, the plan was made with %s: plan and run again if it has changed, and give all workers the same", r.Path, is.Hex(), r.Files[r.Lock])
	}
	return err
}

// Clients are variables of this process by which an engine finds its images and its service.
var Clients = []string{"HOME", "PATH", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "DOCKER_HOST", "DOCKER_CONFIG", "CONTAINER_HOST", "CONTAINERS_STORAGE_CONF", "APPTAINER_CACHEDIR"}

// engine turns a run into a run of an engine that does the same in the image, with only the step's folder, at its own
// path, and the step's variables. Only values of Clients, which are no secrets, stand on the command line.
func (h *Env) engine(run *command.Run) {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(run.Env)), func(name string) bool { return name == "PATH" })
	var argv []string
	env := map[string]string{}
	if h.Engine == apptainer {
		image := cmp.Or(h.Recipe.Path, filepath.Join(h.Dir, sifFile))
		for _, name := range names {
			env["APPTAINERENV_"+name] = run.Env[name]
		}
		argv = []string{apptainer, "-s", "exec", "--containall", "--no-home", "--bind", run.Dir + ":" + run.Dir, "--pwd", run.Dir, image}
	} else {
		argv = []string{h.Engine, "run", "--rm", "-i", "--name", scratch.Container(run.Dir), "--network", "host", "--entrypoint", "", "-v", run.Dir + ":" + run.Dir, "-w", run.Dir}
		switch uid := os.Getuid(); {
		case h.Engine == "docker":
			argv = append(argv, "--user", strconv.Itoa(uid)+":"+strconv.Itoa(os.Getgid()))
		case uid != 0:
			argv = append(argv, "--userns", "keep-id")
		}
		for _, name := range names {
			if slices.Contains(Clients, name) {
				argv = append(argv, "-e", name+"="+run.Env[name])
				continue
			}
			argv = append(argv, "-e", name)
			env[name] = run.Env[name]
		}
		argv = append(argv, h.Recipe.Lock)
		started := run.Started
		run.Started = func(pid int) error {
			return errors.Join(os.WriteFile(run.Dir+scratch.ContainerSuffix, []byte(h.Engine), 0o600), started(pid))
		}
	}
	for _, name := range Clients {
		if v, ok := os.LookupEnv(name); ok {
			env[name] = v
		}
	}
	run.Argv, run.Env = append(argv, run.Argv...), env
}
