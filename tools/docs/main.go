package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

//go:embed examples.txt
var specials string

func main() {
	long := flag.Bool("long", false, "also what takes long")
	root := flag.String("root", ".", "the tree")
	keep := flag.String("copy", "", "make the copy here, and leave it (default: a temporary folder)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *root, *keep, *long, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

// run runs the commands of the files, all files if none is named, in a copy of the tree.
func run(ctx context.Context, w io.Writer, root, dir string, long bool, files []string) error {
	if dir == "" {
		tmp, err := os.MkdirTemp("", "redsi-docs-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		dir = tmp
	}
	tree, keep := filepath.Join(dir, "redsi"), filepath.Join(dir, "shell")
	if err := os.Mkdir(keep, 0o755); err != nil {
		return err
	}
	if err := copyTree(ctx, root, tree); err != nil {
		return err
	}
	s := &Shell{tree, append(terminal(os.Environ()), "PATH="+filepath.Join(tree, "bin")+":"+os.Getenv("PATH")), keep}
	t := &trial{w: w, shell: s, long: long}
	all := len(files) == 0
	if all {
		var err error
		if files, err = pages(root); err != nil {
			return err
		}
	}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return err
		}
		blocks, err := Blocks(file, string(text))
		if err != nil {
			return err
		}
		if err := t.blocks(ctx, blocks); err != nil {
			return err
		}
	}
	if all && long { // internal/cli tests that the other examples are understood
		if err := s.To(""); err != nil {
			return err
		}
		special, err := Specials(specials)
		if err != nil {
			return err
		}
		blocks, err := Examples(ctx, s, "redsi", special)
		if err != nil {
			return err
		}
		if err := t.blocks(ctx, blocks); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "%d commands run, %d not run, %d failed\n", t.ran, t.left, t.failed)
	if t.failed > 0 {
		return fmt.Errorf("%d of %d commands do not match the documentation", t.failed, t.ran)
	}
	return nil
}

// terminal returns an environment as at a terminal: without make's variables for the makes that it starts.
func terminal(env []string) []string {
	return slices.DeleteFunc(env, func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES"}, name)
	})
}

// pages returns the files that are read, README first.
func pages(root string) ([]string, error) {
	docs, err := fs.Glob(os.DirFS(root), "docs/*.md")
	return append([]string{"README.md", "CONTRIBUTING.md"}, docs...), err
}

// copyTree copies the files that git has or would take, with their present content.
func copyTree(ctx context.Context, from, to string) error {
	list, err := exec.CommandContext(ctx, "git", "-C", from, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return fmt.Errorf("git ls-files in %s: %w", from, err)
	}
	for _, name := range strings.Split(strings.TrimRight(string(list), "\x00"), "\x00") {
		info, err := os.Lstat(filepath.Join(from, name))
		if os.IsNotExist(err) {
			continue // removed, and not yet from the index
		}
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o755)
		}
		var b []byte
		if err == nil {
			b, err = os.ReadFile(filepath.Join(from, name))
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), b, info.Mode().Perm())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// trial runs blocks, and counts commands.
type trial struct {
	w                 io.Writer
	shell             *Shell
	long              bool
	ran, left, failed int
}

func (t *trial) blocks(ctx context.Context, blocks []Block) error {
	for _, b := range blocks {
		why := b.NotRun
		if b.Long && !t.long {
			why = "takes long"
		}
		if why != "" {
			for _, c := range b.Commands {
				t.left++
				fmt.Fprintf(t.w, "%s:%d  not run, %s: %s\n", b.File, c.Line, why, c.Text)
			}
			continue
		}
		if b.In != "" {
			if err := t.shell.To(b.In); err != nil {
				return err
			}
		}
		for _, c := range b.Commands {
			if err := t.command(ctx, b, c); err != nil {
				return err
			}
		}
		if b.In != "" {
			if err := t.shell.To(""); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

func (t *trial) command(ctx context.Context, b Block, c Command) error {
	began := time.Now()
	printed, exit, err := t.shell.Run(ctx, c.Text, b.Until)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	t.ran++
	wrong := ""
	switch {
	case err != nil:
		wrong = err.Error()
	case exit != b.Exit && (b.Until == "" || exit != 130):
		wrong = fmt.Sprintf("exit %d, not %d", exit, b.Exit)
	case c.Check:
		if at, got := Mismatch(c.Shown, strings.Split(printed, "\n"), b.Varies); at >= 0 {
			want := "no more lines"
			if at < len(c.Shown) {
				want = c.Shown[at]
			}
			wrong = fmt.Sprintf("line %d of its output differs from what is shown\n  shown:   %s\n  printed: %s", at+1, want, got)
		}
	}
	if wrong == "" {
		fmt.Fprintf(t.w, "%s:%d  %.1f s: %s\n", b.File, c.Line, time.Since(began).Seconds(), c.Text)
		return nil
	}
	t.failed++
	fmt.Fprintf(t.w, "%s:%d  FAILED, %s: %s\n%s\n", b.File, c.Line, wrong, c.Text, strings.TrimRight(printed, "\n"))
	return nil
}
