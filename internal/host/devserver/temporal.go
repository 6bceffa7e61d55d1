package devserver

import (
	"debug/buildinfo"
	"strings"
)

// Temporal is the version of Temporal that a server program was built of, "" if it does not say.
func Temporal(program string) string {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == "go.temporal.io/server" {
			return strings.TrimPrefix(m.Version, "v")
		}
	}
	return ""
}
