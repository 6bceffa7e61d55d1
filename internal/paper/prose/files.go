package prose

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/redsi/redsi/internal/host/git"
	"github.com/redsi/redsi/internal/system/lists"
)

// ReadFiles reads LaTeX files and what they read, all below the first file's folder. Names are shown as given.
func ReadFiles(files []string) (*Paper, error) {
	dir := filepath.Dir(files[0])
	var names []string
	for _, f := range files {
		if filepath.Ext(f) != ".tex" {
			return nil, fmt.Errorf("%s is not a LaTeX file: its name must end in .tex", f)
		}
		name, err := filepath.Rel(dir, f)
		if err != nil || !filepath.IsLocal(name) {
			return nil, fmt.Errorf("%s is not in the folder of %s: check papers in different folders one at a time", f, files[0])
		}
		names = append(names, filepath.ToSlash(name))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	p, err := Read(root.FS(), filepath.ToSlash(dir), names...)
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = fmt.Errorf("%s: %w", filepath.Join(dir, filepath.FromSlash(failed.Path)), failed.Err)
	}
	return p, err
}

// Since reads the named, or the only, numbers.tex of a paper's repository at a revision. Nothing is checked out.
func Since(ctx context.Context, folder, revision, file string) (*Numbers, error) {
	commit, err := gitIn(ctx, folder, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	if err != nil {
		return nil, fmt.Errorf("%s is not in a git repository that has this revision: %w", folder, err)
	}
	name, err := numbersAt(ctx, folder, commit, file)
	if err != nil {
		return nil, err
	}
	text, err := gitIn(ctx, folder, "cat-file", "blob", commit+":"+name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return ReadTeX(revision+":"+name, text)
}

// numbersAt returns the path of a commit's file of numbers, from the top of its tree.
func numbersAt(ctx context.Context, folder, commit, file string) (string, error) {
	if file != "" {
		absolute, err := filepath.Abs(file)
		if err == nil {
			absolute, err = filepath.EvalSymlinks(absolute)
		}
		if err != nil {
			return "", err
		}
		top, err := gitIn(ctx, folder, "rev-parse", "--show-toplevel")
		if err != nil {
			return "", err
		}
		name, err := filepath.Rel(top, absolute)
		if err != nil || !filepath.IsLocal(name) {
			return "", fmt.Errorf("%s is not in the paper's repository, %s", file, top)
		}
		return filepath.ToSlash(name), nil
	}
	list, err := gitIn(ctx, folder, "ls-tree", "-r", "-z", "--full-tree", "--name-only", commit)
	if err != nil {
		return "", err
	}
	found := lists.Filter(strings.Split(list, "\x00"), func(name string) bool { return path.Base(name) == NumbersFile })
	switch len(found) {
	case 0:
		return "", errors.New("that revision has no " + NumbersFile + ", which redsi report --latex writes; commit it with the paper, or compare with a run: --against")
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("that revision has %s: say which with --numbers", strings.Join(found, " and "))
}

func gitIn(ctx context.Context, folder string, args ...string) (string, error) {
	var out bytes.Buffer
	err := git.To(ctx, &out, []string{"GIT_OPTIONAL_LOCKS=0"}, append([]string{"-C", folder}, args...)...)
	return strings.TrimRight(out.String(), "\n"), err
}
