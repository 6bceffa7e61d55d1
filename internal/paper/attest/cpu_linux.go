package attest

import (
	"cmp"
	"os"
)

// cpuModel returns the kernel's name for the processor; "" if it has none.
func cpuModel() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	text := string(b)
	return cmp.Or(fieldOf(text, "model name"), fieldOf(text, "Hardware"), fieldOf(text, "cpu model"))
}
