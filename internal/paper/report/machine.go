package report

import (
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// absolute matches absolute paths in a text: of two parts or more, at its beginning or after a mark.
var absolute = regexp.MustCompile("(^|[\"'`\\s=(\\[,:])((?:file://)?(?:/[^/\\s\"'`,\\])]+){2,}/?)")

// Unplaced returns a text without the paths of a machine, which mean nothing to a page's readers.
func Unplaced(s string) string {
	return absolute.ReplaceAllStringFunc(s, func(m string) string {
		parts := absolute.FindStringSubmatch(m)
		return parts[1] + "…/" + path.Base(parts[2])
	})
}

// FileOf returns a pipeline file's name on the page.
func FileOf(name string) string {
	if filepath.IsAbs(name) || strings.HasPrefix(name, "..") {
		return filepath.Base(name)
	}
	return name
}

func storeOf(url string) string {
	if strings.HasPrefix(url, "file:") || filepath.IsAbs(url) {
		return "a folder"
	}
	return url
}
