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

// Original is the digest of what conda made a file from that now has the digest here: conda writes
// the environment's folder into programs, and notes what they were before. It is here for all
// other files.
func Original(program string, here artifacts.Digest) (artifacts.Digest, error) {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return here, err
	}
	for prefix := filepath.Dir(real); prefix != filepath.Dir(prefix); prefix = filepath.Dir(prefix) {
		meta := filepath.Join(prefix, "conda-meta")
		records, _ := os.ReadDir(meta)       // none: it is no environment of conda
		rel, _ := filepath.Rel(prefix, real) // it is below it
		for _, record := range records {
			pkg, err := CondaPackageAt(meta, record.Name(), here.Hex()) // most have it not: parsing takes long
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

// A script that starts an entry point has lines such as these alone, whoever wrote it.
var (
	startLine = regexp.MustCompile(`^(#!\S+|'''exec' .*/'?(python|pypy)[\w.]*['"]? "\$0" "\$@"|' '''|# -\*-.*|import (re|sys)|if __name__ == ['"]__main__['"]:|` +
		`(el)?if sys\.argv\[0\]\.endswith\("[\w.-]*"\):|sys\.argv\[0\] = (sys\.argv\[0\]\[:-\d+\]|re\.sub\(r'[^']*', '', sys\.argv\[0\]\)|sys\.argv\[0\]\.removesuffix\('[\w.-]*'\)))?$`)
	startOf    = regexp.MustCompile(`^from ([\w.]+) import (\w+)$`)
	startsWith = regexp.MustCompile(`^sys\.exit\(([\w.]+)\(\)\)$`)
)

// Installed is the digest of what an installer of Python's packages made a script from that has the
// digest here and is in one folder with its Python: of the entry point that it starts, or of its
// text without the environment's folder. It is here for all other files.
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

// textOf is the text of a script, if it begins as one; "" of another file.
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
