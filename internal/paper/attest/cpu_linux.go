package attest

import (
	"cmp"
	"os"
)

// cpuModel is the kernel's name for the processor; "" if it has none.
func cpuModel() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	text := string(b)
	return cmp.Or(fieldOf(text, "model name"), fieldOf(text, "Hardware"), fieldOf(text, "cpu model"))
}
