package cli

import (
	"runtime/debug"
	"time"
)

// revision is the commit that this program was built from, as far as the build
// recorded it; version may be set by the linker.
var version = ""

func revision() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	rev, dirty := "unknown", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			rev = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+changes"
		}
	}
	return rev + dirty
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
