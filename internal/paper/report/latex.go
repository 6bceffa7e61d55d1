package report

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/atomicfile"
)

const mostPasses = 5 // bounds the passes of LaTeX: references and long tables settle in two to four

// WriteBundle writes the report's LaTeX document, compiled if pdf is set, and returns its main files; none without dir.
func (r *Report) WriteBundle(ctx context.Context, read Reader, dir string, pdf bool) ([]string, error) {
	if dir == "" {
		return nil, nil
	}
	files, err := r.Bundle(ctx, read)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if err := artifacts.CheckFileName(f.Name); err != nil {
			return nil, err
		}
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := atomicfile.WriteFile(path, f.Data, 0o644); err != nil {
			return nil, err
		}
	}
	main := filepath.Join(dir, "main.tex")
	if !pdf {
		return []string{main}, nil
	}
	if err := r.compile(ctx, dir); err != nil {
		return nil, err
	}
	return []string{main, filepath.Join(dir, "main.pdf")}, nil
}

// compile runs pdflatex until references settle. The PDF has the newest result's date, so that it is the same each time.
func (r *Report) compile(ctx context.Context, dir string) error {
	program, err := exec.LookPath("pdflatex")
	if err != nil {
		return fmt.Errorf("--pdf needs pdflatex, which is not in PATH (Debian: texlive-latex-extra; texlive-science, too, for columns with align = \"decimal\"); %s was written and can be compiled elsewhere", filepath.Join(dir, "main.tex"))
	}
	for range mostPasses {
		cmd := exec.CommandContext(ctx, program, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "main.tex")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", max(r.Newest.Unix(), 0)), "FORCE_SOURCE_DATE=1", "max_print_line=1000")
		out, err := cmd.CombinedOutput()
		if err != nil {
			return errors.Join(fmt.Errorf("pdflatex: %w; see %s", err, filepath.Join(dir, "main.log")), latexError(out))
		}
		if !bytes.Contains(out, []byte("Rerun")) {
			return nil
		}
	}
	return nil
}

func latexError(out []byte) error {
	lines := strings.Split(string(out), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "!") {
			return errors.New(strings.Join(lines[i:min(i+6, len(lines))], "\n"))
		}
	}
	return nil
}
