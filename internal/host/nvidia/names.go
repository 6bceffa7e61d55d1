package nvidia

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// Names are the sorts of cards of this machine, as its driver's files say; none where it has no
// such files. Nothing is loaded to know that.
func Names() []string { return namesIn("/proc/driver/nvidia/gpus") }

var model = regexp.MustCompile(`(?m)^Model:\s*(.*\S)\s*$`)

func namesIn(folder string) (names []string) {
	files, _ := filepath.Glob(filepath.Join(folder, "*", "information")) // the pattern is one
	for _, f := range files {
		text, err := os.ReadFile(f)
		if m := model.FindSubmatch(text); err == nil && m != nil && !slices.Contains(names, string(m[1])) {
			names = append(names, string(m[1]))
		}
	}
	return names
}
