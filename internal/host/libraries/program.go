package libraries

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/script"
)

// Original returns the digest that a file with the digest here had in its conda package: conda writes the environment's
// folder into programs, and records their digests before and after. For all other files it returns here.
func Original(program string, here artifacts.Digest) (artifacts.Digest, error) {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return here, err
	}
	for prefix := filepath.Dir(real); prefix != filepath.Dir(prefix); prefix = filepath.Dir(prefix) {
		meta := filepath.Join(prefix, "conda-meta")
		records, _ := os.ReadDir(meta)       // none outside of conda's environments
		rel, _ := filepath.Rel(prefix, real) // real is below prefix
		for _, record := range records {
			pkg, err := CondaPackageAt(meta, record.Name(), here.Hex()) // most lack it, which spares parsing them
			if err != nil {
				return here, err
			}
			for _, f := range pkg.Paths.Paths {
				if was, err := artifacts.ParseHex(f.SHA); err == nil && f.Path == rel && f.Here == here.Hex() {
					return was, nil
				}
			}
		}
	}
	return here, nil
}

// A script that starts an entry point has only lines such as these, whoever wrote it.
var (
	startLine = regexp.MustCompile(`^(#!\S+|'''exec' .*/'?(python|pypy)[\w.]*['"]? "\$0" "\$@"|' '''|# -\*-.*|import (re|sys)|if __name__ == ['"]__main__['"]:|` +
		`(el)?if sys\.argv\[0\]\.endswith\("[\w.-]*"\):|sys\.argv\[0\] = (sys\.argv\[0\]\[:-\d+\]|re\.sub\(r'[^']*', '', sys\.argv\[0\]\)|sys\.argv\[0\]\.removesuffix\('[\w.-]*'\)))?$`)
	startOf    = regexp.MustCompile(`^from ([\w.]+) import (\w+)$`)
	startsWith = regexp.MustCompile(`^sys\.exit\(([\w.]+)\(\)\)$`)
)

// Installed returns, for a script beside its Python that an installer of Python's packages wrote, the digest of the
// entry point that it starts, or of its text without the environment's folder. For all other files it returns here.
func Installed(program string, here artifacts.Digest) (artifacts.Digest, error) {
	text, err := textOf(program)
	if err != nil || text == "" || len(text) >= maxScript {
		return here, err
	}
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return here, err
	}
	python := script.Launcher(text, program)
	folder, err := filepath.EvalSymlinks(filepath.Dir(python))
	prefix := filepath.Dir(filepath.Dir(python))
	if err != nil || prefix == "/" || folder != filepath.Dir(real) || !filepath.IsAbs(python) || !pythonName.MatchString(filepath.Base(python)) {
		return here, nil
	}
	module, function, more := "", "", false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if m := startOf.FindStringSubmatch(line); m != nil && module == "" {
			module = m[1] + " " + m[2]
		} else if m := startsWith.FindStringSubmatch(line); m != nil && function == "" {
			function = m[1]
		} else {
			more = more || !startLine.MatchString(line)
		}
	}
	if more || module == "" || function == "" {
		return artifacts.Sum([]byte("script " + strings.ReplaceAll(text, prefix, "\x00"))), nil
	}
	return artifacts.Sum([]byte("entry point " + module + " " + function)), nil
}

// textOf returns the text of a script; "" for a file that does not begin as one.
func textOf(program string) (string, error) {
	f, err := os.Open(program)
	if err != nil {
		return "", err
	}
	defer f.Close()
	r := bufio.NewReader(io.LimitReader(f, maxScript))
	if head, err := r.Peek(2); string(head) != "#!" {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return "", err
	}
	text, err := io.ReadAll(r)
	return string(text), err
}
