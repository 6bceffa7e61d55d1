package capacity

import (
	"fmt"
	"os"
)

// Load returns the system's load average of the last minute; false if the system does not tell.
func Load() (n float64, ok bool) {
	text, err := os.ReadFile("/proc/loadavg")
	if err == nil {
		_, err = fmt.Sscan(string(text), &n)
	}
	return n, err == nil
}
