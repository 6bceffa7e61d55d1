package listing

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ignoreFile has rules of what a folder's files are not: gitignore(5).
const ignoreFile = ".gitignore"

// rule is a line of an ignore file.
type rule struct {
	folder     string // of its file, absolute, with a slash at its end
	pattern    string // of names within that folder, or of their last part
	name       bool   // it is a pattern of the last part of names
	only       bool   // of folders
	takesAgain bool   // what earlier rules leave out
}

// rulesOf adds the rules of a folder to those of the folders around it.
func rulesOf(folder string, rules []rule) ([]rule, error) {
	file := filepath.Join(folder, ignoreFile)
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return rules, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	rules = rules[:len(rules):len(rules)]
	lines := bufio.NewScanner(bytes.NewReader(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))))
	for n := 1; lines.Scan(); n++ {
		r, ok := parseRule(lines.Text())
		if !ok {
			continue
		}
		if !doublestar.ValidatePattern(r.pattern) || strings.Contains(r.pattern, "[[:") {
			return nil, fmt.Errorf("%s:%d: the pattern %q cannot be read: write its brackets as [a-z], or as \\[ where they are meant", file, n, r.pattern)
		}
		r.folder = filepath.ToSlash(folder) + "/"
		rules = append(rules, r)
	}
	return rules, lines.Err()
}

// plainBraces takes from braces what they mean to doublestar.
var plainBraces = strings.NewReplacer("{", `\{`, "}", `\}`)

func parseRule(line string) (r rule, ok bool) {
	line = strings.TrimSuffix(line, "\r")
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = strings.TrimSuffix(line, " ")
	}
	if strings.HasPrefix(line, "#") {
		return r, false
	}
	line, r.takesAgain = strings.CutPrefix(line, "!")
	line, r.only = strings.CutSuffix(line, "/")
	r.name = !strings.Contains(line, "/")
	r.pattern = plainBraces.Replace(strings.TrimPrefix(line, "/"))
	if strings.HasSuffix(r.pattern, "/**") { // what is in a folder, and not the folder
		r.pattern += "/*"
	}
	return r, r.pattern != ""
}

// ignored reports whether rules leave out the file or folder at an absolute, slash-separated
// path: the last one that fits decides.
func ignored(rules []rule, at string, folder bool) bool {
	base := path.Base(at)
	for i := len(rules) - 1; i >= 0; i-- {
		r := &rules[i]
		rel, below := strings.CutPrefix(at, r.folder)
		if !below || r.only && !folder {
			continue
		}
		if r.name {
			rel = base
		}
		if doublestar.MatchUnvalidated(r.pattern, rel) {
			return !r.takesAgain
		}
	}
	return false
}

// rulesAbove are those of the folders around one, from the root of the git repository that it
// is in; none if it is in none, or is that root.
func rulesAbove(folder string) (rules []rule, err error) {
	var around []string
	for at := folder; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			break
		}
		if at == filepath.Dir(at) {
			return nil, nil
		}
		around = append(around, filepath.Dir(at))
	}
	for i := len(around) - 1; i >= 0; i-- {
		if rules, err = rulesOf(around[i], rules); err != nil {
			return nil, err
		}
	}
	return rules, nil
}
