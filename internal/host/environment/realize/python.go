package realize

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/redsi/redsi/internal/host/environment"
)

// copied keeps edits in an environment out of uv's cache, and so out of other environments.
var copied = map[string]string{"UV_LINK_MODE": "copy", "UV_NO_PROGRESS": "1"}

// uv installs exactly what uv.lock says.
func (m maker) uv(ctx context.Context) (string, error) {
	if _, err := m.one("uv"); err != nil {
		return "", err
	}
	python := m.Packages.Manifest.Python
	env := maps.Clone(copied)
	argv := []string{"uv", "sync", "--frozen", "--compile-bytecode", "--python", python}
	if script := environment.ScriptOf(m.Recipe.Lock); script != "" {
		env["VIRTUAL_ENV"] = m.dir
		argv = append(argv, "--active", "--script", script)
	} else {
		env["UV_PROJECT_ENVIRONMENT"] = m.dir
		argv = append(argv, "--no-install-project", "--no-default-groups")
	}
	if err := m.run(ctx, env, append(argv, m.Recipe.Options()...)...); err != nil {
		return "", fmt.Errorf("%w\n(wanted: Python %s; choose another version that requires-python admits by python = \"VERSION\")", err, python)
	}
	return versionOf("uv"), nil
}

// requirements installs the file, or a pylock.toml, by uv, or by the pip of a Python of that version.
func (m maker) requirements(ctx context.Context) (string, error) {
	python := m.Packages.Manifest.Python
	file := m.Recipe.Lock
	if _, err := m.one("uv"); err == nil {
		if err := m.run(ctx, copied, "uv", "venv", "--no-project", "--python", python, m.dir); err != nil {
			return "", err
		}
		argv := append([]string{"uv", "pip", "install", "--python", m.bin("python"), "--require-hashes", "--no-deps", "--compile-bytecode", "-r", file}, m.Recipe.Options()...)
		env := maps.Clone(copied)
		if m.Recipe.Kind == environment.Pylock {
			env["UV_PREVIEW_FEATURES"] = "pylock" // without a warning
		}
		return versionOf("uv"), m.run(ctx, env, argv...)
	}
	base, err := pythonAt(python)
	if err != nil {
		return "", err
	}
	if err := m.run(ctx, nil, base, "-m", "venv", "--without-pip", m.dir); err != nil {
		return "", err
	}
	return "pip of Python " + python, m.pip(ctx, base, file)
}

// pip installs a file of requirements with the pip of another Python.
func (m maker) pip(ctx context.Context, base, file string) error {
	return m.run(ctx, map[string]string{"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"},
		base, "-m", "pip", "--python", m.bin("python"), "install", "--require-hashes", "--no-deps", "-r", file)
}

func (m maker) bin(name string) string { return filepath.Join(m.dir, "bin", name) }

func pythonAt(version string) (string, error) {
	minor := strings.Join(strings.Split(version, ".")[:2], ".")
	for _, name := range []string{"python" + minor, "python3", "python"} {
		out, err := exec.Command(name, "-c", "import platform, sys; print(platform.python_version()); print(sys.executable)").Output()
		is, path, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		if err == nil && (is == version || strings.HasPrefix(is, version+".")) {
			return path, nil
		}
	}
	return "", fmt.Errorf("this machine has no Python %s: install it, or uv, which brings it along, or choose another version by python = \"VERSION\"", version)
}

func versionOf(program string) string {
	out, _ := exec.Command(program, "--version").Output()
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return cmp.Or(line, program)
}
