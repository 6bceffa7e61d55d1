package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/redsi/redsi/internal/host/git"
	"github.com/redsi/redsi/internal/paper/prose"
	"github.com/redsi/redsi/internal/system/fault"
)

// numbersSince reads the numbers.tex that a paper's repository had at a revision: the named
// file, or the only one there. Nothing is checked out and no filter runs.
func numbersSince(ctx context.Context, folder, revision, file string) (*prose.Numbers, error) {
	commit, err := gitIn(ctx, folder, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	if err != nil {
		return nil, fault.Input(fmt.Errorf("--since %s: %s is not in a git repository that has this revision: %w", quoted(revision), folder, err))
	}
	name, err := numbersAt(ctx, folder, commit, file)
	if err != nil {
		return nil, fault.Input(fmt.Errorf("--since %s: %w", quoted(revision), err))
	}
	text, err := gitIn(ctx, folder, "cat-file", "blob", commit+":"+name)
	if err != nil {
		return nil, fault.Input(fmt.Errorf("--since %s: %s: %w", quoted(revision), name, err))
	}
	n, err := prose.ReadTeX(revision+":"+name, text)
	if err != nil {
		return nil, fault.Input(err)
	}
	return n, nil
}

// numbersAt is the path of a commit's file of numbers, from the top of its tree.
func numbersAt(ctx context.Context, folder, commit, file string) (string, error) {
	if file != "" {
		absolute, err := filepath.Abs(file)
		if err != nil {
			return "", err
		}
		if absolute, err = filepath.EvalSymlinks(absolute); err != nil {
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
	var found []string
	for name := range strings.SplitSeq(list, "\x00") {
		if path.Base(name) == prose.NumbersFile {
			found = append(found, name)
		}
	}
	switch len(found) {
	case 0:
		return "", errors.New("that revision has no " + prose.NumbersFile + ", which redsi report --latex writes; commit it with the paper, or compare with a run: --against")
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("that revision has %s: say which with --numbers", strings.Join(found, " and "))
}

// gitIn runs git in a folder and returns what it prints, without trailing line breaks.
func gitIn(ctx context.Context, folder string, args ...string) (string, error) {
	var out bytes.Buffer
	err := git.To(ctx, &out, []string{"GIT_OPTIONAL_LOCKS=0"}, append([]string{"-C", folder}, args...)...)
	return strings.TrimRight(out.String(), "\n"), err
}
