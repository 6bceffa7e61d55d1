package hub

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// program is the hub's own, of the Python package huggingface_hub.
const program = "hf"

// Command is the command line that uploads a folder to the repository namespace/name, which it
// creates if needed.
func Command(kind Kind, namespace, name, folder string) []string {
	return []string{program, "upload", namespace + "/" + name, folder, ".", "--repo-type", string(kind)}
}

// HasToken reports whether there is a hub token where its program looks for one.
func HasToken() bool {
	if os.Getenv("HF_TOKEN") != "" {
		return true
	}
	path := os.Getenv("HF_TOKEN_PATH")
	if path == "" {
		home := os.Getenv("HF_HOME")
		if home == "" {
			user, err := os.UserHomeDir()
			if err != nil {
				return false
			}
			home = filepath.Join(user, ".cache", "huggingface")
		}
		path = filepath.Join(home, "token")
	}
	_, err := os.Stat(path)
	return err == nil
}

// ErrNoProgram is Upload's error if the hub's program is not installed.
var ErrNoProgram = errors.New("the program hf is not in PATH: pip install huggingface_hub")

// Upload runs the hub's program. If it fails, its output is part of the error.
func Upload(ctx context.Context, command []string) error {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return ErrNoProgram
	}
	out, err := exec.CommandContext(ctx, path, command[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
