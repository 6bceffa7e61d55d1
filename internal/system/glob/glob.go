// Package glob matches slash-separated names by patterns as shells and .gitignore have them.
package glob

import (
	"path"
	"strings"
)

// HasMeta reports whether a text is a pattern rather than a name.
func HasMeta(text string) bool { return strings.ContainsAny(text, "*?[") }

// Split cuts a pattern into the folder that all names are in and the pattern of names there:
// data/**/*.csv into data and **/*.csv. A name without a pattern is all folder.
func Split(pattern string) (folder, rest string) {
	parts := strings.Split(pattern, "/")
	for i, p := range parts {
		if HasMeta(p) {
			return strings.Join(parts[:i], "/"), strings.Join(parts[i:], "/")
		}
	}
	return pattern, ""
}

// Check reports a pattern that cannot be read.
func Check(pattern string) error {
	for p := range strings.SplitSeq(pattern, "/") {
		if _, err := path.Match(classes(p), ""); err != nil || strings.Contains(p, "[[:") {
			return path.ErrBadPattern
		}
	}
	return nil
}

// Match reports whether a name fits a pattern: *, ? and [a-z], which is [!a-z] for all others,
// match within one part of a name, ** any number of parts.
func Match(pattern, name string) bool {
	return match(strings.Split(pattern, "/"), strings.Split(name, "/"))
}

func match(pattern, name []string) bool {
	for ; len(pattern) > 0; pattern, name = pattern[1:], name[1:] {
		if pattern[0] == "**" {
			for len(pattern) > 1 && pattern[1] == "**" {
				pattern = pattern[1:]
			}
			for i := range name { // at the end of a pattern it is all below a folder
				if len(pattern) == 1 || match(pattern[1:], name[i:]) {
					return true
				}
			}
			return false
		}
		if len(name) == 0 || !Part(pattern[0], name[0]) {
			return false
		}
	}
	return len(name) == 0
}

// Part is Match of one part of a name. A pattern that cannot be read fits none.
func Part(pattern, name string) bool {
	ok, err := path.Match(classes(pattern), name)
	return ok && err == nil
}

func classes(part string) string { return strings.ReplaceAll(part, "[!", "[^") }
