package attest

import (
	"cmp"
	"os"
)

// cpuModel is what the kernel calls the processor; "" where it has no word for it.
func cpuModel() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	text := string(b)
	return cmp.Or(fieldOf(text, "model name"), fieldOf(text, "Hardware"), fieldOf(text, "cpu model"))
}
