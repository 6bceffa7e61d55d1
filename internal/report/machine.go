package report

import (
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// absolute is a path of some machine in a text: one of two parts or more, at its
// beginning or behind a mark.
var absolute = regexp.MustCompile("(^|[\"'`\\s=(\\[,:])((?:file://)?(?:/[^/\\s\"'`,\\])]+){2,}/?)")

// unplaced is a text without the folders of a machine: a page is for others to read, to
// whom they say nothing.
func unplaced(s string) string {
	return absolute.ReplaceAllStringFunc(s, func(m string) string {
		parts := absolute.FindStringSubmatch(m)
		return parts[1] + "…/" + path.Base(parts[2])
	})
}

// Unplaced is a text without the folders of a machine, for others to read.
func Unplaced(s string) string { return unplaced(s) }

// fileOf is how a page names a file of the pipeline.
func fileOf(name string) string {
	if filepath.IsAbs(name) || strings.HasPrefix(name, "..") {
		return filepath.Base(name)
	}
	return name
}

// storeOf is how a page names a store.
func storeOf(url string) string {
	if strings.HasPrefix(url, "file:") || filepath.IsAbs(url) {
		return "a folder"
	}
	return url
}
