package realize

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// conda installs exactly the files that the lock names, whichever program wrote it, and with pip what is in no channel.
func (m maker) conda(ctx context.Context) (string, error) {
	program, err := m.one("micromamba", "mamba", "conda")
	if err != nil {
		return "", err
	}
	list, err := m.Recipe.Locked()
	if err != nil {
		return "", err
	}
	files, wheels := "@EXPLICIT\n", ""
	for _, p := range list {
		kind, hash, _ := strings.Cut(p.Hash, ":")
		switch {
		case p.Python:
			wheels += fmt.Sprintf("%s @ %s --hash=%s\n", p.Name, p.URL, p.Hash)
		case kind == "md5":
			files += p.URL + "#" + hash + "\n"
		default:
			files += p.URL + "#" + p.Hash + "\n"
		}
	}
	const packages, pythons = "redsi-explicit.txt", "redsi-requirements.txt"
	if err := os.WriteFile(filepath.Join(m.work, packages), []byte(files), 0o600); err != nil {
		return "", err
	}
	if err := m.run(ctx, nil, program, "create", "-y", "-q", "-p", m.dir, "--file", packages); err != nil {
		return "", err
	}
	if wheels != "" {
		if err := os.WriteFile(filepath.Join(m.work, pythons), []byte(wheels), 0o600); err != nil {
			return "", err
		}
		if err := m.pip(ctx, m.bin("python"), pythons); err != nil {
			return "", err
		}
	}
	return program + " " + versionOf(program), nil
}
