package realize

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// nix builds the flake's default package, and returns its bin as path, or else the PATH of the flake's shell. A profile
// in the folder protects it from nix's garbage collection.
func (m maker) nix(ctx context.Context) (path, program string, err error) {
	if _, err := m.one("nix"); err != nil {
		return "", "", err
	}
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return "", "", err
	}
	nix := []string{"nix", "--extra-experimental-features", "nix-command flakes"}
	flake := "path:" + m.work
	profile := filepath.Join(m.dir, "profile")
	system := strings.NewReplacer("amd64", "x86_64", "arm64", "aarch64").Replace(runtime.GOARCH) + "-" + runtime.GOOS
	has := exec.CommandContext(ctx, "nix", append(nix[1:], "eval", "--no-write-lock-file", "--raw", flake+"#packages."+system+".default.name")...)
	if has.Run() == nil {
		err := m.run(ctx, nil, append(nix, "build", "--no-write-lock-file", "--out-link", profile, flake)...)
		return filepath.Join(profile, "bin"), versionOf("nix"), err
	}
	var stdout strings.Builder
	m.stdout = &stdout
	if err := m.run(ctx, nil, append(nix, "develop", "--no-write-lock-file", "--profile", profile, flake, "--command", "env")...); err != nil {
		return "", "", err
	}
	for line := range strings.Lines(stdout.String()) {
		if p, ok := strings.CutPrefix(strings.TrimSpace(line), "PATH="); ok {
			return p, versionOf("nix"), nil
		}
	}
	return "", "", fmt.Errorf("the shell of %s has no PATH", m.Recipe.Lock)
}
