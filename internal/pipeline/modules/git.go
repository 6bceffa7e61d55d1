package modules

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/host/git"
)

// Limits for one repository.
const (
	fetchTime = 5 * time.Minute
	maxBytes  = 512 << 20 // of the fetched data, and of its files
	maxFiles  = 100_000
)

// run runs the git program in our repository and returns its output.
func run(ctx context.Context, repository string, args ...string) (string, error) {
	var out bytes.Buffer
	err := runTo(ctx, &out, repository, nil, args...)
	return strings.TrimSpace(out.String()), err
}

func runTo(ctx context.Context, out io.Writer, repository string, env []string, args ...string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, fetchTime, fmt.Errorf("it took longer than %s", fetchTime))
	defer cancel()
	return git.To(ctx, out, env, append([]string{"--git-dir", repository}, args...)...)
}

// fetch fetches one commit, by ref or id, into a new bare repository.
func fetch(ctx context.Context, repository, from, ref string) (commit string, err error) {
	if err := os.MkdirAll(repository, 0o755); err != nil {
		return "", err
	}
	if _, err := run(ctx, repository, "init", "--quiet", "--bare", "--template="); err != nil {
		return "", err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go bound(ctx, cancel, repository)
	if _, err := run(ctx, repository, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", from, ref); err != nil {
		return "", err
	}
	return run(ctx, repository, "rev-parse", "--verify", "--end-of-options", "FETCH_HEAD^{commit}")
}

// bound ends ctx when a folder exceeds the size limit for repositories.
func bound(ctx context.Context, end context.CancelCauseFunc, folder string) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(200 * time.Millisecond):
		}
		var n int64
		_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error { // files that vanish count nothing
			if err == nil && d.Type().IsRegular() {
				if info, err := d.Info(); err == nil {
					n += info.Size()
				}
			}
			return nil
		})
		if n > maxBytes {
			end(fmt.Errorf("it has more than %d MiB", maxBytes>>20))
		}
	}
}

// remoteCommit asks a server for the present commit of a ref; "": ref is itself the id of a commit.
func remoteCommit(ctx context.Context, r Repository) (string, error) {
	if isCommit(r.Ref) {
		return "", nil
	}
	out, err := run(ctx, os.DevNull, "ls-remote", "--quiet", "--", r.URL, r.Ref, r.Ref+"^{}")
	if err != nil {
		return "", err
	}
	ids := map[string]string{}
	for line := range strings.Lines(out) {
		id, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		ids[name] = id
	}
	for _, name := range []string{r.Ref, "refs/" + r.Ref, "refs/tags/" + r.Ref, "refs/heads/" + r.Ref} { // as fetch chooses
		for _, id := range []string{ids[name+"^{}"], ids[name]} { // an annotated tag's commit comes first
			if id != "" {
				return id, nil
			}
		}
	}
	return "", fmt.Errorf("%s has no %s", r.URL, r.Ref)
}

func isCommit(ref string) bool {
	return (len(ref) == 40 || len(ref) == 64) && strings.Trim(ref, "0123456789abcdef") == ""
}

// extract writes the files of a commit into a new folder, without the user's git settings: they are the same everywhere.
func extract(ctx context.Context, repository, commit, folder string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := unpack(r, folder)
		if err != nil {
			cancel(err)
		}
		r.CloseWithError(err)
		done <- err
	}()
	err := runTo(ctx, w, repository, []string{"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1"},
		"archive", "--format=tar", commit)
	w.CloseWithError(err) // nil is the end of the archive
	if unpacked := <-done; unpacked != nil {
		return unpacked
	}
	return err
}

func unpack(r io.Reader, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	left, files := int64(maxBytes), 0
	archive := tar.NewReader(r)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			_, err := io.Copy(io.Discard, r) // git ends only once everything is read
			return err
		}
		if err != nil {
			return err
		}
		name := filepath.FromSlash(strings.TrimSuffix(h.Name, "/"))
		switch h.Typeflag {
		case tar.TypeDir:
			if err := root.MkdirAll(name, 0o755); err != nil {
				return err
			}
			continue
		case tar.TypeReg:
		default:
			continue // a link, or what git says of the archive, is not a file of a pipeline
		}
		if left, files = left-h.Size, files+1; left < 0 || files > maxFiles {
			return fmt.Errorf("it has more than %d MiB or %d files", maxBytes>>20, maxFiles)
		}
		if err := writeFile(root, name, archive, fs.FileMode(h.Mode)&0o755|0o444); err != nil {
			return err
		}
	}
}

func writeFile(root *os.Root, name string, from io.Reader, mode fs.FileMode) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}
