package main

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// rule gives an archive's files that match take, and not leave, the name to, in which $1 is take's first group.
type rule struct {
	take, leave *regexp.Regexp
	to          string
}

// target is where the file goes, relative to the part's folder; false when the rule does not take it.
func (r rule) target(name string) (string, bool) {
	at := r.take.FindStringSubmatchIndex(name)
	if at == nil || r.leave != nil && r.leave.MatchString(name) {
		return "", false
	}
	return string(r.take.ExpandString(nil, r.to, name, at)), true
}

// unpack writes the files that the rules take into dir and returns how many there were. A name that would leave dir
// is an error, and so is a file whose CRC differs.
func unpack(ctx context.Context, archive, dir string, rules []rule) (int, error) {
	reader, err := zip.OpenReader(archive)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", archive, err)
	}
	defer reader.Close()
	files := 0
	for _, entry := range reader.File {
		if !entry.Mode().IsRegular() {
			continue
		}
		for _, r := range rules {
			name, ok := r.target(entry.Name)
			if !ok {
				continue
			}
			if !filepath.IsLocal(name) {
				return files, fmt.Errorf("%s: %q lies outside the archive's folder", archive, entry.Name)
			}
			if err := ctx.Err(); err != nil {
				return files, err
			}
			if err := writeEntry(entry, filepath.Join(dir, name)); err != nil {
				return files, fmt.Errorf("%s: %s: %w", archive, entry.Name, err)
			}
			files++
			break
		}
	}
	return files, nil
}

func writeEntry(entry *zip.File, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	in, err := entry.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	mode := fs.FileMode(0o644) | entry.Mode().Perm()&0o111
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
