package listing

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ignoreFile has rules of what a folder's files are not: gitignore(5).
const ignoreFile = ".gitignore"

// rule is a line of an ignore file.
type rule struct {
	pattern    string // of absolute, slash-separated paths
	only       bool   // of folders
	takesAgain bool   // what earlier rules leave out
}

// rulesOf adds the rules of a folder to those of the folders around it.
func rulesOf(folder string, rules []rule) ([]rule, error) {
	file := filepath.Join(folder, ignoreFile)
	if info, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return rules, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	rules = slices.Clip(rules)
	for n, line := range strings.Split(strings.TrimPrefix(string(text), "\xef\xbb\xbf"), "\n") {
		line = strings.TrimSuffix(line, "\r")
		for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
			line = strings.TrimSuffix(line, " ")
		}
		if strings.Trim(line, "!/") == "" || strings.HasPrefix(line, "#") {
			continue
		}
		r := parseRule(exactly.Replace(filepath.ToSlash(folder))+"/", line)
		if !doublestar.ValidatePattern(r.pattern) || strings.Contains(line, "[[:") {
			return nil, fmt.Errorf("%s:%d: the pattern %q cannot be read: write its brackets as [a-z], or as \\[ where they are meant", file, n+1, line)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// exactly makes a pattern of a path that fits it alone, and plainBraces takes from braces in a
// line what they mean to doublestar.
var (
	exactly     = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`, "}", `\}`)
	plainBraces = strings.NewReplacer("{", `\{`, "}", `\}`)
)

// parseRule reads a line about what is below a folder.
func parseRule(below, line string) (r rule) {
	line, r.takesAgain = strings.CutPrefix(line, "!")
	line, r.only = strings.CutSuffix(line, "/")
	if !strings.Contains(line, "/") { // at any depth
		below += "**/"
	}
	r.pattern = below + plainBraces.Replace(strings.TrimPrefix(line, "/"))
	if strings.HasSuffix(r.pattern, "/**") { // what is in a folder, and not the folder
		r.pattern += "/*"
	}
	return r
}

// ignored reports whether rules leave out the file or folder at a path: the last one that fits
// decides.
func ignored(rules []rule, at string, folder bool) bool {
	for _, r := range slices.Backward(rules) {
		if (folder || !r.only) && doublestar.MatchUnvalidated(r.pattern, at) {
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
	for _, at := range slices.Backward(around) {
		if rules, err = rulesOf(at, rules); err != nil {
			return nil, err
		}
	}
	return rules, nil
}
