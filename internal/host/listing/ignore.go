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

// ignoreFile has the rules of which files a folder leaves out: gitignore(5).
const ignoreFile = ".gitignore"

// rule is a line of an ignore file.
type rule struct {
	pattern string // of absolute, slash-separated paths
	folders bool   // it fits only folders
	include bool   // it takes in what earlier rules leave out
}

// rulesOf adds the rules of a folder to the rules of the folders around it.
func rulesOf(folder string, rules []rule) ([]rule, error) {
	file := filepath.Join(folder, ignoreFile)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return rules, nil
	}
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
		var r rule
		r.pattern, r.include = strings.CutPrefix(line, "!")
		r.pattern, r.folders = strings.CutSuffix(r.pattern, "/")
		within := exactly.Replace(filepath.ToSlash(folder)) + "/"
		if !strings.Contains(r.pattern, "/") { // at any depth
			within += "**/"
		}
		r.pattern = within + plainBraces.Replace(strings.TrimPrefix(r.pattern, "/"))
		if strings.HasSuffix(r.pattern, "/**") { // what is in a folder, not the folder itself
			r.pattern += "/*"
		}
		if !doublestar.ValidatePattern(r.pattern) || strings.Contains(line, "[[:") {
			return nil, fmt.Errorf("%s:%d: the pattern %q cannot be read: write its brackets as [a-z], or as \\[ where they are meant", file, n+1, line)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// exactly turns a path into a pattern that fits only that path, and plainBraces keeps braces in a line from their
// meaning to doublestar.
var (
	exactly     = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`, "}", `\}`)
	plainBraces = strings.NewReplacer("{", `\{`, "}", `\}`)
)

// ignored reports whether rules leave out the file or folder at a path: the last rule that fits decides.
func ignored(rules []rule, at string, folder bool) bool {
	for _, r := range slices.Backward(rules) {
		if (folder || !r.folders) && doublestar.MatchUnvalidated(r.pattern, at) {
			return !r.include
		}
	}
	return false
}

// rulesAbove returns the rules of the folders around a folder, from its git repository's root on, if it is below one.
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
